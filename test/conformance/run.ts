/**
 * `npm run conformance [-- server|client|cluster|cluster-killed]`: runs the legs named, or all, and prints the count of
 * all on the last line. Exits with 1 when anything failed.
 */
import { run as runClient } from "./runClient.ts";
import { runCluster, runClusterKilled } from "./runCluster.ts";
import { type LegCount, run as runServer } from "./runServer.ts";

const legs: ReadonlyMap<string, () => Promise<LegCount>> = new Map([
  ["server", runServer],
  ["client", runClient],
  ["cluster", runCluster],
  ["cluster-killed", runClusterKilled],
]);

async function main(wanted: readonly string[]): Promise<void> {
  let passed = 0;
  let failed = 0;
  for (const name of wanted.length === 0 ? legs.keys() : wanted) {
    const leg = legs.get(name);
    if (leg === undefined) {
      throw new RangeError(`"${name}" is no leg; there are ${[...legs.keys()].join(", ")}`);
    }
    const count = await leg();
    passed += count.passed;
    failed += count.failed;
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
