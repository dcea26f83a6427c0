/**
 * `npm run check`: everything that judges the sources without running them.
 *
 * All tools run, also after a failed one, so that one call shows all that is to mend; the last line counts
 * them like a test run. biome: format, lint, undeclared dependencies, import cycles. oxlint: rules that need
 * types (floating and misused promises) and file size. tsc: sources and tests of all packages in one
 * program, and what runs in a browser without the types of Node. knip: what nobody uses.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { root } from "./setUp.mjs";

const tools = [
  ["biome", "ci", "--colors=off", "--error-on-warnings", "--max-diagnostics=200", "."],
  ["oxlint", "--type-aware", "--deny-warnings"],
  ["tsc", "-p", "test"],
  ["tsc", "-p", "services/shop/host"],
  ["tsc", "-p", "packages/ops/pages"],
  ["knip", "--no-config-hints"],
];

const failed = [];
for (const [name, ...args] of tools) {
  process.stdout.write(`> ${[name, ...args].join(" ")}\n`);
  const { status } = spawnSync(`node_modules/.bin/${name}`, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) process.stdout.write(`failed: ${failed.join(", ")}\n`);
process.stdout.write(`${tools.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
