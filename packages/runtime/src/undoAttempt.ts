/**
 * One attempt that undoes a run: the handler is replayed for its undo functions, then they are called (docs/design.md 4.5).
 *
 * Made for every claim of a run whose head has `undo`, whoever claimed it. Nothing live of the handler starts.
 *
 * H1 Undo functions are called one after the other, the newest step's first, and each is recorded before the next is called. A
 *    recorded one is never called again.
 * H2 Nobody stops it but a drain, and that only between two functions or two tries; then the run is given back.
 * H3 A function that fails for good parks the run, and those of older steps are not called: they may rest on what still stands.
 * H4 A handler that does not come to what is to be undone, or has no undo function for it any more, does not fit its journal.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { type Entry, undoneSteps } from "@reprise/journal";
import { Attempt } from "./attempt.ts";
import { type AttemptOutcome, Fenced } from "./attemptOutcome.ts";
import type { AttemptReporter } from "./attemptReporter.ts";
import type { StepOptions } from "./contextTypes.ts";
import { drained, type EngineDeps, isDrain } from "./engineDeps.ts";
import { controllerForMany } from "./manyListeners.ts";
import { mismatchError, undoMisfit } from "./mismatch.ts";
import type { OnceOutcome, OnceStart, RunningOnce } from "./onceAttempt.ts";
import { contextOf, logOf, portsOf, startOf } from "./onceParts.ts";
import { reporterOf } from "./onceReport.ts";
import type { OnceSink } from "./onceSink.ts";
import { reasonOf, undoFailed, withUndone } from "./replies.ts";
import type { RunHead, RunUndo } from "./runRecord.ts";
import { runStep, type StepOutcome } from "./stepRun.ts";
import type { RoundEnd } from "./storePort.ts";
import { type StepToUndo, standingSteps } from "./undoFunctions.ts";

const noFacts = { marks: {}, settled: {}, stepStarts: false };

/** Starts the attempt. A request that is gone does not stop it, and the run can't be cancelled any more. */
export function startUndo(
  deps: EngineDeps,
  sink: OnceSink,
  from: OnceStart,
  head: RunHead,
  undo: RunUndo,
): RunningOnce {
  from.resting?.abandon();
  const work = new UndoWork(deps, sink, from, head, undo);
  const stop = (reason?: RepriseError): void => {
    if (isDrain(reason)) work.drain();
  };
  const running = { slot: -1, stop };
  deps.attempts.add(running);
  const conclude = async (): Promise<OnceOutcome> => {
    try {
      return await work.run();
    } finally {
      sink.close();
      deps.attempts.delete(running);
    }
  };
  return { outcome: conclude(), stop, cancel: () => undefined };
}

class UndoWork {
  readonly #deps: EngineDeps;
  readonly #sink: OnceSink;
  readonly #from: OnceStart;
  readonly #head: RunHead;
  readonly #undo: RunUndo;
  readonly #report: AttemptReporter | undefined;
  readonly #attempt: Attempt;
  /** Forbids further functions and tries: the process drains, or another has the run. */
  readonly #over = controllerForMany();
  /** Aborts the running function: another has the run. */
  readonly #lost = controllerForMany();
  readonly #entries: Entry[];

  constructor(deps: EngineDeps, sink: OnceSink, from: OnceStart, head: RunHead, undo: RunUndo) {
    // What the handler tells its caller was told when it went on; a handler is not kept for what comes after.
    const replayed: OnceStart = { ...from, notifications: undefined, rests: false };
    this.#deps = deps;
    this.#sink = sink;
    this.#from = replayed;
    this.#head = head;
    this.#undo = undo;
    this.#report = deps.reporter && reporterOf(deps.reporter, sink, from);
    this.#attempt = new Attempt(startOf(replayed), portsOf(deps, sink, replayed, undefined));
    this.#entries = [...from.entries];
  }

  drain(): void {
    this.#over.abort();
    this.#attempt.stop(drained());
  }

  /** Never rejects. */
  async run(): Promise<OnceOutcome> {
    const fenced = (): void => {
      this.#over.abort();
      this.#lost.abort();
      this.#attempt.fence();
    };
    const log = logOf(this.#deps, this.#from);
    this.#sink.attach({ fenced, stopping: () => undefined, cancelled: fenced }, log);
    const { handler, args } = this.#from;
    const ended = await this.#attempt.run(() =>
      handler.run(args, contextOf(this.#attempt, this.#from)),
    );
    await this.#attempt.cleanedUp();
    try {
      return await this.#goOn(ended);
    } catch (error) {
      this.#report?.ended("lost", undefined);
      if (error instanceof Fenced) return { kind: "fenced" };
      if (isRepriseError(error)) return { kind: "failed", error };
      const message = "what was undone could not be recorded";
      return {
        kind: "failed",
        error: new RepriseError("STORE_UNAVAILABLE", message, {
          cause: error,
          data: { retryAfterMs: 1000 },
        }),
      };
    }
  }

  #goOn(ended: AttemptOutcome): Promise<OnceOutcome> {
    switch (ended.kind) {
      case "replayed":
        return this.#undoAll();
      case "mismatched":
        return this.#unfit(mismatchError(ended.misfit, this.#from.handler.label, this.#versions));
      case "interrupted":
        // One that is too slow to be replayed is as good as one that does not fit.
        return ended.error === undefined || isDrain(ended.error)
          ? this.#givenBack()
          : this.#unfit(ended.error);
      case "unrecorded":
        throw ended.error;
      default:
        throw new Fenced("another attempt undoes the run");
    }
  }

  async #undoAll(): Promise<OnceOutcome> {
    const { undos } = this.#attempt;
    const done = { entries: this.#entries, marked: Object.keys(this.#head.marks) };
    const missing = undos.missing(done, this.#head.undoable);
    if (missing !== undefined) {
      const misfit = undoMisfit(missing, this.#entries);
      return this.#unfit(mismatchError(misfit, this.#from.handler.label, this.#versions));
    }
    for (const step of undos.toUndo(done)) {
      if (this.#over.signal.aborted) return this.#givenBack();
      const outcome = await this.#call(step);
      if (outcome.kind === "abandoned") return this.#givenBack();
      if (outcome.kind === "failed") return this.#parked(step.name, outcome.cause);
      const { name } = step;
      const entry: Entry = { kind: "step_undone", name, at: this.#deps.clock.now() };
      await this.#sink.write({ ...noFacts, entries: [entry] }, true);
      this.#entries.push(entry);
      this.#report?.stepEnded(name, "completed", true);
    }
    return this.#undone();
  }

  /** Calls one undo function, with the tries that its step has. */
  async #call({ name, result, how }: StepToUndo): Promise<StepOutcome> {
    let unsure: Error | undefined;
    const outcome = await runStep<undefined>({
      name,
      kind: "undo",
      owner: this.#attempt,
      fn: async (step) => {
        await how.undo(result, { ...step, stepIdempotencyKey: how.stepIdempotencyKey });
        return undefined;
      },
      // What the step does when it is uncertain says nothing of its undo.
      options: withoutPolicy(how.options),
      idempotencyKey: how.idempotencyKey,
      // An earlier attempt may have called it.
      maybeStartedAt: (this.#undo.attempts ?? 1) > 1 ? this.#undo.triedAt : undefined,
      cut: this.#lost.signal,
      stop: this.#over.signal,
      confirm: () =>
        this.#sink.confirm()?.catch((error: unknown) => {
          unsure = error instanceof Error ? error : new Error(String(error));
          throw error;
        }),
      onTry: (tries) => this.#report?.stepStarted(name, tries, true),
      clock: this.#deps.clock,
    });
    if (unsure !== undefined) throw unsure;
    if (this.#lost.signal.aborted) throw new Fenced("the lease is lost");
    return outcome;
  }

  async #undone(): Promise<OnceOutcome> {
    const done = { entries: this.#entries, marked: Object.keys(this.#head.marks) };
    const keyFree = !this.#head.openStepPossible && standingSteps(done).size === 0;
    const response = withUndone(this.#undo.response, [...undoneSteps(this.#entries)]);
    await this.#end({ to: "undone", response, keyFree });
    this.#report?.ended("undone", "undone", codeOf(response));
    return { kind: "recorded", response, failed: true };
  }

  async #parked(step: string, cause: unknown): Promise<OnceOutcome> {
    const { runId } = this.#from.origin();
    const { round } = this.#head;
    const error = undoFailed(runId, round, step, [...undoneSteps(this.#entries)]);
    logOf(this.#deps, this.#from).error({ err: cause, step }, "a step could not be undone");
    await this.#end({ to: "parked", response: reasonOf(error) });
    this.#report?.stepEnded(step, "failed", true);
    this.#report?.ended("parked", "parked", error.code);
    return { kind: "failed", error };
  }

  async #unfit(error: RepriseError): Promise<OnceOutcome> {
    const log = logOf(this.#deps, this.#from);
    log.error({ err: error }, "a handler does not fit the journal to be undone");
    await this.#end({ to: "mismatched", why: reasonOf(error) });
    this.#report?.ended("mismatched", "mismatched", error.code);
    return { kind: "failed", error };
  }

  async #givenBack(): Promise<OnceOutcome> {
    await this.#end({ to: "released" });
    this.#report?.ended("released", "running");
    return { kind: "failed", error: drained() };
  }

  get #versions(): { readonly recorded: string; readonly now: string } {
    return { recorded: this.#head.entriesVersion, now: this.#from.handler.version };
  }

  #end(end: RoundEnd): Promise<void> {
    return this.#sink.end({ ...noFacts, entries: [] }, end);
  }
}

function withoutPolicy(options: StepOptions<unknown>): StepOptions<undefined> {
  const { onUncertain: _policy, undo: _undo, ...rest } = options;
  return rest;
}

function codeOf(response: RunUndo["response"]): string | undefined {
  return response.kind === "error" ? response.code : undefined;
}
