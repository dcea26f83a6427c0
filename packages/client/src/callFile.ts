/**
 * Saved calls in files.
 *
 * Called by the terminal host. A write is whole or not at all (a temporary file beside the target, synced, renamed), because a
 * torn file would lose the idempotency key and with it the promise not to repeat. Mode 0600 from the first byte on.
 */
import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { RepriseError } from "@reprise/errors";
import { parseSavedCall, type SavedCall } from "./savedCall.ts";

/** Larger than any call that servers accept; a file above it is a mistake. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Writes the call to `path`, in place of the one that is there. */
export async function saveCallFile(path: string, call: SavedCall): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(call, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Refuses a path that something already has: an older saved call holds a key that must not be lost. */
export async function refuseExisting(path: string): Promise<void> {
  const found = await stat(path).catch(absent);
  if (found !== undefined) {
    throw new RepriseError(
      "SAVED_CALL_INVALID",
      `${path} exists. Resume it, remove it, or name another file.`,
    );
  }
}

/** Reads a call back. */
export async function loadCallFile(path: string): Promise<SavedCall> {
  const found = await stat(path).catch(absent);
  if (found === undefined) throw unusable(path, "there is no such file");
  if (!found.isFile()) throw unusable(path, "it is no file");
  if (found.size > MAX_BYTES) throw unusable(path, "it is too large");
  return parseSavedCall(await readFile(path, "utf8"));
}

/** Removes the file of a call that came to its end. */
export async function removeCallFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function unusable(path: string, why: string): RepriseError {
  return new RepriseError("SAVED_CALL_INVALID", `${path} can't be resumed: ${why}.`);
}
