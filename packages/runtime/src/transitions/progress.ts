/**
 * What an attempt records: its progress, and how its round ends.
 *
 * R1 Epoch and token must be those of the newest attempt, and it must not be queued; else LEASE_LOST and nothing changes. A lease whose time is
 *    over still counts while nobody has taken the run over: no other attempt exists that could be contradicted. One that let its lease
 *    go, by giving the run back or by ending for it to be undone, has nothing more to say.
 * R2 A transition whose sequence was recorded already changes nothing and gets the first reply.
 * R3 The end of a round clears what belonged to its attempt. Brought answers stand only after a mismatch, and those that were
 *    taken once behind a failure also after an interruption.
 * R4 Drafts that come with the end of a round are dropped: a step starts only after those that it may see are recorded.
 * R5 An attempt whose run was cancelled is told so, and not only that it lost its lease: it has steps to abort. Nothing of it is
 *    recorded any more but that it is over, where that is awaited.
 */
import { cutAtFailure } from "@reprise/journal";
import type { RunHead, StepMark } from "../runRecord.ts";
import type { AttemptRef, LeaveReply, Progress, RoundEnd, TransitionReply } from "../storePort.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";
import { cleared } from "./idle.ts";
import { isQueued } from "./queue.ts";
import { handedOver, handover, stopOf, undoableAfter, undoing } from "./undo.ts";

function refused(run: StoredRun | undefined, { epoch }: AttemptRef): Transition<TransitionReply> {
  const isCancelled = run !== undefined && stopOf(run.head, epoch) === "cancelled";
  return { reply: { tag: isCancelled ? "CANCELLED" : "LEASE_LOST" } };
}

/** Records entries, marks and drafts of a running attempt. */
export function append(
  run: StoredRun | undefined,
  ref: AttemptRef,
  progress: Progress,
  env: TransitionEnv,
): Transition<TransitionReply> {
  if (run === undefined || !isOwn(run.head, ref)) return refused(run, ref);
  const { head } = run;
  if (progress.sequence <= head.sequence) return { reply: { tag: "OK", stopping: head.stopping } };
  if (!isLive(head)) return refused(run, ref);
  const next = touched({ ...applyProgress(head, progress), lease: env.newLease() }, env);
  return {
    reply: { tag: "OK", stopping: head.stopping },
    write: { head: next, append: progress.entries, appendAt: head.entryCount },
  };
}

/** Records the last progress of an attempt together with the end of its round. */
export function endRound(
  run: StoredRun | undefined,
  ref: AttemptRef,
  progress: Progress,
  end: RoundEnd,
  env: TransitionEnv,
): Transition<TransitionReply> {
  const over = run && end.to === "released" && handover(run.head, ref, progress);
  if (over) return handOver(run.head, over, progress, env);
  if (run === undefined || !isOwn(run.head, ref)) return refused(run, ref);
  const { head } = run;
  if (progress.sequence <= head.sequence) return { reply: { tag: "OK", stopping: false } };
  if (!isLive(head)) return refused(run, ref);
  const { drafts: _unseen, ...seen } = progress;
  return {
    reply: { tag: "OK", stopping: false },
    write: {
      head: applyEnd(applyProgress(head, seen), end, env),
      append: progress.entries,
      appendAt: head.entryCount,
    },
  };
}

/** A cancelled attempt is over: it records nothing, and its run may be undone (R5). */
function handOver(
  head: RunHead,
  how: "awaited" | "told",
  { sequence }: Progress,
  env: TransitionEnv,
): Transition<TransitionReply> {
  const reply = { tag: "OK", stopping: false } as const;
  return how === "told" ? { reply } : { reply, write: { head: handedOver(head, sequence, env) } };
}

/** Keeps a live attempt's lease. */
export function renew(
  run: StoredRun | undefined,
  ref: AttemptRef,
  env: TransitionEnv,
): Transition<TransitionReply> {
  if (run === undefined || !isOwn(run.head, ref) || !isLive(run.head)) return refused(run, ref);
  const head = touched({ ...run.head, lease: env.newLease() }, env);
  return { reply: { tag: "OK", stopping: head.stopping }, write: { head } };
}

/** A waiter's request is gone; the last one stops the attempt for good (docs/design.md 4.5). */
export function leave(
  run: StoredRun | undefined,
  epoch: number,
  waiterId: string,
  env: TransitionEnv,
): Transition<LeaveReply> {
  if (run === undefined || run.head.epoch !== epoch || run.head.status !== "running") {
    return { reply: { stopping: false } };
  }
  const { head } = run;
  if (head.stopping) return { reply: { stopping: true } };
  // A waiter whose process died can't leave by itself; without this the attempt could never be stopped.
  const waiters = head.waiters.filter(
    (waiter) => waiter.id !== waiterId && !env.isGone(waiter.holder),
  );
  const stopping = head.stoppable && waiters.length === 0;
  if (stopping && isQueued(head)) {
    // Nothing runs that could end it.
    return { reply: { stopping }, write: { head: applyEnd(head, { to: "interrupted" }, env) } };
  }
  return { reply: { stopping }, write: { head: { ...head, waiters, stopping } } };
}

/** A head with an attempt's progress in it. */
export function applyProgress(head: RunHead, progress: Progress): RunHead {
  const completes = progress.entries.some((entry) => entry.kind === "step_completed");
  const { undoable: _before, ...rest } = head;
  const undoable = undoableAfter(head, progress);
  return {
    ...rest,
    sequence: progress.sequence,
    // Entries come only after the whole journal fitted: this instance went on, a later mismatch is another one.
    mismatchedAt: progress.entries.length > 0 ? undefined : head.mismatchedAt,
    entryCount: head.entryCount + progress.entries.length,
    entriesVersion: progress.entries.length > 0 ? head.version : head.entriesVersion,
    stepStarted: head.stepStarted || progress.stepStarts,
    ...stepsMarkedAfter(head, progress),
    ...(undoable === undefined ? {} : { undoable }),
    stepCompleted: head.stepCompleted || completes,
    marks: applyMarks(head.marks, progress.marks),
    drafts: progress.drafts ?? head.drafts,
    draftsAtFailure: draftsAtFailure(head, progress.entries),
    settled:
      Object.keys(progress.settled).length === 0
        ? head.settled
        : { ...head.settled, ...progress.settled },
  };
}

/** Once a step without a mark has started, it is never so again. */
function stepsMarkedAfter(head: RunHead, progress: Progress): Pick<RunHead, "stepsMarked"> {
  if (!progress.stepStarts) return {};
  const wereMarked = !head.stepStarted || head.stepsMarked === true;
  if (wereMarked && progress.stepsMarked === true) return { stepsMarked: true };
  return head.stepsMarked === true ? { stepsMarked: false } : {};
}

function draftsAtFailure(head: RunHead, entries: Progress["entries"]): RunHead["draftsAtFailure"] {
  const completes = entries.some((entry) => entry.kind === "step_completed");
  const before = completes ? undefined : head.draftsAtFailure;
  const fails = cutAtFailure(entries).kept.length < entries.length;
  return before ?? (fails ? head.drafts : undefined);
}

function applyMarks(marks: RunHead["marks"], changes: Progress["marks"]): RunHead["marks"] {
  const names = Object.keys(changes);
  if (names.length === 0) return marks;
  const next = new Map<string, StepMark>(Object.entries(marks));
  for (const name of names) {
    const mark = changes[name];
    if (mark === null || mark === undefined) next.delete(name);
    // The first try counts: a later attempt must not restart the remote's memory of the key.
    else if (!next.has(name)) next.set(name, mark);
  }
  return Object.fromEntries(next);
}

/** Whether a returned result stands: no repeated first call looks for a failed step to go on from. */
export function isRecordedForGood(head: RunHead): boolean {
  return head.stepCompleted || !head.stepStarted;
}

/** What an operator wanted is done, or stopped. */
function unwanted(head: RunHead): RunHead {
  const { wanted: _wanted, ...rest } = head;
  return rest;
}

/** A head whose round has ended. */
export function applyEnd(head: RunHead, end: RoundEnd, env: TransitionEnv): RunHead {
  const goesOn = end.to === "released" || end.to === "mismatched";
  const idle = goesOn ? cleared(head) : unwanted(cleared(head));
  switch (end.to) {
    case "waiting":
      return touched(
        {
          ...idle,
          status: "waiting",
          round: head.round + 1,
          takeovers: 0,
          openStepSince: undefined,
          mismatchedAt: undefined,
          pending: end.pending,
          askedVersion: head.version,
          brought: {},
          drafts: {},
          draftsAtFailure: undefined,
          state: end.state,
          response: { kind: "question" },
          stateGivenOut: true,
          stateExpiresAt: Math.max(head.stateExpiresAt, end.stateExpiresAt),
        },
        env,
      );
    case "completed":
    case "failed": {
      // A round that a repeated first call or an operator runs again must begin with what it began with before.
      const isFinal =
        end.to === "completed" && isRecordedForGood(head) && head.draftsAtFailure === undefined;
      return touched(
        {
          ...idle,
          status: end.to,
          takeovers: 0,
          mismatchedAt: undefined,
          pending: [],
          brought: {},
          drafts: isFinal ? {} : head.drafts,
          state: isFinal ? end.state : head.state,
          response: end.response,
          keyFree: end.keyFree,
        },
        env,
      );
    }
    case "interrupted":
      return touched(
        {
          ...idle,
          status: "interrupted",
          brought: takenOnce(head.brought),
          response: end.why,
        },
        env,
      );
    case "released":
      // Running without a lease: every look-up finds it abandoned, and no death is counted.
      return touched({ ...idle, status: "running" }, env);
    case "mismatched":
      return touched(
        {
          ...idle,
          status: "mismatched",
          mismatchedAt: head.mismatchedAt ?? env.now,
          response: end.why,
        },
        env,
      );
    case "parked":
      return touched({ ...idle, status: "parked", response: end.response }, env);
    case "cancelled": {
      const { response, keyFree } = end;
      const none = { pending: [], brought: {}, mismatchedAt: undefined };
      return touched({ ...idle, ...none, status: "cancelled", response, keyFree }, env);
    }
    case "undoing":
      return undoing(head, end.undo, env);
    case "undone": {
      const { response, keyFree } = end;
      return touched({ ...idle, status: "undone", takeovers: 0, response, keyFree }, env);
    }
  }
}

/** Answers that are settled for ever, though the journal was cut before them: nobody will give them again. */
function takenOnce(brought: RunHead["brought"]): RunHead["brought"] {
  return Object.fromEntries(
    Object.entries(brought).filter(([, answer]) => answer.question !== undefined),
  );
}

function isLive({ status, lease }: RunHead): boolean {
  return status === "running" && lease !== undefined;
}

function isOwn(head: RunHead, ref: AttemptRef): boolean {
  return head.epoch === ref.epoch && head.token === ref.token && !isQueued(head);
}
