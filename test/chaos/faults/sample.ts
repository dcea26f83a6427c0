/**
 * What CI plays: one worker, one front and Redis killed within seconds, on one scene.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Draw } from "../draw.ts";
import type { Fault } from "../fault.ts";
import type { Pool } from "../world/pool.ts";
import { onPool } from "./onPool.ts";

/** Each is back before the next one dies: two at once are another promise. */
async function killEachKind({ workers, fronts, cluster }: Pool, draw: Draw): Promise<string> {
  const victims = [draw.oneOf(workers), draw.oneOf(fronts), cluster.redis];
  for (const victim of victims) {
    await victim.kill();
    await pause(draw.between(0, 1_000));
    await victim.start();
    await pause(draw.between(200, 800));
  }
  return `${victims.map(({ name }) => name).join(", ")} killed`;
}

/** Not in the catalog: its parts are. */
export const sample: Fault = onPool({
  name: "sample",
  about: "SIGKILL of a worker, a front and Redis (appendfsync always), one after the other",
  // On a busy machine who only waits for a processor must not lose its lease: that would be another fault (worker-pause).
  plan: { leaseMs: 10_000 },
  hurtsStore: true,
  strike: killEachKind,
});
