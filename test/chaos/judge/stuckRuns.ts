/**
 * The stuck-run detector: looks into the store when nobody calls any more.
 *
 * A run is stuck when it is `running` and its lease is over, when it is queued, or when it waits without an open question. While
 * workers live, none may be so for longer than a lease and five seconds.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { RunRecord, RunStore } from "@reprise/runtime";

/** A store whose runs can be named. */
export interface LookedAtStore {
  readonly store: RunStore;
  /** All run ids; undefined where the store can't list them, and only what a sweep would find is looked at. */
  list(): Promise<readonly string[] | undefined>;
  close(): Promise<void>;
}

/** What was found. */
export interface Found {
  /** How many runs stand at which status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** In words. */
  readonly stuck: readonly string[];
}

const besidesLeaseMs = 5_000;
const lookAgainMs = 500;
const mostRead = 64;

/** Looks until nothing is stuck, at the longest a lease and five seconds. */
export async function findStuck(looked: LookedAtStore): Promise<Found> {
  const until = performance.now() + looked.store.leaseMs + besidesLeaseMs;
  for (;;) {
    const found = await look(looked);
    if (found.stuck.length === 0 || performance.now() > until) return found;
    await pause(lookAgainMs);
  }
}

async function look({ store, list }: LookedAtStore): Promise<Found> {
  const statuses: Record<string, number> = {};
  const stuck: string[] = [];
  const runIds = (await list()) ?? (await store.findAbandoned(1_000));
  for (let from = 0; from < runIds.length; from += mostRead) {
    const page = runIds.slice(from, from + mostRead);
    for (const record of await Promise.all(page.map((runId) => store.load(runId)))) {
      if (record === undefined) continue;
      const { status } = record.head;
      statuses[status] = (statuses[status] ?? 0) + 1;
      const why = whyStuck(record);
      if (why !== undefined)
        stuck.push(`${record.origin.runId} of ${record.origin.target}: ${why}`);
    }
  }
  return { statuses, stuck };
}

/** Nobody calls, so whatever is under way belongs to a sweep, and must come to its end. */
function whyStuck({ head }: RunRecord): string | undefined {
  if (head.status === "running") {
    const how = head.queued === true ? "queued" : `lease ${JSON.stringify(head.lease)}`;
    return `running, ${how}, epoch ${head.epoch}, ${head.takeovers} take-overs`;
  }
  if (head.status === "waiting" && head.pending.length === 0) return "waits for nothing";
  return undefined;
}
