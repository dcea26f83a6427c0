/**
 * Heads that no attempt has, and what is believed of an attempt that died.
 */
import type { RunHead } from "../runRecord.ts";

/** A head that no attempt has. */
export function cleared(head: RunHead): RunHead {
  const { queued: _queued, ...rest } = head;
  return { ...rest, lease: undefined, waiters: [], stopping: false };
}

/**
 * A head whose attempt died: what it may have started is assumed started (K5). Steps that wrote a mark first are known by it,
 * and an attempt that undoes starts none.
 */
export function orphaned(head: RunHead): RunHead {
  if (head.status !== "running" || head.lease === undefined || !head.stepStarted) return head;
  if (head.stepsMarked === true || head.undo !== undefined) return head;
  const openStepSince = Math.min(head.openStepSince ?? head.claimedAt, head.claimedAt);
  return { ...head, openStepPossible: true, openStepSince };
}
