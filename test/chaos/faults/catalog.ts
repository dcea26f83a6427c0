/**
 * All kinds of faults, by name.
 */
import type { Fault } from "../fault.ts";
import { embeddedFaults } from "./embedded.ts";
import { processFaults } from "./processes.ts";
import { redisFaults } from "./redis.ts";
import { remoteFaults } from "./remotes.ts";
import { topologyFaults } from "./topologies.ts";
import { wayFaults } from "./ways.ts";

/** In the order in which they are played and reported. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...redisFaults,
  ...wayFaults,
  ...topologyFaults,
  ...embeddedFaults,
  ...remoteFaults,
];

/** The kinds of those names, all without any. @throws RangeError for a name that there is not */
export function faultsNamed(names: readonly string[]): readonly Fault[] {
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    const known = faults.map(({ name }) => name).join(", ");
    throw new RangeError(`unknown faults: ${unknown.join(", ")}; there are ${known}`);
  }
  return names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name));
}
