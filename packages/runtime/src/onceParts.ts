/**
 * What an attempt of a once run is made of, from what its claim gave: used for attempts that go on, and for those that undo.
 */
import { withoutUndone } from "@reprise/journal";
import type { Attempt } from "./attempt.ts";
import type { AttemptReporter } from "./attemptReporter.ts";
import type { AttemptPorts, AttemptStart } from "./attemptStart.ts";
import { createContext } from "./context.ts";
import type { Context } from "./contextTypes.ts";
import type { EngineDeps } from "./engineDeps.ts";
import type { OnceStart } from "./onceAttempt.ts";
import type { OnceSink } from "./onceSink.ts";
import { RunLog } from "./runLog.ts";
import type { RunOrigin } from "./runRecord.ts";

const nothing = {};
const none: readonly never[] = [];

/** What the attempt starts from. */
export function startOf({ handler, head, entries, startedAt, client }: OnceStart): AttemptStart {
  return {
    entries: head?.undo === undefined ? entries : withoutUndone(entries),
    brought: head?.brought ?? nothing,
    unasked: nothing,
    pending: head?.pending ?? none,
    state: head?.state ?? nothing,
    drafts: head?.drafts ?? nothing,
    marks: head?.marks ?? nothing,
    passable: head?.passable ?? none,
    openStepSince: head?.openStepSince,
    stepStarted: head?.stepStarted ?? false,
    stepsMarked: head?.stepsMarked === true,
    undoes: head?.undo !== undefined,
    startedAt,
    round: head?.round ?? 0,
    version: handler.version,
    recordedVersion: head?.askedVersion ?? handler.version,
    capabilities: client.capabilities,
  };
}

/** What the attempt works with. */
export function portsOf(
  deps: EngineDeps,
  sink: OnceSink,
  from: OnceStart,
  report: AttemptReporter | undefined,
): AttemptPorts {
  const { handler, notifications, rests } = from;
  return {
    clock: deps.clock,
    turn: deps.turn,
    log: logOf(deps, from),
    sink,
    elicitations: deps.elicitations,
    replayStallMs: deps.replayStallMs,
    settleGraceMs: deps.settleGraceMs,
    timeoutMs: handler.timeoutMs,
    asksChecked: notifications?.asksChecked,
    report,
    rests: rests === true,
  };
}

/** The handler's `ctx`. */
export function contextOf(attempt: Attempt, from: OnceStart): Context {
  const { origin, caller, client, notifications, logLevel, handler } = from;
  return createContext(attempt, {
    runId: () => origin().runId,
    seed: () => origin().seed,
    keySource: () => keySourceOf(origin()),
    caller,
    client,
    notifications,
    logLevel,
    keepsMarks: true,
    canUndo: true,
    handlerName: handler.label,
  });
}

/** What step keys are derived from: stable over the runs of one idempotency key until it is free. */
function keySourceOf(origin: RunOrigin): string {
  return origin.key === undefined ? origin.runId : `${origin.key.scope}:${origin.key.generation}`;
}

/** Its lines say of which run they are. */
export function logOf({ log }: EngineDeps, { origin, head, handler }: OnceStart): RunLog {
  const runId = (): string => origin().runId;
  return new RunLog(log, runId, head?.round ?? 0, handler.name);
}
