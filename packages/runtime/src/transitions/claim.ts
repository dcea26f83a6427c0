/**
 * Who may execute a round: the transitions that give out attempts.
 *
 * K1 An attempt is given out only when no other is live: a live lease joins, a dead one is taken over.
 * K2 A contradiction is found before anything else is decided, and runs nothing.
 * K3 A run that is unknown, or older than the state that names it, is never executed.
 * K4 A finished round is never executed again, except by a repeated first call after a failure.
 * K5 What a dead attempt may have started is assumed started.
 * K6 A waiting run whose deadline has passed with something to undo is claimed for that, and for nothing else.
 */
import type { Entry } from "@reprise/journal";
import {
  type BroughtAnswer,
  MAX_TAKEOVERS,
  MISMATCH_GRACE_MS,
  type PendingAsk,
  type RunHead,
  type RunStatus,
} from "../runRecord.ts";
import type { ClaimCommon, ClaimKnown, ClaimReply, ClaimRound } from "../storePort.ts";
import {
  type RunWrite,
  type StoredRun,
  type Transition,
  type TransitionEnv,
  touched,
} from "./env.ts";
import { beforeFailure } from "./failure.ts";
import { cleared, orphaned } from "./idle.ts";
import { attemptOf, isAwaited, isQueued, queuedReply, resent, tenure } from "./queue.ts";
import { atDeadline, begun } from "./undo.ts";

type Answers = Readonly<Record<string, BroughtAnswer>>;

/** What all ways of claiming an existing run share. */
export interface Claimant extends ClaimCommon {
  /** Undefined for a sweep: nobody waits, and nobody can stop the attempt. */
  readonly waiterId: string | undefined;
}

/** A retry with a requestState (docs/design.md 3.6, 4.2). */
export function claimRound(
  stored: StoredRun | undefined,
  input: ClaimRound,
  env: TransitionEnv,
): Transition<ClaimReply> {
  if (stored === undefined) return { reply: { tag: "LOST", reason: "missing" } };
  const run = atDeadline(stored, env);
  const { head } = run;
  if (head.round < input.round) return { reply: { tag: "LOST", reason: "older" } };
  const again = resent(run, input, env);
  if (again !== undefined) return again;
  const sorted = sortAnswers(head, input);
  if ("contradicts" in sorted) {
    const { round, status } = head;
    return {
      reply: { tag: "SETTLED", runId: input.runId, round, status, key: sorted.contradicts },
    };
  }
  if (head.status === "waiting") {
    if (input.stateExpired) {
      // A state that names an older round was claimed in time; its first use is over, so it may only look.
      return head.round > input.round ? recorded(run, input, env) : { reply: { tag: "EXPIRED" } };
    }
    if (Object.keys(sorted.counted).length === 0) return recorded(run, input, env);
    return given(run, head, input, sorted.counted, env, "answered");
  }
  return claimByStatus(run, input, sorted.counted, env);
}

/** A run known by its id: a request that lost its lease, or a sweep. */
export function claimKnown(
  stored: StoredRun | undefined,
  input: ClaimKnown,
  env: TransitionEnv,
): Transition<ClaimReply> {
  if (stored === undefined) return { reply: { tag: "LOST", reason: "missing" } };
  if (isForeign(stored, input.principal)) return { reply: { tag: "LOST", reason: "foreign" } };
  const run = atDeadline(stored, env);
  const again = resent(run, input, env);
  if (again !== undefined) return again;
  const { head, origin } = run;
  if (input.seen === head.epoch && endedForReason(head)) {
    return { reply: { tag: "RECORDED", origin, head } };
  }
  const sweeping = input.waiterId === undefined;
  if (sweeping && head.status === "interrupted") return recorded(run, input, env);
  if (sweeping && head.status === "mismatched" && !isMismatchOver(head, env))
    return recorded(run, input, env);
  const nobodyWillCome =
    origin.key === undefined &&
    !head.stateGivenOut &&
    head.undo === undefined &&
    head.wanted !== true &&
    !(isQueued(head) && isAwaited(head, env));
  if (sweeping && nobodyWillCome && head.status === "running" && isDead(head, env)) {
    const write = {
      head: touched({ ...cleared(orphaned(head)), status: "interrupted" as const }, env),
    };
    return { reply: { tag: "RECORDED", origin, head: write.head }, write };
  }
  if (head.status === "waiting") return recorded(run, input, env);
  return claimByStatus(run, input, {}, env);
}

function endedForReason(head: RunHead): boolean {
  const ended = head.status === "interrupted" || head.status === "mismatched";
  return ended && head.response?.kind === "error";
}

/** The statuses that every way of claiming treats alike; never called for `waiting`. */
export function claimByStatus(
  run: StoredRun,
  claimant: Claimant,
  counted: Answers,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { head, origin } = run;
  switch (head.status) {
    case "running":
      if (isQueued(head)) return inQueue(run, claimant, counted, env);
      return isDead(head, env)
        ? takenOver(run, claimant, counted, env)
        : joined(run, claimant, env);
    case "interrupted":
      return given(run, head, claimant, { ...head.brought, ...counted }, env, "again");
    case "mismatched":
      if (isMismatchOver(head, env)) return parked(run, env);
      return given(run, head, claimant, { ...head.brought, ...counted }, env, "again");
    case "parked":
      return { reply: { tag: "PARKED", origin, head } };
    case "waiting":
    case "completed":
    case "failed":
    case "cancelled":
    case "undone":
      return recorded(run, claimant, env);
  }
}

/** Whether the run is not that principal's; undefined stands for everybody. */
export function isForeign(run: StoredRun, principal: string | undefined): boolean {
  return principal !== undefined && run.origin.caller.principal !== principal;
}

/** An ended run goes on from its failed step (docs/design.md 4.3). */
export function claimAfterFailure(
  run: StoredRun,
  claimant: Claimant,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { head, brought, kept } = beforeFailure(run);
  return given(run, head, claimant, brought, env, "again", kept);
}

/** A queued attempt: a request joins it, a sweep puts it into the queue again, and who executes by itself takes its place. */
function inQueue(
  run: StoredRun,
  claimant: Claimant,
  counted: Answers,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { head } = run;
  if (claimant.queue !== true) {
    return given(run, head, claimant, { ...head.brought, ...counted }, env, "again");
  }
  if (claimant.waiterId !== undefined) return joined(run, claimant, env);
  // Its job may be lost. The same attempt: whoever finds two jobs of it claims it once (Q1).
  const requeued = touched({ ...head, claimedAt: env.now }, env);
  return { reply: queuedReply(run.origin, requeued), write: { head: requeued } };
}

/** The recorded response; an open question gets a newly sealed state, whose expiry is recorded first. */
export function recorded(
  run: StoredRun,
  claimant: ClaimCommon,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { origin, head } = run;
  if (head.status !== "waiting" || head.stateExpiresAt >= claimant.stateExpiresAt) {
    return { reply: { tag: "RECORDED", origin, head } };
  }
  const extended = touched({ ...head, stateExpiresAt: claimant.stateExpiresAt }, env);
  return { reply: { tag: "RECORDED", origin, head: extended }, write: { head: extended } };
}

/** Whether the attempt that has the run is known to be over. */
function isDead(head: RunHead, env: TransitionEnv): boolean {
  return head.lease === undefined || env.isLeaseOver(head.lease);
}

function isMismatchOver(head: RunHead, env: TransitionEnv): boolean {
  return head.mismatchedAt !== undefined && env.now - head.mismatchedAt > MISMATCH_GRACE_MS;
}

function sortAnswers(
  head: RunHead,
  input: ClaimRound,
): { readonly counted: Answers } | { readonly contradicts: string } {
  const counted: [key: string, answer: BroughtAnswer][] = [];
  for (const [key, answer] of Object.entries(input.answers)) {
    const settled = Object.hasOwn(head.settled, key) ? head.settled[key] : undefined;
    const ask: PendingAsk | undefined = head.pending.find((pending) => pending.key === key);
    if (settled !== undefined && input.asked.includes(settled.asked)) {
      if (settled.answer !== answer.digest) return { contradicts: key };
      // Asked again, because what had taken the answer was cut away with a failure: the same answer is needed again.
      if (head.status !== "waiting" || ask?.asked !== settled.asked) continue;
    }
    if (ask === undefined || !input.asked.includes(ask.asked)) continue;
    const standing = Object.hasOwn(head.brought, key) ? head.brought[key] : undefined;
    if (standing !== undefined && standing.digest !== answer.digest) return { contradicts: key };
    counted.push([key, answer]);
  }
  return { counted: Object.fromEntries(counted) };
}

function joined(run: StoredRun, claimant: Claimant, env: TransitionEnv): Transition<ClaimReply> {
  const { origin, head } = run;
  const { epoch, round } = head;
  const reply = (joins: boolean): ClaimReply => ({
    tag: "RUNNING",
    runId: origin.runId,
    epoch,
    round,
    joined: joins,
    queued: isQueued(head),
  });
  // A stop is final: who comes now waits for the end and claims anew.
  if (claimant.waiterId === undefined || head.stopping) return { reply: reply(false) };
  if (head.waiters.some((waiter) => waiter.id === claimant.waiterId)) return { reply: reply(true) };
  const waiters = [...head.waiters, { id: claimant.waiterId, holder: env.holder }];
  return { reply: reply(true), write: { head: { ...head, waiters } } };
}

function takenOver(
  run: StoredRun,
  claimant: Claimant,
  counted: Answers,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { head } = run;
  // Released by a process that drained, or what is awaited is the end of a cancelled attempt: this is no death.
  if (head.lease === undefined || head.undo?.awaits === true) {
    return given(run, head, claimant, { ...head.brought, ...counted }, env, "again");
  }
  if (head.takeovers >= MAX_TAKEOVERS) return parked(run, env);
  const from = { ...orphaned(head), takeovers: head.takeovers + 1 };
  return given(run, from, claimant, { ...head.brought, ...counted }, env, "takeover");
}

function parked(run: StoredRun, env: TransitionEnv): Transition<ClaimReply> {
  const head = touched({ ...cleared(orphaned(run.head)), status: "parked" as const }, env);
  return { reply: { tag: "PARKED", origin: run.origin, head, justNow: true }, write: { head } };
}

function given(
  run: StoredRun,
  from: RunHead,
  claimant: Claimant,
  brought: Answers,
  env: TransitionEnv,
  why: "answered" | "again" | "takeover",
  entries?: readonly Entry[],
): Transition<ClaimReply> {
  const { origin } = run;
  const status: RunStatus = "running";
  const undo = from.undo && begun(from.undo, env.now);
  const head: RunHead = touched(
    {
      ...cleared(from),
      ...tenure(claimant, env),
      status,
      epoch: from.epoch + 1,
      token: claimant.token,
      waiters:
        claimant.waiterId === undefined ? [] : [{ id: claimant.waiterId, holder: env.holder }],
      // What has begun to be undone is undone to the end, whoever waits for it.
      stoppable: claimant.waiterId !== undefined && undo === undefined,
      brought: undo === undefined ? brought : from.brought,
      ...(undo === undefined ? {} : { undo }),
      sequence: 0,
      claimedAt: env.now,
      version: claimant.version,
      keyFree: false,
    },
    env,
  );
  const write: RunWrite = entries === undefined ? { head } : { head, cutEntriesAt: entries.length };
  if (isQueued(head)) return { reply: queuedReply(origin, head), write };
  return { reply: attemptOf(origin, head, entries ?? run.entries(), why === "takeover"), write };
}
