/**
 * The end of a run that is no longer wanted (docs/design.md 4.5).
 *
 * C1 What was recorded first stands: a run that has ended is left as it is.
 * C2 The end has an epoch that no attempt has, so whatever the run's attempt still sends is refused.
 * C3 The key is free only when no step was ever started; what an attempt may have started is assumed started (K5).
 * C4 Another principal's run looks like none.
 * C5 A run with something to undo is undone first. While the lease of its attempt is not over, that attempt may be in a step, and
 *    nobody is given the run.
 */

import type { RunHead } from "../runRecord.ts";
import type { CancelReply, CancelRun, EndReason } from "../storePort.ts";
import { isForeign } from "./claim.ts";
import type { StoredRun, Transition, TransitionEnv } from "./env.ts";
import { orphaned } from "./idle.ts";
import { applyEnd } from "./progress.ts";
import { hasUndoable, undoing } from "./undo.ts";

/** Ends the run wherever it stands: executing, queued, waiting for an answer, interrupted, parked. */
export function cancel(
  run: StoredRun | undefined,
  input: CancelRun,
  env: TransitionEnv,
): Transition<CancelReply> {
  if (run === undefined || isForeign(run, input.principal)) return { reply: { tag: "LOST" } };
  const { head } = run;
  const { round, status } = head;
  switch (status) {
    case "cancelled":
      return { reply: { tag: "CANCELLED", round } };
    case "completed":
    case "failed":
      return { reply: { tag: "ENDED", round, status } };
    default: {
      if (head.undo !== undefined) return { reply: already(head, head.undo.why) };
      const left = orphaned(head);
      const keyFree = !left.stepStarted && !left.openStepPossible;
      const response = cancelledResponse(input.runId, round, input.reason);
      if (hasUndoable(left)) {
        const isLive = status === "running" && head.lease && !env.isLeaseOver(head.lease);
        const undo = { why: "cancelled" as const, response, ...(isLive ? { awaits: true } : {}) };
        const begins = { ...undoing(left, undo, env), epoch: head.epoch + 1 };
        return {
          reply: { tag: "CANCELLED", round, undoing: true },
          write: { head: isLive ? { ...begins, lease: head.lease } : begins },
        };
      }
      const ended = applyEnd(left, { to: "cancelled", response, keyFree }, env);
      return {
        reply: { tag: "CANCELLED", round },
        write: { head: { ...ended, epoch: head.epoch + 1 } },
      };
    }
  }
}

/** Of a run that is or was being undone: why it is stands since that began. */
function already({ round, status }: RunHead, why: "failed" | "cancelled" | "expired"): CancelReply {
  if (why !== "cancelled") {
    return { tag: "ENDED", round, status: status === "parked" ? status : "undone" };
  }
  return { tag: "CANCELLED", round, ...(status === "undone" ? {} : { undoing: true }) };
}

/** What everybody gets who asks for a cancelled run. */
function cancelledResponse(runId: string, round: number, reason: string | undefined): EndReason {
  const data = { runId, round, status: "cancelled" };
  return {
    kind: "error",
    code: "RUN_CANCELLED",
    message: reason === undefined ? "the run was cancelled" : `the run was cancelled: ${reason}`,
    data: reason === undefined ? data : { ...data, reason },
  };
}
