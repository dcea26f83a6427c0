/**
 * `npm run conformance [-- LEG ...] [--fronts N [--chaos]]`: runs the legs named (`server`, `client`, `cluster`,
 * `cluster-killed`, `cluster-killed-legacy`), or all but the last, and prints the count of all on the last line. Exits
 * with 1 when anything failed.
 *
 * `--fronts 1` is the leg `server`, more fronts are the leg `cluster` with so many, with `--chaos` the two with kills.
 */
import { parseArgs } from "node:util";
import { run as runClient } from "./runClient.ts";
import { runCluster, runClusterKilled } from "./runCluster.ts";
import { type LegCount, run as runServer } from "./runServer.ts";

type Leg = (fronts: number | undefined) => Promise<LegCount>;

const legs: ReadonlyMap<string, Leg> = new Map<string, Leg>([
  ["server", () => runServer()],
  ["client", () => runClient()],
  ["cluster", (fronts) => runCluster(fronts)],
  ["cluster-killed", (fronts) => runClusterKilled("2026-07-28", fronts)],
  ["cluster-killed-legacy", (fronts) => runClusterKilled("2025-11-25", fronts)],
]);
/** Run when none is named. The other takes minutes: its longest scenario has to be spared by every kill of one pass. */
const standard = ["server", "client", "cluster", "cluster-killed"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fronts: { type: "string" }, chaos: { type: "boolean", default: false } },
});

/** The legs to run, and on how many fronts. */
function chosen(): { readonly names: Iterable<string>; readonly fronts: number | undefined } {
  const { fronts: text, chaos } = values;
  if (text === undefined) {
    if (chaos) throw new RangeError("--chaos needs --fronts N");
    return { names: positionals.length === 0 ? standard : positionals, fronts: undefined };
  }
  const fronts = Number(text);
  if (!Number.isInteger(fronts) || fronts < 1 || (chaos && fronts < 2)) {
    throw new RangeError(`--fronts must be a whole number above ${chaos ? 1 : 0}, not ${text}`);
  }
  if (fronts === 1) return { names: ["server"], fronts: undefined };
  return { names: chaos ? ["cluster-killed", "cluster-killed-legacy"] : ["cluster"], fronts };
}

async function main(): Promise<void> {
  const { names, fronts } = chosen();
  let passed = 0;
  let failed = 0;
  for (const name of names) {
    const leg = legs.get(name);
    if (leg === undefined) {
      throw new RangeError(`"${name}" is no leg; there are ${[...legs.keys()].join(", ")}`);
    }
    const count = await leg(fronts);
    passed += count.passed;
    failed += count.failed;
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

await main();
