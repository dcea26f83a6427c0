/**
 * The program of the server processes, bundled from source into one file: a matrix starts hundreds of them, and loading
 * some hundred modules through a TypeScript loader is most of what a start costs.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A bundled program. */
export interface Program {
  readonly file: string;
  remove(): void;
}

/** Bundles `served/main.ts` as it is now. */
export async function bundleProgram(): Promise<Program> {
  // Below node_modules, because lmdb is native code: it stays outside of the bundle and is looked up from there.
  const folder = path.join(root, `node_modules/.cache/reprise-e2e/${process.pid}`);
  const file = path.join(folder, "src/served.mjs");
  mkdirSync(path.dirname(file), { recursive: true });
  // Where the Redis store's scripts are, seen from its sources.
  cpSync(path.join(root, "packages/store-redis/lua"), path.join(folder, "lua"), {
    recursive: true,
  });
  await build({
    entryPoints: [path.join(root, "test/e2e/support/served/main.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@reprise/source"],
    external: ["lmdb"],
    // What is CommonJS inside asks for node's own modules by require.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
