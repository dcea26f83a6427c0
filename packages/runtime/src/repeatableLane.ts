/**
 * Runs whose effects may repeat: the token carries the journal, the store is never touched (docs/design.md 4.1).
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { Entry, JsonObject } from "@reprise/journal";
import type { Answers } from "./answers.ts";
import { Attempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attemptOutcome.ts";
import { type AttemptReporter, begunBy } from "./attemptReporter.ts";
import type { AttemptPorts, AttemptStart } from "./attemptStart.ts";
import { onCancelled } from "./cancellation.ts";
import { createContext } from "./context.ts";
import type { Context } from "./contextTypes.ts";
import { type EngineDeps, isDrain, runnable, stateExpiry, warnOfRounds } from "./engineDeps.ts";
import type { Logger } from "./logger.ts";
import { mismatchError } from "./mismatch.ts";
import { growing } from "./notifications.ts";
import { elicitationIdsOf, inputRequestsOf, replyOfRecorded, runCancelled } from "./replies.ts";
import { failureResponse } from "./results.ts";
import { RunLog } from "./runLog.ts";
import type { PendingAsk } from "./runRecord.ts";
import type { RunReply, RunRequest } from "./runtimeTypes.ts";
import type { RepeatableState } from "./stateTokens.ts";
import { traceparentOf } from "./traceparent.ts";

const noSink = { write: () => undefined, confirm: () => undefined };
const nothing = {};
const none: readonly never[] = [];

/** Executes one round. Rejects with RepriseErrors that are replies. */
export async function executeRepeatable(
  deps: EngineDeps,
  request: RunRequest,
  answers: Answers,
  opened: RepeatableState | undefined,
): Promise<RunReply> {
  const handler = runnable(request);
  const round = opened?.round ?? 0;
  let drawn = opened?.run ?? request.runId;
  const runId = (): string => {
    drawn ??= deps.random();
    return drawn;
  };
  const seed = lazy(() => opened?.seed ?? deps.random());
  const startedAt = opened?.startedAt ?? deps.clock.now();
  const start: AttemptStart = {
    entries: opened?.entries ?? (none as readonly Entry[]),
    brought: opened === undefined ? nothing : answers,
    unasked: opened === undefined && handler.effects === "repeatable" ? answers : nothing,
    pending: (opened?.pending ?? none) as readonly PendingAsk[],
    state: opened?.state ?? nothing,
    drafts: nothing,
    marks: nothing,
    passable: none,
    openStepSince: undefined,
    stepStarted: false,
    startedAt,
    round,
    version: handler.version,
    recordedVersion: opened?.version ?? handler.version,
    capabilities: request.client.capabilities,
  };
  const report = deps.reporter?.attempt({
    handler,
    effects: "repeatable",
    caller: request.caller,
    client: request.client,
    round,
    runStartedAt: startedAt,
    ref: () => (drawn === undefined ? undefined : { runId: drawn, epoch: 0 }),
    begun: { ...begunBy(request), ...(round === 0 ? {} : { cause: cameWith(answers) }) },
    firstTraceparent: firstTraceparentOf(request, opened),
  });
  const ports: AttemptPorts = {
    clock: deps.clock,
    turn: deps.turn,
    log: new RunLog(deps.log, runId, round, handler.name),
    sink: noSink,
    elicitations: deps.elicitations,
    replayStallMs: deps.replayStallMs,
    settleGraceMs: deps.settleGraceMs,
    timeoutMs: handler.timeoutMs,
    asksChecked: request.notifications?.asksChecked,
    report,
    rests: request.keepsHandler === true,
  };
  const resting = opened === undefined ? undefined : restingOf(deps, request, opened);
  const attempt = resting ?? new Attempt(start, ports);
  const makeContext = (): Context =>
    createContext(attempt, {
      runId,
      seed,
      keySource: runId,
      caller: request.caller,
      client: request.client,
      notifications: growing(request.notifications),
      logLevel: request.logLevel,
      // A handler that is declared repeatable says itself that a step may happen again.
      keepsMarks: handler.effects === "repeatable",
      canUndo: false,
      handlerName: handler.label,
    });
  const running = { slot: -1, stop: (reason?: RepriseError) => attempt.stop(reason, true) };
  deps.attempts.add(running);
  const stopListening = request.onGone(() => running.stop());
  if (request.isGone) running.stop();
  const stopHearing = onCancelled(request, () => running.stop(runCancelled(runId(), round)));
  let outcome: AttemptOutcome;
  try {
    outcome = await (resting === undefined
      ? attempt.run(() => handler.run(request.args, makeContext()))
      : resting.resume(start, ports));
    const cleaning = attempt.cleanedUp();
    if (cleaning !== undefined) await cleaning;
  } finally {
    deps.attempts.delete(running);
    stopListening();
    stopHearing();
  }
  try {
    switch (outcome.kind) {
      case "returned": {
        let result: JsonObject;
        try {
          result = await handler.render(outcome.value, request.target);
        } catch (error) {
          return failed(ports.log, request, error, runId(), report);
        }
        report?.ended("completed", "completed");
        return { kind: "complete", result };
      }
      case "threw":
        return failed(ports.log, request, outcome.error, runId(), report);
      case "suspended": {
        warnOfRounds(deps, runId(), round + 1, handler);
        const state: RepeatableState = {
          kind: "repeatable",
          run: runId(),
          round: round + 1,
          seed: seed(),
          startedAt,
          ...traced(request, opened),
          version: handler.version,
          entries: attempt.entries,
          state: attempt.stateAtEnd,
          pending: outcome.pending.map(({ key, question, changes, text, unfinished, askedAt }) => ({
            key,
            question,
            changes,
            text: changes === 0 ? "" : text,
            ...(unfinished === 0 ? {} : { unfinished }),
            ...(askedAt === undefined ? {} : { askedAt }),
          })),
        };
        const answerBeforeMs = stateExpiry(deps, handler);
        let requestState: string;
        try {
          await deps.elicitations.open(outcome.pending, request.caller.person, answerBeforeMs);
          const binding = deps.tokens.bindingOf(request);
          requestState = await deps.tokens.seal(state, binding, answerBeforeMs);
        } catch (error) {
          // Nobody has its question, so nobody will go on with it.
          if (attempt.isResting) attempt.abandon();
          throw error;
        }
        // Cancelled since: nobody goes on with it.
        if (attempt.isResting && request.cancelled?.aborted === true) attempt.abandon();
        if (attempt.isResting) {
          const entryCount = attempt.entries.length;
          deps.resting.keep(runId(), attempt, round + 1, entryCount, answerBeforeMs);
        }
        report?.asked(outcome.pending, answerBeforeMs);
        return {
          kind: "input_required",
          inputRequests: inputRequestsOf(outcome.pending),
          ...elicitationIdsOf(outcome.pending),
          requestState,
          answerBeforeMs,
        };
      }
      case "interrupted":
        throw (
          outcome.error ??
          new RepriseError("INTERRUPTED", "the call was stopped because its request was gone")
        );
      case "mismatched":
        throw mismatchError(outcome.misfit, handler.label, {
          recorded: start.recordedVersion,
          now: handler.version,
        });
      case "fenced":
      case "replayed":
      case "unrecorded":
        throw new RepriseError("INTERNAL", "a run without a record can't lose one");
    }
  } catch (error) {
    if (report !== undefined) tellRefused(report, outcome.kind, error);
    throw error;
  }
}

/** The round ended without a result of the handler. */
function tellRefused(report: AttemptReporter, kind: AttemptOutcome["kind"], error: unknown): void {
  const refused = isRepriseError(error) ? error : undefined;
  const { code } = refused ?? {};
  if (kind === "mismatched") report.ended("mismatched", undefined, code);
  else if (kind !== "interrupted") report.ended("failed", "failed", code);
  else if (code === "RUN_CANCELLED") report.ended("cancelled", "cancelled", code);
  else report.ended(isDrain(refused) ? "released" : "interrupted", undefined, code);
}

function failed(
  log: Logger,
  request: RunRequest,
  error: unknown,
  runId: string,
  report: AttemptReporter | undefined,
): RunReply {
  if (!isRepriseError(error)) log.error({ err: error }, "the handler failed");
  report?.ended("failed", "failed", isRepriseError(error) ? error.code : undefined);
  return replyOfRecorded(failureResponse(request.handler.kind, error, runId));
}

/** The handler that waits in this process for this round. */
function restingOf(
  deps: EngineDeps,
  request: RunRequest,
  { run, round, entries }: RepeatableState,
): Attempt | undefined {
  if (request.keepsHandler !== true) return undefined;
  return deps.resting.take(run, round, entries.length);
}

/** Why a round that is not the first began. */
function cameWith(answers: Answers): "answer" | "again" {
  return Object.keys(answers).length > 0 ? "answer" : "again";
}

function firstTraceparentOf(
  request: RunRequest,
  opened: RepeatableState | undefined,
): string | undefined {
  if (opened !== undefined) return opened.traceparent;
  return request.traceparent ?? traceparentOf(request.params);
}

/** The trace that the run began in, for its next rounds. */
function traced(
  request: RunRequest,
  opened: RepeatableState | undefined,
): Pick<RepeatableState, "traceparent"> {
  const traceparent = firstTraceparentOf(request, opened);
  return traceparent === undefined ? {} : { traceparent };
}

function lazy(make: () => string): () => string {
  let value: string | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
