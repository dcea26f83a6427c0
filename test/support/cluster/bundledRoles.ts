/**
 * Front and worker in one bundled file: loading some hundred modules through a TypeScript loader takes many times longer
 * than all that a restarted member does before it serves.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { root } from "../sourceTree.ts";

/** Programs for `startCluster`. */
export interface BundledRoles {
  readonly front: { readonly args: readonly string[] };
  readonly worker: { readonly args: readonly string[] };
  remove(): void;
}

/** A role with the shop. */
const shopRole = "test/support/cluster/role/main.ts";

/** Bundles a role program as it is now; `entry` is its path from the root, by default the shop's. */
export async function bundleRoles(entry: string = shopRole): Promise<BundledRoles> {
  // Below node_modules: native modules stay outside of the bundle and are looked up from there.
  const folder = path.join(root, `node_modules/.cache/reprise-roles/${process.pid}`);
  const file = path.join(folder, "src/role.mjs");
  mkdirSync(path.dirname(file), { recursive: true });
  // Where the Redis store's scripts are, seen from its sources.
  const lua = path.join(root, "packages/store-redis/lua");
  cpSync(lua, path.join(folder, "lua"), { recursive: true });
  await build({
    entryPoints: [path.join(root, entry)],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@reprise/source"],
    // Native code, and a loader that finds its own files beside itself.
    external: ["lmdb", "tsx"],
    // What is CommonJS inside asks for node's own modules by require.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return {
    front: { args: [file, "front"] },
    worker: { args: [file, "worker"] },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
