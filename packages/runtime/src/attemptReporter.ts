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
import type { AskKind, AttemptCause, AttemptEnd, RunFacts, RunNews, StepEnd } from "./observer.ts";
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

/** The process's reporter, as those of its attempts use it. */
export interface Telling {
  readonly instance: string;
  readonly clock: Clock;
  tell(news: RunNews): void;
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
  /** Shared by all news until the run has an id, or the attempt another number in the store. */
  #facts: RunFacts | undefined;
  /** Told with what comes next (G1). */
  #held: ((run: RunFacts) => RunNews)[] | undefined;

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
    const at = this.#process.clock.now();
    this.#tell({ run: this.#run, at, type: "step_started", step, try: tries, undo });
  }

  /** An entry is durable, or becomes so with the next write. */
  recorded(entry: Entry): void {
    if (entry.kind === "step_completed") this.stepEnded(entry.name, "completed");
    else if (entry.kind === "step_failed") this.stepEnded(entry.name, entry.outcome);
  }

  /** How a step ended is durable. */
  stepEnded(step: string, outcome: StepEnd, undo = false): void {
    this.#tell(this.#ended(step, outcome, undo)(this.#run));
  }

  /** A step was given up between two tries: recorded with the end of the attempt. */
  stepAbandoned(step: string, isUncertain: boolean): void {
    this.#hold(this.#ended(step, isUncertain ? "uncertain" : "not_done", false));
  }

  /** An answer was taken. @param askedAt when its question was first sent; undefined where that was not recorded */
  answered(kind: AskKind, entry: AnswerTaken, askedAt: number | undefined): void {
    const waitedMs = askedAt === undefined ? 0 : Math.max(0, this.#begunAt - askedAt);
    const [at, action] = [this.#process.clock.now(), actionOf(entry)];
    this.#hold((run) => ({ run, at, type: "answered", key: entry.key, kind, action, waitedMs }));
  }

  /** The attempt ended with questions, which are recorded. */
  asked(pending: readonly PendingAsk[], until: number): void {
    const asks = pending.map(({ key, kind = "elicit" }) => ({ key, kind }));
    this.#tell({ run: this.#run, at: this.#process.clock.now(), type: "asked", asks, until });
    this.ended("suspended", "waiting");
  }

  /** The attempt has ended, and that is recorded where there is a record. @param code of an error response */
  ended(outcome: AttemptEnd, status: RunStatus | undefined, code?: string): void {
    // G3
    if (outcome === "lost") this.#held = undefined;
    const [run, at] = [this.#run, this.#process.clock.now()];
    const type = "attempt_ended";
    const durationMs = this.#msSince(this.#since);
    if (code === undefined) this.#tell({ run, at, type, outcome, durationMs, status });
    else this.#tell({ run, at, type, outcome, code, durationMs, status });
  }

  #ended(step: string, outcome: StepEnd, undo: boolean): (run: RunFacts) => RunNews {
    const begun = this.#steps?.get(undo ? `undo ${step}` : step);
    const durationMs = begun === undefined ? 0 : this.#msSince(begun.since);
    const [at, tries] = [this.#process.clock.now(), begun?.tries ?? 0];
    return (run) => ({ run, at, type: "step_ended", step, outcome, tries, durationMs, undo });
  }

  #msSince(monotonic: number): number {
    return Math.round((this.#process.clock.monotonic() - monotonic) * 1000) / 1000;
  }

  #hold(told: (run: RunFacts) => RunNews): void {
    this.#held ??= [];
    this.#held.push(told);
  }

  #tell(news: RunNews): void {
    this.#begin();
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) for (const earlier of held) this.#process.tell(earlier(news.run));
    this.#process.tell(news);
  }

  /** G2 */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { begun, firstTraceparent } = this.#attempt;
    const { cause, queuedMs, traceparent } = begun;
    const [run, at] = [this.#run, this.#begunAt];
    const started: RunNews = { run, at, type: "attempt_started", cause };
    const isTraced = traceparent !== undefined || firstTraceparent !== undefined;
    if (queuedMs === undefined && !isTraced) return this.#process.tell(started);
    this.#process.tell({
      ...started,
      ...(queuedMs === undefined ? {} : { queuedMs }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(firstTraceparent === undefined ? {} : { firstTraceparent }),
    });
  }

  /** A literal without spreads: V8 gives those hidden classes that only a full collection frees. */
  get #run(): RunFacts {
    const ref = this.#attempt.ref();
    const known = this.#facts;
    if (known !== undefined && known.runId === ref?.runId && known.epoch === (ref?.epoch ?? 0))
      return known;
    const { handler, effects, caller, client, round, runStartedAt } = this.#attempt;
    const { kind, name, version } = handler;
    this.#facts = {
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
    };
    return this.#facts;
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
