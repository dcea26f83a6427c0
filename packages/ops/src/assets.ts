/**
 * The bundle of the pages: what was built into `assets/` beside this package, else built from `pages/` at first use.
 *
 * A package that users install, and an image, hold the built files and no builder. A checkout holds the sources: there
 * nothing has to be built before a start, and nothing built can be older than its source.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { RepriseError } from "@reprise/errors";

/** The files that pages load: of our own pages, and of what mends bull-board's. */
export const assetNames = ["pages.js", "pages.css", "board.js", "board.css"] as const;

/** Their texts. */
export type Assets = Readonly<Record<(typeof assetNames)[number], string>>;

/** What `bundle.mjs` exports. */
interface Bundler {
  readonly bundlePages: () => Promise<Assets>;
}

let loading: Promise<Assets> | undefined;

/** Loads or builds them once a process. @throws RepriseError CONFIG_INVALID when neither is there */
export function loadAssets(): Promise<Assets> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Assets> {
  const built = new URL("../assets/", import.meta.url);
  try {
    const read = async (name: keyof Assets): Promise<readonly [keyof Assets, string]> => [
      name,
      await readFile(fileURLToPath(new URL(name, built)), "utf8"),
    ];
    return Object.fromEntries(await Promise.all(assetNames.map(read))) as Assets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  try {
    const bundler = (await import(new URL("../bundle.mjs", import.meta.url).href)) as Bundler;
    return await bundler.bundlePages();
  } catch (cause) {
    const message =
      "the dashboard's pages are not built, and can't be: run `node packages/ops/bundle.mjs`";
    throw new RepriseError("CONFIG_INVALID", message, { cause });
  }
}
