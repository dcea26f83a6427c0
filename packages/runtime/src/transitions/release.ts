/**
 * An operator lets a run go on that only an operator can (docs/design.md 3.9).
 *
 * O1 The next claim gets it, by a request or a sweep, also when no client can come again; deaths are counted from the start.
 * O2 It stands at an epoch that no attempt has had: one that was only paused when the run was parked records nothing any more.
 * O3 A failed undo is tried again: whether the remote still knows its keys is the operator's to judge.
 */
import type { ReleaseReply } from "../storePort.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";
import { cleared } from "./idle.ts";

/** Releases a parked or mismatched run. */
export function release(run: StoredRun | undefined, env: TransitionEnv): Transition<ReleaseReply> {
  if (run === undefined) return { reply: { tag: "LOST" } };
  const { head } = run;
  const { round, status } = head;
  if (status !== "parked" && status !== "mismatched") {
    return { reply: { tag: "NOT_PARKED", round, status } };
  }
  const { triedAt: _triedAt, attempts: _attempts, ...undo } = head.undo ?? {};
  const next = touched(
    {
      ...cleared(head),
      status: "running",
      epoch: head.epoch + 1,
      takeovers: 0,
      mismatchedAt: undefined,
      response: undefined,
      wanted: true,
      ...("why" in undo ? { undo } : {}),
    },
    env,
  );
  return { reply: { tag: "RELEASED", round }, write: { head: next } };
}
