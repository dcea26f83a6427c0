/**
 * The bundle of the pages: what was built into `assets/` beside this package, else built from `pages/` at first use.
 *
 * A package that users install, and an image, hold the built files and no builder. A checkout holds the sources: there
 * nothing has to be built before a start, and nothing built can be older than its source.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { RepriseError } from "@reprise/errors";

/** The files that pages load. */
export interface Assets {
  readonly script: string;
  readonly style: string;
}

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
    const [script, style] = await Promise.all(
      ["pages.js", "pages.css"].map((name) =>
        readFile(fileURLToPath(new URL(name, built)), "utf8"),
      ),
    );
    if (script !== undefined && style !== undefined) return { script, style };
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
