/**
 * Builds the dashboard's pages from `pages/`: one script and one style sheet, nothing from elsewhere.
 *
 * `src/assets.ts` calls it where nothing is built; `npm run pack` and the images call it to write the files:
 * `node packages/ops/bundle.mjs DIRECTORY`, by default `assets` beside this file. The same sources give the same bytes.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));

/** Builds in memory: `{ script, style }`. */
export async function bundlePages() {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: { pages: "pages/main.tsx" },
    outdir: "assets",
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome110", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    logLevel: "silent",
  });
  const textOf = (end) => outputFiles.find((file) => file.path.endsWith(end))?.text ?? "";
  return { script: textOf(".js"), style: textOf(".css") };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = path.resolve(process.argv[2] ?? path.join(here, "assets"));
  const { script, style } = await bundlePages();
  await mkdir(directory, { recursive: true });
  await writeFile(path.join(directory, "pages.js"), script);
  await writeFile(path.join(directory, "pages.css"), style);
}
