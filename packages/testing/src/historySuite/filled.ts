/**
 * A history as a busy week leaves it, for adapters to show what its pages cost.
 *
 * Called by adapters' tests only. What it makes is the same each time.
 */
import type { HistoryQuery, HistoryStore, RunEvent } from "@reprise/runtime";
import { ends, type HistoryHarness, waits } from "./fixtures.ts";

const HANDLERS = 40;
const PRINCIPALS = 500;
/** Events that one call records. */
const BATCH = 900;

/** Records so many runs that have ended and so many that wait, over six days of handlers and principals in turn. */
export async function fillHistory(
  history: HistoryStore,
  harness: Pick<HistoryHarness, "now">,
  finished: number,
  waiting: number,
): Promise<void> {
  const total = finished + waiting;
  const from = harness.now() - 6 * 86_400_000;
  const stepMs = Math.max(1, Math.floor((6 * 86_400_000) / total));
  let batch: RunEvent[] = [];
  for (let index = 0; index < total; index += 1) {
    const over = {
      at: from + index * stepMs,
      principal: `person-${index % PRINCIPALS}`,
      handler: { kind: "tool", name: `tool-${index % HANDLERS}` },
    };
    const isWaiting =
      Math.floor((index * waiting) / total) < Math.floor(((index + 1) * waiting) / total);
    const runId = `run${index}`;
    const told = isWaiting
      ? waits({ ...never, now: () => over.at }, runId, over)
      : ends({ ...never, now: () => over.at }, runId, over);
    batch.push(...told);
    if (batch.length >= BATCH) {
      await history.record(batch);
      batch = [];
    }
  }
  await history.record(batch);
}

const never: Pick<HistoryHarness, "open" | "advance"> = {
  open: () => Promise.reject(new Error("nothing is opened here")),
  advance: () => undefined,
};

/** One list of each kind, by what it is called. */
export function costlyQueries(now: number): Readonly<Record<string, HistoryQuery>> {
  const limit = 50;
  const principal = "person-7";
  const handler = "tool-7";
  return {
    all: { limit },
    waiting: { limit, status: "waiting" },
    "waiting, the oldest question first": { limit, status: "waiting", order: "longest_open" },
    completed: { limit, status: "completed" },
    attention: { limit, status: "attention" },
    "of a handler": { limit, handler },
    "waiting, of a handler": { limit, handler, status: "waiting" },
    "of a caller": { limit, principal },
    "of a caller and a handler": { limit, principal, handler },
    "of one day": { limit, from: now - 4 * 86_400_000, to: now - 3 * 86_400_000 },
    "waiting, of one day": {
      limit,
      status: "waiting",
      from: now - 4 * 86_400_000,
      to: now - 3 * 86_400_000,
    },
    "of nobody": { limit, principal: "nobody" },
  };
}
