/**
 * What the lanes of the engine share.
 */
import { RepriseError } from "@reprise/errors";
import type { ScheduleTurn } from "@reprise/journal";
import type { Attempt } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import type { RunnableHandler } from "./compile.ts";
import { deadlineMs } from "./deadline.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Elicitations } from "./elicitations.ts";
import type { LiveMember, LiveSet } from "./liveSet.ts";
import type { Logger } from "./logger.ts";
import type { RestingAttempts } from "./restingAttempts.ts";
import type { RunReporter } from "./runReporter.ts";
import type { Catalog, RunRequest } from "./runtimeTypes.ts";
import type { StateTokens } from "./stateTokens.ts";
import type { RunStore } from "./storePort.ts";

/** An attempt of this process, as a drain sees it. */
interface RunningAttempt extends LiveMember {
  stop(reason?: RepriseError): void;
}

/** Everything that a lane needs. */
export interface EngineDeps {
  readonly catalog: Catalog;
  readonly store: RunStore | undefined;
  /** Where handlers run; undefined: in this process. */
  readonly dispatcher: Dispatcher | undefined;
  readonly tokens: StateTokens;
  readonly clock: Clock;
  readonly turn: ScheduleTurn;
  readonly log: Logger;
  readonly audience: string;
  readonly elicitations: Elicitations;
  readonly requestStateLifetimeMs: number;
  readonly replayStallMs: number;
  readonly settleGraceMs: number;
  /** How long a joiner waits before it gets IN_FLIGHT. */
  readonly joinTimeoutMs: number;
  /** Random text of at least 128 bits, base64url. */
  readonly random: () => string;
  /** Whether the process drains: no attempt begins any more. */
  readonly isDraining: () => boolean;
  /** Told when an attempt begins and ends: draining waits for the running ones. */
  readonly attempts: LiveSet<RunningAttempt>;
  /** Tells observers; undefined when there are none. */
  readonly reporter: RunReporter | undefined;
  /** Has the sweep look at a run now, where there is one: nobody else may come for it. */
  readonly look: (runId: string) => void;
  /** Handlers that wait for answers in this process. */
  readonly resting: RestingAttempts<Attempt>;
}

/** Expiry of a state that is sealed now for this handler. */
export function stateExpiry(deps: EngineDeps, handler: RunnableHandler): number {
  return (
    deps.clock.now() +
    Math.min(handler.answerWithinMs ?? deps.requestStateLifetimeMs, deps.requestStateLifetimeMs)
  );
}

/** The handler of a request: only this package makes handlers, and all of them can run. */
export function runnable(request: Pick<RunRequest, "handler">): RunnableHandler {
  return request.handler as RunnableHandler;
}

/** Rounds after which official clients give up (8 in ours, 8 or 10 in others). */
const CLIENT_ROUNDS = 8;

/** Says in time that a run asks more often than clients go along with (docs/design.md 13). */
export function warnOfRounds(
  deps: EngineDeps,
  runId: string,
  round: number,
  handler: RunnableHandler,
): void {
  if (round !== CLIENT_ROUNDS) return;
  deps.log.warn(
    { event: "many_rounds", run: runId, round, handler: handler.name },
    `${handler.label} asks for round ${round} of one call; clients give up after about that many: put questions that don't depend on each other into one round`,
  );
}

/** Tells the author at start which schemas callers could use against the process; they are checked under a deadline. */
export function warnOfSchemas(log: Logger, risks: readonly string[]): void {
  for (const risk of risks) {
    log.warn(
      { event: "schema_may_be_slow" },
      `${risk}; inputs are given up after ${deadlineMs} ms of checking: simplify it, or limit lengths before it`,
    );
  }
}

/** Why a draining process stops an attempt. Told apart from other stops by its data. */
export function drained(): RepriseError {
  return new RepriseError("INTERRUPTED", "the server is stopping; repeat the same request", {
    data: { draining: true, retryAfterMs: 1000 },
  });
}

/** Whether a stop came from `drained`. */
export function isDrain(error: RepriseError | undefined): boolean {
  return error?.data?.["draining"] === true;
}
