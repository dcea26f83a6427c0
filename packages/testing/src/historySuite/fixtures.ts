/**
 * What the cases of the history suite are made of.
 *
 * Called by the cases only. Nothing here looks at a clock or draws a random number: a failing case fails again.
 */
import assert from "node:assert/strict";
import type { HistoryQuery, HistoryStore, RunEvent, RunFacts, RunSummary } from "@reprise/runtime";

/** Where an adapter's history lives, as the suite uses it. A fresh one for each case. */
export interface HistoryHarness {
  /** Opens it as another process would; may be called any number of times. */
  open(): Promise<HistoryStore>;
  /** Epoch milliseconds of the history's clock. */
  now(): number;
  /** Moves its time. */
  advance(ms: number): void | Promise<void>;
}

/** One promise of the port. */
export interface HistoryCase {
  /** The promise, as a sentence. */
  readonly title: string;
  /** Rejects when the adapter breaks the promise. */
  run(harness: HistoryHarness): Promise<void>;
}

export const DAY_MS: number = 86_400_000;

/** What all kinds of events carry, and each kind's own. */
type Known = RunFacts & Pick<RunEvent, "at">;
type Told = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, keyof Known>
    : never
  : never;

/** An event of `runId` now, in its first attempt. */
export function event(
  harness: HistoryHarness,
  runId: string | undefined,
  told: Told,
  over: Partial<Known> = {},
): RunEvent {
  return {
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "refund" },
    effects: "once",
    principal: "alice",
    client: "desk 1.0",
    protocolVersion: "2026-07-28",
    round: 0,
    epoch: 1,
    version: "1",
    instance: "front-1",
    at: harness.now(),
    ...over,
    ...told,
  };
}

export const started: Told = { type: "attempt_started", cause: "call" };
export const completed: Told = {
  type: "attempt_ended",
  outcome: "completed",
  durationMs: 5,
  status: "completed",
};

export function ended(
  outcome: Extract<Told, { type: "attempt_ended" }>["outcome"],
  status: Extract<Told, { type: "attempt_ended" }>["status"],
  code?: string,
): Told {
  return {
    type: "attempt_ended",
    outcome,
    status,
    durationMs: 5,
    ...(code === undefined ? {} : { code }),
  };
}

export function stepEnded(
  outcome: Extract<Told, { type: "step_ended" }>["outcome"],
  step: string = "refund",
  undo: boolean = false,
): Told {
  return { type: "step_ended", step, outcome, tries: 1, durationMs: 3, undo };
}

function asked(harness: HistoryHarness): Told {
  return {
    type: "asked",
    asks: [{ key: "confirm", kind: "confirm" }],
    until: harness.now() + DAY_MS,
  };
}

/** A run that waits. */
export function waits(
  harness: HistoryHarness,
  runId: string,
  over: Partial<Known> = {},
): readonly RunEvent[] {
  return [
    event(harness, runId, started, over),
    event(harness, runId, asked(harness), over),
    event(harness, runId, ended("suspended", "waiting"), over),
  ];
}

/** A run that has completed. */
export function ends(
  harness: HistoryHarness,
  runId: string,
  over: Partial<Known> = {},
): readonly RunEvent[] {
  return [event(harness, runId, started, over), event(harness, runId, completed, over)];
}

/** All pages of a list, each as asked for. */
export async function pagesOf(
  history: HistoryStore,
  query: HistoryQuery,
): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await history.list({ ...query, cursor });
    assert.ok(page.runs.length <= query.limit, "a page is longer than asked for");
    pages.push(page.runs.map(({ runId }) => runId));
    assert.notEqual(page.next, cursor ?? "", "a page leads to itself");
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

/** The ids of a list of at most a page, in its order. */
export async function idsOf(
  history: HistoryStore,
  query: Omit<HistoryQuery, "limit"> = {},
): Promise<readonly string[]> {
  return (await pagesOf(history, { ...query, limit: 100 })).flat();
}

/** The row, which must be there. */
export async function rowOf(history: HistoryStore, runId: string): Promise<RunSummary> {
  return (await history.summary(runId)) ?? assert.fail(`no row of ${runId}`);
}
