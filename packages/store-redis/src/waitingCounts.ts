/**
 * Tells the counts of waiting runs that a run began or ended waiting.
 *
 * Called after each write of a run that may have changed that. Nobody waits for it: counts are hints, and what this
 * connection asks for next comes after it anyway.
 */
import type { RunHead } from "@reprise/runtime";
import type { WaitingUse } from "./waitingUse.ts";

/** Whose run it is. */
export interface CountedRun {
  readonly runId: string;
  readonly principal: string;
  /** What the run holds; asked only when it waits. */
  readonly bytes: () => number;
}

/** @param before undefined for a new run */
export function countWaiting(
  waiting: WaitingUse,
  before: RunHead | undefined,
  after: RunHead,
  run: CountedRun,
): void {
  const { runId, principal } = run;
  if (after.status === "waiting") {
    void waiting.begins(principal, runId, run.bytes(), after.expiresAt - after.updatedAt);
  } else if (before?.status === "waiting") void waiting.ends(principal, runId);
}
