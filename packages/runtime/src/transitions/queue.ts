/**
 * Attempts that wait for a worker, and claims that are sent again.
 *
 * Q1 A queued attempt is given out once, to the first worker that claims exactly it. Nothing has run in it, so it can't die.
 * Q2 A claim that is sent again gets the attempt that it was given, as long as nothing was recorded in it (P3).
 */
import type { Entry } from "@reprise/journal";
import type { RunHead, RunOrigin } from "../runRecord.ts";
import type { ClaimCommon, ClaimQueued, ClaimReply, QueuedClaimReply } from "../storePort.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";

/** A worker takes the attempt that its job names, and no other (Q1). */
export function claimQueued(
  run: StoredRun | undefined,
  input: ClaimQueued,
  env: TransitionEnv,
): Transition<QueuedClaimReply> {
  if (run === undefined || run.head.epoch !== input.epoch) return { reply: { tag: "STALE" } };
  const again = resent(run, input, env);
  if (again?.reply.tag === "CLAIMED") return { ...again, reply: again.reply };
  if (!isQueued(run.head)) return { reply: { tag: "STALE" } };
  const { queued: _queued, ...rest } = run.head;
  const head: RunHead = touched(
    {
      ...rest,
      token: input.token,
      lease: env.newLease(),
      claimedAt: env.now,
      version: input.version,
    },
    env,
  );
  return { reply: attemptOf(run.origin, head, run.entries(), head.takeovers > 0), write: { head } };
}

/** The attempt that a claim with this token was given already; undefined when it was given none, or went on (Q2). */
export function resent(
  run: StoredRun,
  claimant: ClaimCommon,
  env: TransitionEnv,
): Transition<ClaimReply> | undefined {
  const { head } = run;
  if (head.status !== "running" || head.token !== claimant.token || head.sequence > 0) return;
  // It was given the attempt that was cancelled, and this is the one that undoes.
  if (head.undo?.awaits === true) return;
  if (isQueued(head))
    return claimant.queue === true ? { reply: queuedReply(run.origin, head) } : undefined;
  // A draining process gave it back: that is over.
  if (head.lease === undefined) return;
  const renewed = touched({ ...head, lease: env.newLease() }, env);
  return {
    reply: attemptOf(run.origin, renewed, run.entries(), head.takeovers > 0),
    write: { head: renewed },
  };
}

/** Whether the newest attempt waits for a worker. */
export function isQueued(head: RunHead): boolean {
  return head.status === "running" && head.queued === true;
}

/** Whether a request waits for the attempt whose process is not known to be gone. */
export function isAwaited(head: RunHead, env: TransitionEnv): boolean {
  return head.waiters.some((waiter) => !env.isGone(waiter.holder));
}

/** The reply to whoever owns the attempt of `head`. */
export function attemptOf(
  origin: RunOrigin,
  head: RunHead,
  entries: readonly Entry[],
  takeover: boolean,
): Extract<ClaimReply, { readonly tag: "CLAIMED" }> {
  return {
    tag: "CLAIMED",
    record: { origin, head, entries },
    ref: { runId: origin.runId, epoch: head.epoch, token: head.token },
    takeover,
  };
}

/** The reply to whoever queued the attempt of `head`. */
export function queuedReply(origin: RunOrigin, head: RunHead): ClaimReply {
  return { tag: "QUEUED", runId: origin.runId, epoch: head.epoch, round: head.round, origin };
}

/** How a new attempt is held: by a lease of the claimant, or by the queue until a worker takes it. */
export function tenure(
  claimant: Pick<ClaimCommon, "queue">,
  env: TransitionEnv,
): Pick<RunHead, "lease" | "queued"> {
  return claimant.queue === true ? { lease: undefined, queued: true } : { lease: env.newLease() };
}
