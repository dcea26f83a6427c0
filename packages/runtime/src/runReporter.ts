/**
 * Tells observers what happens to the runs of this process (observer.ts).
 *
 * Made by `createRuntime` when there are observers, and only then: without them nothing is built, timed or told. Called by the lanes,
 * the sweep, cancellation and whoever refuses states; attempts tell through a reporter of their own.
 *
 * V1 and V2 of observer.ts are kept here and in attemptReporter.ts.
 */
import { AttemptReporter, type ReportedAttempt, type Telling } from "./attemptReporter.ts";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { NewsOf, RefusedState, RunFacts, RunNews, RunObserver } from "./observer.ts";
import type { RunHead, RunOrigin } from "./runRecord.ts";

/** A run as its record shows it. */
interface Recorded {
  readonly origin: RunOrigin;
  readonly head: Pick<RunHead, "status" | "round" | "epoch" | "version">;
}

/** What was done to a run from outside an attempt. */
type Action = NewsOf<"acted">["action"];

/** One process's reporter. */
export class RunReporter implements Telling {
  readonly instance: string;
  readonly clock: Clock;
  readonly #observers: readonly RunObserver[];
  readonly #log: Logger;
  /** Of this process so far. */
  #attempts = 0;
  /** Observers that have thrown before. */
  readonly #failing = new Set<RunObserver>();

  /** @param instance what events call this process */
  constructor(observers: readonly RunObserver[], instance: string, clock: Clock, log: Logger) {
    this.#observers = observers;
    this.instance = instance;
    this.clock = clock;
    this.#log = log;
  }

  /** A reporter for an attempt that begins now. */
  attempt(attempt: ReportedAttempt): AttemptReporter {
    this.#attempts += 1;
    return new AttemptReporter(attempt, this.#attempts, this);
  }

  /** A request was answered from the record of a run that it did not execute. */
  replayed(record: Recorded): void {
    const at = this.clock.now();
    this.tell({ run: this.#factsOf(record), at, type: "replayed", status: record.head.status });
  }

  /** Something was done to a run from outside an attempt; `head` is what it left. */
  acted(record: Recorded, action: Action): void {
    const [run, at] = [this.#factsOf(record), this.clock.now()];
    this.tell({ run, at, type: "acted", action, status: record.head.status });
  }

  /** A request state was refused. */
  refused(cause: string): void {
    const event: RefusedState = { type: "state_refused", cause, at: this.clock.now() };
    for (const observer of this.#observers) {
      try {
        this.#noted(observer, observer.refused?.(event));
      } catch (error) {
        this.#failed(observer, error);
      }
    }
  }

  #factsOf({ origin, head }: Recorded): RunFacts {
    const { runId, method, handler, caller, client, startedAt } = origin;
    return {
      ...{ runId, method, handler, effects: "once" },
      principal: caller.principal,
      client: client.info?.name,
      protocolVersion: client.protocolVersion,
      ...{ round: head.round, epoch: head.epoch, version: head.version },
      runStartedAt: startedAt,
      instance: this.instance,
    };
  }

  /** V1 */
  tell(news: RunNews): void {
    for (const observer of this.#observers) {
      try {
        this.#noted(observer, observer.run?.(news));
      } catch (error) {
        this.#failed(observer, error);
      }
    }
  }

  /** An observer that returns a promise after all must not end the process with its rejection. */
  #noted(observer: RunObserver, returned: unknown): void {
    if (!(returned instanceof Promise)) return;
    returned.catch((error: unknown) => this.#failed(observer, error));
  }

  #failed(observer: RunObserver, error: unknown): void {
    if (this.#failing.has(observer)) return;
    this.#failing.add(observer);
    this.#log.error(
      { err: error },
      "an observer of runs threw; runs go on, and this is logged once for each observer",
    );
  }
}
