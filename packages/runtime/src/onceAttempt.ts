/**
 * One attempt of a once run, from its claim to its recorded outcome.
 *
 * Used by requests (`onceLane.ts`) and by the sweep. Whoever calls has the claim; this has the attempt.
 *
 * B1 No outcome is returned before it is recorded under the attempt's epoch (docs/design.md 4.2).
 * B2 The key is free only when it is certain that no step happened (4.3).
 * B3 A run that was cancelled elsewhere is handed over as soon as nothing of the attempt runs any more, and its undo begins here.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { Entry } from "@reprise/journal";
import { Attempt } from "./attempt.ts";
import { type AttemptOutcome, Fenced } from "./attemptOutcome.ts";
import type { Begun } from "./attemptReporter.ts";
import type { Caller, ClientIdentity } from "./caller.ts";
import { pause } from "./clock.ts";
import type { RunnableHandler } from "./compile.ts";
import { drained, type EngineDeps, isDrain, stateExpiry, warnOfRounds } from "./engineDeps.ts";
import { mismatchError } from "./mismatch.ts";
import { contextOf, logOf, portsOf, startOf } from "./onceParts.ts";
import { reporterOf, tellEnd } from "./onceReport.ts";
import type { OnceSink } from "./onceSink.ts";
import { reasonOf, runCancelled } from "./replies.ts";
import { failureResponse } from "./results.ts";
import type { PendingAsk, RunHead, RunOrigin, RunUndo } from "./runRecord.ts";
import type { NotificationSink } from "./runtimeTypes.ts";
import type { EndReason, RoundEnd } from "./storePort.ts";
import { startUndo } from "./undoAttempt.ts";
import type { LogLevel } from "./wireTypes.ts";

/** What the attempt starts from; `head` and `entries` are empty for a run that has no record yet. */
export interface OnceStart {
  readonly handler: RunnableHandler;
  readonly args: unknown;
  readonly target: string;
  readonly origin: () => RunOrigin;
  readonly startedAt: number;
  readonly head: RunHead | undefined;
  readonly entries: readonly Entry[];
  readonly caller: Caller;
  readonly client: ClientIdentity;
  readonly notifications: NotificationSink | undefined;
  readonly logLevel: LogLevel | undefined;
  /** A handler that asks is kept for the next round. */
  readonly rests?: boolean | undefined;
  /** The kept handler that goes on; undefined: it begins with its first line. */
  readonly resting?: Attempt | undefined;
  /** How the attempt came to begin. Asked only when somebody observes. */
  readonly begun: () => Begun;
}

/** What became of it, recorded. */
export type OnceOutcome =
  | {
      readonly kind: "recorded";
      readonly response: RunUndo["response"];
      readonly failed: boolean;
    }
  | {
      readonly kind: "suspended";
      readonly pending: readonly PendingAsk[];
      readonly round: number;
      readonly stateExpiresAt: number;
    }
  /** Someone else has the run: wait for the outcome there. */
  | { readonly kind: "fenced" }
  /** It ended with something to undo: whoever claims the run next does that, and this caller may. */
  | { readonly kind: "undoing" }
  | { readonly kind: "failed"; readonly error: RepriseError };

/** Whether the run goes on in another attempt, which the caller waits for or is given. */
export function isElsewhere({ kind }: OnceOutcome): boolean {
  return kind === "fenced" || kind === "undoing";
}

/** A running attempt. */
export interface RunningOnce {
  readonly outcome: Promise<OnceOutcome>;
  /** The last request that waited is gone, or the process drains. */
  stop(reason?: RepriseError): void;
  /** The run is no longer wanted: running steps are aborted, and the end is recorded. */
  cancel(): void;
}

const nothing = {};

/** Starts the attempt. */
export function startOnce(deps: EngineDeps, sink: OnceSink, from: OnceStart): RunningOnce {
  if (deps.isDraining()) return unstarted(sink);
  if (from.head?.undo !== undefined) {
    return startUndo(deps, sink, from, from.head, from.head.undo);
  }
  const { handler, head } = from;
  const start = startOf(from);
  const report = deps.reporter && reporterOf(deps.reporter, sink, from);
  const ports = portsOf(deps, sink, from, report);
  const { resting } = from;
  const attempt = resting ?? new Attempt(start, ports);
  const cancel = (): void =>
    attempt.stop(runCancelled(from.origin().runId, head?.round ?? 0), true);
  const fenced = (): void => attempt.fence();
  sink.attach({ fenced, stopping: () => attempt.stop(), cancelled: cancel }, ports.log);
  const running = { slot: -1, stop: (reason?: RepriseError) => attempt.stop(reason) };
  deps.attempts.add(running);
  const conclude = async (): Promise<OnceOutcome> => {
    try {
      const ended = await (resting === undefined
        ? attempt.run(() => handler.run(from.args, contextOf(attempt, from)))
        : resting.resume(start, ports));
      // The short way of the call that most tools are: nothing was asked of ctx, so there is nothing to record.
      if (ended.kind === "returned" && sink.ref === undefined && attempt.isUntouched) {
        const responding = await responded(deps, from, ended);
        if (report !== undefined) tellEnd(report, ended, responding, false);
        return responding;
      }
      const recorded = await record(deps, sink, from, attempt, ended);
      const isHandedOver =
        recorded.kind === "fenced" && (await handOver(deps, sink, from, attempt));
      const outcome: OnceOutcome = isHandedOver ? { kind: "undoing" } : recorded;
      if (report !== undefined) tellEnd(report, ended, outcome, sink.ref !== undefined);
      if (attempt.isResting) rest(deps, from, attempt, outcome);
      return outcome;
    } finally {
      sink.close();
      deps.attempts.delete(running);
    }
  };
  return { outcome: conclude(), stop: running.stop, cancel };
}

/** Keeps a handler whose question is recorded; one whose question is not has nothing to wait for. */
function rest(deps: EngineDeps, from: OnceStart, attempt: Attempt, outcome: OnceOutcome): void {
  if (outcome.kind !== "suspended") return attempt.abandon();
  const { round, stateExpiresAt } = outcome;
  const entryCount = attempt.entries.length;
  deps.resting.keep(from.origin().runId, attempt, round, entryCount, stateExpiresAt);
}

/** B3. While a step's function runs on, nobody is given the run before the lease is over. */
async function handOver(
  deps: EngineDeps,
  sink: OnceSink,
  from: OnceStart,
  attempt: Attempt,
): Promise<boolean> {
  if (!sink.isCancelled || !hasToUndo(attempt, from.head)) return false;
  const { idle } = attempt.undos;
  if (idle !== undefined) {
    const leaseOver = new AbortController();
    await Promise.race([idle, pause(deps.clock, sink.leaseLeftMs, leaseOver.signal)]);
    leaseOver.abort();
  }
  if (attempt.undos.idle !== undefined || !(await sink.handOver())) return false;
  deps.look(from.origin().runId);
  return true;
}

/** A claim that came while the process drains: nothing was executed, whoever comes next goes on. */
function unstarted(sink: OnceSink): RunningOnce {
  const release = async (): Promise<OnceOutcome> => {
    await sink.release();
    return { kind: "failed", error: drained() };
  };
  return { outcome: release(), stop: () => undefined, cancel: () => undefined };
}

async function record(
  deps: EngineDeps,
  sink: OnceSink,
  from: OnceStart,
  attempt: Attempt,
  ended: AttemptOutcome,
): Promise<OnceOutcome> {
  try {
    return await recordOutcome(deps, sink, from, attempt, ended);
  } catch (error) {
    if (error instanceof Fenced) return { kind: "fenced" };
    if (isRepriseError(error)) return { kind: "failed", error };
    return {
      kind: "failed",
      error: new RepriseError("STORE_UNAVAILABLE", "the outcome could not be recorded", {
        cause: error,
        data: { retryAfterMs: 1000 },
      }),
    };
  } finally {
    await attempt.cleanedUp();
  }
}

async function recordOutcome(
  deps: EngineDeps,
  sink: OnceSink,
  from: OnceStart,
  attempt: Attempt,
  ended: AttemptOutcome,
): Promise<OnceOutcome> {
  const { handler } = from;
  await attempt.recorder.quiet();
  const end = (to: RoundEnd): Promise<void> => sink.end(attempt.recorder.rest(), to);
  const hasRecord = sink.ref !== undefined;
  switch (ended.kind) {
    case "returned":
    case "threw": {
      const { failed, response } = await responded(deps, from, ended);
      if (hasRecord) {
        if (failed && hasToUndo(attempt, from.head)) {
          await end({ to: "undoing", undo: { why: "failed", response } });
          return { kind: "undoing" };
        }
        const keyFree = isKeyFree(attempt, from.head, failed);
        await end({
          to: failed ? "failed" : "completed",
          response,
          state: attempt.state.snapshot(),
          keyFree,
        });
      }
      return { kind: "recorded", response, failed };
    }
    case "suspended": {
      const stateExpiresAt = stateExpiry(deps, handler);
      warnOfRounds(deps, from.origin().runId, (from.head?.round ?? 0) + 1, handler);
      await end({
        to: "waiting",
        pending: ended.pending,
        state: attempt.stateAtEnd,
        stateExpiresAt,
      });
      return {
        kind: "suspended",
        pending: ended.pending,
        round: (from.head?.round ?? 0) + 1,
        stateExpiresAt,
      };
    }
    case "interrupted": {
      const { error } = ended;
      if (hasRecord && isRepriseError(error, "RUN_CANCELLED")) {
        if (hasToUndo(attempt, from.head)) {
          await end({ to: "undoing", undo: { why: "cancelled", response: reasonOf(error) } });
          return { kind: "undoing" };
        }
        const keyFree = isKeyFree(attempt, from.head, true);
        await end({ to: "cancelled", response: reasonOf(error), keyFree });
        return { kind: "failed", error };
      }
      // The request may wait in another process, which has only the record.
      if (hasRecord && isDrain(error)) await end({ to: "released" });
      else if (hasRecord) await end({ to: "interrupted", ...whyOf(error) });
      return {
        kind: "failed",
        error:
          error ??
          new RepriseError(
            "INTERRUPTED",
            "the attempt was stopped because nobody waited for it; repeat the same request",
            { data: { retryAfterMs: 100 } },
          ),
      };
    }
    case "mismatched": {
      const versions = {
        recorded: from.head?.entriesVersion ?? handler.version,
        now: handler.version,
      };
      const error = mismatchError(ended.misfit, handler.label, versions);
      if (hasRecord) await end({ to: "mismatched", ...whyOf(error) });
      logOf(deps, from).error({ err: error }, "a handler does not fit its journal");
      return { kind: "failed", error };
    }
    case "fenced":
    // Only an attempt that undoes ends so.
    case "replayed":
      return { kind: "fenced" };
    case "unrecorded":
      return { kind: "failed", error: ended.error };
  }
}

/** Why the attempt ended without a response, for the record. */
function whyOf(error: RepriseError | undefined): { readonly why?: EndReason } {
  return error === undefined ? nothing : { why: reasonOf(error) };
}

/** The response of a handler that has returned or thrown; a return that can't be rendered is a failure. */
async function responded(
  deps: EngineDeps,
  from: OnceStart,
  ended: Extract<AttemptOutcome, { kind: "returned" | "threw" }>,
): Promise<Extract<OnceOutcome, { kind: "recorded" }>> {
  const { handler } = from;
  let error: unknown;
  if (ended.kind === "returned") {
    try {
      const made = handler.render(ended.value, from.target);
      const result = made instanceof Promise ? await made : made;
      return { kind: "recorded", response: { kind: "complete", result }, failed: false };
    } catch (refused) {
      error = refused;
    }
  } else error = ended.error;
  const { runId } = from.origin();
  if (!isRepriseError(error)) {
    logOf(deps, from).error({ err: error }, "the handler failed");
  }
  return { kind: "recorded", response: failureResponse(handler.kind, error, runId), failed: true };
}

/** Whether something that the run did, or may have done, can be undone; or could when it was done. */
function hasToUndo(attempt: Attempt, head: RunHead | undefined): boolean {
  const done = { entries: attempt.entries, marked: attempt.recorder.openMarks };
  const { undos } = attempt;
  return undos.toUndo(done).length > 0 || undos.missing(done, head?.undoable) !== undefined;
}

function isKeyFree(attempt: Attempt, head: RunHead | undefined, failed: boolean): boolean {
  if (head?.openStepPossible === true || attempt.recorder.hasOpenMarks) return false;
  if (attempt.recorder.stepStarted) {
    const steps = attempt.entries.filter(
      (entry) => entry.kind === "step_completed" || entry.kind === "step_failed",
    );
    return (
      steps.length > 0 &&
      steps.every((entry) => entry.kind === "step_failed" && entry.outcome === "not_done")
    );
  }
  // Without a step nobody but the handler knows what it did: what it threw, a refused question and `nothingDone` say nothing.
  return failed || attempt.desk.refusalTaken || attempt.saidNothingDone;
}
