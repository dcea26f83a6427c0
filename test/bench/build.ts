/**
 * Where the measured code comes from: built packages when the build works, else the sources through tsx.
 *
 * Built is what users run; tsx adds a helper call to every named closure, which a hot path would pay for. All
 * servers and the load generator run the same way, and the report names it.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How the processes are started. */
export interface CodeOrigin {
  readonly text: string;
  /** Arguments of `node` for an entry of this folder, given without its extension. */
  nodeArgs(entry: string): readonly string[];
}

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

const source: CodeOrigin = {
  text: "sources through tsx",
  nodeArgs: (entry) => ["--conditions=@reprise/source", "--import", "tsx", `${here}${entry}.ts`],
};

const built: CodeOrigin = {
  text: "built packages, plain node",
  nodeArgs: (entry) => [`${here}dist/${entry}.js`],
};

/** Builds the workspace and the bench; falls back to the sources and says why. */
export function prepareCode(preferSource: boolean): CodeOrigin {
  if (preferSource) return source;
  const steps = [
    ["npx", "tsc", "-b", "packages/reprise"] as const,
    ["npx", "tsc", "-p", `${here}tsconfig.json`] as const,
  ];
  for (const [command, ...args] of steps) {
    const run = spawnSync(command, args, { cwd: root, encoding: "utf8" });
    if (run.status === 0) continue;
    console.log(`The build failed, so the sources are measured:\n${run.stdout.slice(0, 1000)}`);
    return source;
  }
  return built;
}
