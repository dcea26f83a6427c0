/**
 * Tells the counts of waiting runs when a run begins or ends waiting.
 *
 * Called beside each write of a run. Never rejects: counts are hints.
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
export async function countWaiting(
  waiting: WaitingUse,
  before: RunHead | undefined,
  after: RunHead,
  run: CountedRun,
): Promise<void> {
  const { runId, principal } = run;
  if (after.status === "waiting") {
    // Sent with the run's own write, before its outcome is known: a count too many is struck out when it matters.
    await waiting.begins(principal, runId, run.bytes(), after.expiresAt - after.updatedAt);
  } else if (before?.status === "waiting") await waiting.ends(principal, runId);
}
