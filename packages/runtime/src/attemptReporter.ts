/**
 * Tells observers what happens in one attempt (observer.ts). Made by a lane, told by the attempt's parts and by the lane.
 *
 * G1 What becomes durable with the next write is told with what is told next: answers that were taken, a step given up.
 * G2 The beginning of an attempt whose run has no id yet is told once it has one, or with the attempt's end: so all events of a
 *    recorded run name it.
 * G3 What an attempt that lost its run did not record is never told.
 */
import type { AnswerTaken, Entry } from "@reprise/journal";
import type { Caller, ClientIdentity } from "./caller.ts";
import type { Clock } from "./clock.ts";
import type { AskKind, AttemptCause, AttemptEnd, RunEvent, RunFacts, StepEnd } from "./observer.ts";
import type { PendingAsk, RunHead, RunStatus } from "./runRecord.ts";
import type { CompiledHandler, RunMethod, RunRequest } from "./runtimeTypes.ts";
import { traceparentOf } from "./traceparent.ts";

/** What a lane knows of the attempt that it begins. */
export interface ReportedAttempt {
  readonly handler: Pick<CompiledHandler, "kind" | "name" | "version">;
  readonly effects: RunFacts["effects"];
  readonly caller: Caller;
  readonly client: ClientIdentity;
  readonly round: number;
  readonly runStartedAt: number;
  /** The run, once it has an id, and the attempt's number in the store, 0 without a record. Asked at every event. */
  readonly ref: () => { readonly runId: string; readonly epoch: number } | undefined;
  readonly begun: Begun;
  /** `traceparent` of the run's first request. */
  readonly firstTraceparent: string | undefined;
}

/** How an attempt came to begin. */
export interface Begun {
  readonly cause: AttemptCause;
  /** How long it waited for a worker, in milliseconds; undefined where none is waited for. */
  readonly queuedMs?: number | undefined;
  /** `_meta.traceparent` of the request. */
  readonly traceparent?: string | undefined;
}

/** How a request's attempt came to begin. @param claimed what its claim gave; undefined: the run has no record yet */
export function begunBy(
  request: Pick<RunRequest, "params" | "traceparent">,
  claimed?: { readonly record: { readonly head: RunHead }; readonly takeover: boolean },
): Begun {
  const traceparent = request.traceparent ?? traceparentOf(request.params);
  const cause = claimed === undefined ? "call" : causeOf(claimed.record.head, claimed.takeover);
  return { cause, traceparent };
}

/** Why a claim was given the attempt that `head` shows. */
export function causeOf(
  { epoch, brought }: Pick<RunHead, "epoch" | "brought">,
  takeover: boolean,
): AttemptCause {
  if (takeover) return "takeover";
  if (Object.keys(brought).length > 0) return "answer";
  return epoch === 1 ? "call" : "again";
}

type Bare<E> = E extends unknown ? Omit<E, keyof RunFacts> : never;
type Told = Bare<RunEvent>;

/** The process's reporter, as those of its attempts use it. */
export interface Telling {
  readonly instance: string;
  readonly clock: Clock;
  tell(event: RunEvent): void;
}

/** A step that this attempt has begun. */
interface BegunStep {
  readonly since: number;
  tries: number;
}

const methods: Readonly<Record<CompiledHandler["kind"], RunMethod>> = {
  tool: "tools/call",
  prompt: "prompts/get",
  resource: "resources/read",
  resourceTemplate: "resources/read",
};

/** One attempt's reporter. Nothing but what most attempts need is made before it is needed: a call may be held open for days. */
export class AttemptReporter {
  readonly #attempt: ReportedAttempt;
  /** Of this process's attempts. */
  readonly #number: number;
  readonly #process: Telling;
  readonly #since: number;
  readonly #begunAt: number;
  #isBegun = false;
  #steps: Map<string, BegunStep> | undefined;
  /** Told with what comes next (G1). */
  #held: { readonly at: number; readonly event: Told }[] | undefined;

  constructor(attempt: ReportedAttempt, number: number, telling: Telling) {
    this.#attempt = attempt;
    this.#number = number;
    this.#process = telling;
    this.#since = telling.clock.monotonic();
    this.#begunAt = telling.clock.now();
    if (attempt.ref() !== undefined) this.#begin();
  }

  /** A try of a step begins. */
  stepStarted(step: string, tries: number, undo = false): void {
    const name = undo ? `undo ${step}` : step;
    this.#steps ??= new Map();
    const known = this.#steps.get(name);
    if (known === undefined)
      this.#steps.set(name, { since: this.#process.clock.monotonic(), tries });
    else known.tries = tries;
    this.#now({ type: "step_started", step, try: tries, undo });
  }

  /** An entry is durable, or becomes so with the next write. */
  recorded(entry: Entry): void {
    if (entry.kind === "step_completed") this.stepEnded(entry.name, "completed");
    else if (entry.kind === "step_failed") this.stepEnded(entry.name, entry.outcome);
  }

  /** How a step ended is durable. */
  stepEnded(step: string, outcome: StepEnd, undo = false): void {
    this.#now(this.#ended(step, outcome, undo));
  }

  /** A step was given up between two tries: recorded with the end of the attempt. */
  stepAbandoned(step: string, isUncertain: boolean): void {
    this.#hold(this.#ended(step, isUncertain ? "uncertain" : "not_done", false));
  }

  /** An answer was taken. @param askedAt when its question was first sent; undefined where that was not recorded */
  answered(kind: AskKind, entry: AnswerTaken, askedAt: number | undefined): void {
    const waitedMs = askedAt === undefined ? 0 : Math.max(0, this.#begunAt - askedAt);
    this.#hold({ type: "answered", key: entry.key, kind, action: actionOf(entry), waitedMs });
  }

  /** The attempt ended with questions, which are recorded. */
  asked(pending: readonly PendingAsk[], until: number): void {
    const asks = pending.map(({ key, kind = "elicit" }) => ({ key, kind }));
    this.#now({ type: "asked", asks, until });
    this.ended("suspended", "waiting");
  }

  /** The attempt has ended, and that is recorded where there is a record. @param code of an error response */
  ended(outcome: AttemptEnd, status: RunStatus | undefined, code?: string): void {
    // G3
    if (outcome === "lost") this.#held = undefined;
    const durationMs = this.#msSince(this.#since);
    if (code === undefined) this.#now({ type: "attempt_ended", outcome, durationMs, status });
    else this.#now({ type: "attempt_ended", outcome, code, durationMs, status });
  }

  #ended(step: string, outcome: StepEnd, undo: boolean): Told {
    const begun = this.#steps?.get(undo ? `undo ${step}` : step);
    const durationMs = begun === undefined ? 0 : this.#msSince(begun.since);
    return { type: "step_ended", step, outcome, tries: begun?.tries ?? 0, durationMs, undo };
  }

  #msSince(monotonic: number): number {
    return Math.round((this.#process.clock.monotonic() - monotonic) * 1000) / 1000;
  }

  #hold(event: Told): void {
    this.#held ??= [];
    this.#held.push({ at: this.#process.clock.now(), event });
  }

  #now(event: Told): void {
    this.#begin();
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) for (const { at, event: earlier } of held) this.#tell(at, earlier);
    this.#tell(this.#process.clock.now(), event);
  }

  /** G2 */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { begun, firstTraceparent } = this.#attempt;
    const { cause, queuedMs, traceparent } = begun;
    const started: Told = { type: "attempt_started", cause };
    const isTraced = traceparent !== undefined || firstTraceparent !== undefined;
    if (queuedMs === undefined && !isTraced) return this.#tell(this.#begunAt, started);
    this.#tell(this.#begunAt, {
      ...started,
      ...(queuedMs === undefined ? {} : { queuedMs }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(firstTraceparent === undefined ? {} : { firstTraceparent }),
    });
  }

  #tell(at: number, event: Told): void {
    this.#process.tell(Object.assign(this.#facts(at), event));
  }

  /** A new object each time, and a literal without spreads: V8 gives those hidden classes that only a full collection frees. */
  #facts(at: number): RunFacts {
    const { handler, effects, caller, client, round, runStartedAt } = this.#attempt;
    const { kind, name, version } = handler;
    const ref = this.#attempt.ref();
    return {
      runId: ref?.runId,
      method: methods[kind],
      handler: { kind, name },
      effects,
      principal: caller.principal,
      client: client.info?.name,
      protocolVersion: client.protocolVersion,
      round,
      epoch: ref?.epoch ?? 0,
      version,
      runStartedAt,
      instance: this.#process.instance,
      attempt: this.#number,
      at,
    };
  }
}

function actionOf({
  answer,
  error,
}: AnswerTaken): "accept" | "decline" | "cancel" | "error" | "result" {
  if (error !== undefined) return "error";
  const action =
    typeof answer === "object" && answer !== null && "action" in answer
      ? answer["action"]
      : undefined;
  return action === "accept" || action === "decline" || action === "cancel" ? action : "result";
}
