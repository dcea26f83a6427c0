/**
 * Runs whose effects may repeat: the token carries the journal, the store is never touched (docs/design.md 4.1).
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { Entry } from "@reprise/journal";
import type { Answers } from "./answers.ts";
import { Attempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attemptOutcome.ts";
import type { AttemptPorts, AttemptStart } from "./attemptStart.ts";
import { onCancelled } from "./cancellation.ts";
import { createContext } from "./context.ts";
import type { Context } from "./contextTypes.ts";
import { type EngineDeps, runnable, stateExpiry, warnOfRounds } from "./engineDeps.ts";
import { mismatchError } from "./mismatch.ts";
import { growing } from "./notifications.ts";
import { elicitationIdsOf, inputRequestsOf, replyOfRecorded, runCancelled } from "./replies.ts";
import { failureResponse } from "./results.ts";
import type { PendingAsk } from "./runRecord.ts";
import type { RunReply, RunRequest } from "./runtimeTypes.ts";
import type { RepeatableState } from "./stateTokens.ts";

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
  const runId = lazy(() => opened?.run ?? request.runId ?? deps.random());
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
  const ports: AttemptPorts = {
    clock: deps.clock,
    turn: deps.turn,
    log: deps.log,
    sink: noSink,
    elicitations: deps.elicitations,
    replayStallMs: deps.replayStallMs,
    settleGraceMs: deps.settleGraceMs,
    timeoutMs: handler.timeoutMs,
    asksChecked: request.notifications?.asksChecked,
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
  switch (outcome.kind) {
    case "returned":
      try {
        return { kind: "complete", result: await handler.render(outcome.value, request.target) };
      } catch (error) {
        return failed(deps, request, error, runId());
      }
    case "threw":
      return failed(deps, request, outcome.error, runId());
    case "suspended": {
      warnOfRounds(deps, runId(), round + 1, handler.label);
      const state: RepeatableState = {
        kind: "repeatable",
        run: runId(),
        round: round + 1,
        seed: seed(),
        startedAt,
        version: handler.version,
        entries: attempt.entries,
        state: attempt.stateAtEnd,
        pending: outcome.pending.map(({ key, question, changes, text, unfinished }) => ({
          key,
          question,
          changes,
          text: changes === 0 ? "" : text,
          ...(unfinished === 0 ? {} : { unfinished }),
        })),
      };
      const answerBeforeMs = stateExpiry(deps, handler);
      await deps.elicitations.open(outcome.pending, request.caller.person, answerBeforeMs);
      const requestState = await deps.tokens.seal(
        state,
        deps.tokens.bindingOf(request),
        answerBeforeMs,
      );
      // Cancelled since: nobody goes on with it.
      if (attempt.isResting && request.cancelled?.aborted === true) attempt.abandon();
      if (attempt.isResting) {
        const entryCount = attempt.entries.length;
        deps.resting.keep(runId(), attempt, round + 1, entryCount, answerBeforeMs);
      }
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
    case "unrecorded":
      throw new RepriseError("INTERNAL", "a run without a record can't lose one");
  }
}

function failed(deps: EngineDeps, request: RunRequest, error: unknown, runId: string): RunReply {
  if (!isRepriseError(error))
    deps.log.error({ err: error, run: runId, handler: request.handler.name }, "the handler failed");
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

function lazy(make: () => string): () => string {
  let value: string | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
