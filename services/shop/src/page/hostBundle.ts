/**
 * The host in the browser as what a browser loads: bundled from `services/shop/host` by esbuild.
 *
 * Called by hostPage.ts on the first visit, so that a start does not wait for it. From source and from dist alike: the host's
 * own files are always sources, and the packages it imports are found by the condition under which this process runs.
 */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** What the page loads. */
export interface HostBundle {
  readonly script: string;
  readonly style: string;
}

const folder = fileURLToPath(new URL("../../host/", import.meta.url));
const runsFromSource = import.meta.url.endsWith(".ts");

/** Bundles the host as its files are now. @throws Error naming the file that can't be bundled */
export async function bundleHost(): Promise<HostBundle> {
  const { outputFiles } = await build({
    entryPoints: { host: `${folder}main.tsx`, style: `${folder}host.css` },
    bundle: true,
    write: false,
    outdir: folder,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    conditions: runsFromSource ? ["@reprise/source"] : [],
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "silent",
  });
  const text = (name: string): string => {
    const file = outputFiles.find(({ path }) => path.endsWith(name));
    if (file === undefined) throw new Error(`the bundle has no ${name}`);
    return file.text;
  };
  return { script: text("host.js"), style: text("style.css") };
}
