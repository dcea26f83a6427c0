/**
 * The shop's scratch area: the only place where `delete_folder` deletes.
 *
 * 1. A path is relative, names a real folder below the area, and no part of it is a symbolic link; so neither `..`
 *    nor a link leads out. Everything else is refused with words for the person who asked.
 * 2. That is checked when a folder is looked up and again when it is deleted: days may lie between, and somebody
 *    may have put a link in its place.
 */
import { lstat, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A folder that may be deleted, or why it may not. */
export type FoundFolder =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly reason: string };

/** The folders below one directory. */
export class Scratch {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Looks a folder up. Its `name` is how it is shown: `build/` for `build`, `./build` and `build/`. */
  async find(path: string): Promise<FoundFolder> {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    const name = `${parts.join("/")}/`;
    if (isOutside(path) || parts.includes("..")) {
      return refuse(`${path} leads out of the scratch area.`);
    }
    if (parts.length === 0) return refuse("Name a folder; the scratch area itself stays.");

    let current = await realpath(this.#directory);
    for (const part of parts) {
      current = join(current, part);
      const stats = await lstat(current).catch(absentIsUndefined);
      if (stats === undefined) return refuse(`There is no folder ${name}`);
      if (stats.isSymbolicLink())
        return refuse(`${name} leads over a link, and links are not followed.`);
      if (!stats.isDirectory()) return refuse(`${name} is no folder.`);
    }
    return { ok: true, name };
  }

  /** Deletes a folder that `find` named. Deleting what is gone already is no failure. @throws Error if refused now */
  async delete(name: string): Promise<void> {
    const found = await this.find(name);
    const path = join(this.#directory, name);
    if (found.ok) return rm(path, { recursive: true, force: true });
    if ((await lstat(path).catch(absentIsUndefined)) !== undefined) throw new Error(found.reason);
  }
}

/** Makes a scratch area with a few folders to delete; leaves one that exists as it is. */
export async function seedScratch(directory: string): Promise<void> {
  if ((await lstat(directory).catch(absentIsUndefined)) !== undefined) return;
  for (const folder of ["build", "coverage", "logs"]) {
    await mkdir(join(directory, folder), { recursive: true });
    await writeFile(join(directory, folder, "readme.txt"), "Nobody needs this.\n");
  }
}

/** Absolute here or on Windows, or with characters that some system takes for a separator or an end. */
function isOutside(path: string): boolean {
  return /^([/\\]|[a-z]:)/i.test(path) || /[\\\0]/.test(path);
}

function refuse(reason: string): FoundFolder {
  return { ok: false, reason };
}

function absentIsUndefined(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}
