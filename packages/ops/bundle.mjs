/**
 * Builds what browsers load from `pages/`: a script and a style sheet of our own pages, and of what mends bull-board's. Nothing is
 * from elsewhere.
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

/** What is built, by the name under which it is served. */
const names = ["pages.js", "pages.css", "board.js", "board.css"];

/** Builds in memory: the texts by name. */
export async function bundlePages() {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: { pages: "pages/main.tsx", board: "pages/board.ts" },
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
  const textOf = (name) => outputFiles.find(({ path: file }) => path.basename(file) === name)?.text;
  return Object.fromEntries(names.map((name) => [name, textOf(name) ?? ""]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = path.resolve(process.argv[2] ?? path.join(here, "assets"));
  const built = await bundlePages();
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(built)) {
    await writeFile(path.join(directory, name), text);
  }
}
