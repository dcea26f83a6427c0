/**
 * Runs that are to be undone (docs/design.md 4.5): how that begins, and what it means to those who look at a head.
 *
 * A run that is being undone is `running` with `undo` in its head, so leases, take-overs, queues and sweeps treat its attempts as
 * any other; `undo` says what they do.
 *
 * D1 Once `undo` stands in a head, no attempt of the run executes a step of it any more, and it ends `undone` or `parked`.
 * D2 What callers get is recorded when it begins, so a crash in between changes nothing of it.
 * D3 A deadline needs no code: the head knows which steps have something to undo.
 */
import type { RunHead, RunUndo } from "../runRecord.ts";
import type { AttemptRef, Progress, StopReason } from "../storePort.ts";
import { type StoredRun, type TransitionEnv, touched } from "./env.ts";
import { cleared } from "./idle.ts";

/** Whether a waiting run has something to undo, and its newest state has expired at `now`. */
export function isOverdue(head: RunHead, now: number): boolean {
  return head.status === "waiting" && hasUndoable(head) && head.stateExpiresAt < now;
}

/** Whether a step that happened, or may have, has an undo function. */
export function hasUndoable(head: RunHead): boolean {
  return head.undoable !== undefined && head.undoable.length > 0;
}

/** The head of a run that is undone by whoever claims it next. */
export function undoing(head: RunHead, undo: RunUndo, env: TransitionEnv): RunHead {
  return touched(
    {
      ...cleared(head),
      status: "running",
      stoppable: false,
      takeovers: 0,
      mismatchedAt: undefined,
      pending: [],
      brought: {},
      response: undefined,
      undo,
    },
    env,
  );
}

/** The run as a claim must see it: one whose deadline has passed is to be undone. */
export function atDeadline<Run extends StoredRun>(run: Run, env: TransitionEnv): StoredRun {
  if (!isOverdue(run.head, env.now)) return run;
  const response = expired(run.origin.runId, run.head.round);
  const head = undoing(run.head, { why: "expired", response }, env);
  return {
    get origin() {
      return run.origin;
    },
    head,
    entries: () => run.entries(),
  };
}

/** The undo of an attempt that is given out now. */
export function begun({ awaits: _awaits, ...undo }: RunUndo, now: number): RunUndo {
  return { ...undo, triedAt: undo.triedAt ?? now, attempts: (undo.attempts ?? 0) + 1 };
}

/** How a run stands to an attempt that it was cancelled under: its end is awaited before anything is undone, or was told. */
export function handover(
  { undo, epoch, token, lease, sequence }: RunHead,
  ref: AttemptRef,
  progress: Pick<Progress, "sequence">,
): "awaited" | "told" | undefined {
  if (undo?.why !== "cancelled" || epoch !== ref.epoch + 1 || token !== ref.token) return undefined;
  if (undo.awaits === true) return "awaited";
  return lease === undefined && sequence >= progress.sequence ? "told" : undefined;
}

/** A run whose cancelled attempt is over: whoever claims it next undoes it. */
export function handedOver(head: RunHead, sequence: number, env: TransitionEnv): RunHead {
  const { undo, ...rest } = cleared(head);
  if (undo === undefined) return head;
  const { awaits: _awaits, ...begins } = undo;
  return touched({ ...rest, undo: begins, sequence }, env);
}

/** Steps with something to undo, once an attempt's progress is recorded. */
export function undoableAfter(head: RunHead, progress: Progress): readonly string[] | undefined {
  const started = progress.undoable ?? [];
  const known = head.undoable ?? [];
  if (started.length === 0 && known.length === 0) return head.undoable;
  const ended = new Set<string>();
  const completed = new Set<string>();
  for (const entry of progress.entries) {
    if (entry.kind === "step_completed") completed.add(entry.name);
    const isNothing = entry.kind === "step_failed" && entry.outcome === "not_done";
    if (isNothing || entry.kind === "step_undone") ended.add(entry.name);
  }
  // A mark that is taken back without a result: announced, and certainly not done.
  for (const [name, mark] of Object.entries(progress.marks)) {
    if (mark === null && !completed.has(name)) ended.add(name);
  }
  const left = [...new Set([...known, ...started])].filter((name) => !ended.has(name));
  return left.length === 0 ? undefined : left;
}

/** Why the attempt at `epoch` is to end; undefined when it is not. */
export function stopOf(head: RunHead, epoch: number): StopReason | undefined {
  // The attempts that undo a cancelled run come after the one that was cancelled.
  const isCancelled =
    head.status === "cancelled" || (head.undo?.why === "cancelled" && head.epoch > epoch);
  if (isCancelled) return "cancelled";
  return head.epoch === epoch && head.stopping ? "left" : undefined;
}

function expired(runId: string, round: number): RunUndo["response"] {
  return {
    kind: "error",
    code: "RUN_EXPIRED",
    message: "the question was not answered in time, and what the run had done is undone",
    data: { runId, round, status: "undone" },
  };
}
