/**
 * Counts what happens to runs. Given to a runtime as an observer.
 *
 * M1 Of a run nothing is kept but an open question's deadline, and events until they are counted: at most `MAX_UNCOUNTED`, and none
 *    when somebody reads the figures. Counting many at once costs the calls that they are of a fraction of counting each.
 * M2 Every run is counted once as ended, by the instance that recorded its end.
 */
import type { NewsOf, RefusedState, RunNews, RunObserver } from "@reprise/runtime";
import { type AbandonmentOptions, Abandonments } from "./abandonments.ts";
import { clientLabel } from "./clientNames.ts";
import type { Metrics } from "./registry.ts";
import { type RunMetrics, runMetrics } from "./runMetrics.ts";

/** What it is made with. */
export interface MetricsObserverOptions {
  /** Looks up runs whose deadline has passed; without it no question counts as abandoned. */
  readonly abandonments?: AbandonmentOptions;
}

/** An observer that fills the metrics of runs. */
export interface MetricsObserver extends RunObserver {
  run(news: RunNews): void;
  refused(event: RefusedState): void;
  /** Stops looking for abandoned questions. Idempotent. */
  close(): void;
}

/** Adds the metrics of runs to a registry, once for each registry. */
export function metricsObserver(
  metrics: Metrics,
  { abandonments }: MetricsObserverOptions = {},
): MetricsObserver {
  return new Counting(metrics, abandonments);
}

/** Causes are words of ours; should a sealer make others up, they are one. */
const causeForm = /^[a-z][a-z_]{0,39}$/;
const MAX_CAUSES = 50;
const MAX_UNCOUNTED = 256;

class Counting implements MetricsObserver {
  readonly #metrics: RunMetrics;
  readonly #abandonments: Abandonments | undefined;
  readonly #causes = new Set<string>();
  #uncounted: RunNews[] = [];

  constructor(registry: Metrics, abandonments: AbandonmentOptions | undefined) {
    const metrics = runMetrics(registry, () => this.#countAll());
    this.#metrics = metrics;
    this.#abandonments =
      abandonments && new Abandonments(abandonments, (client) => metrics.abandoned.inc({ client }));
  }

  close(): void {
    this.#abandonments?.close();
  }

  run(news: RunNews): void {
    if (news.type === "asked") this.#watch(news);
    this.#uncounted.push(news);
    if (this.#uncounted.length >= MAX_UNCOUNTED) this.#countAll();
  }

  #countAll(): void {
    const events = this.#uncounted;
    if (events.length === 0) return;
    this.#uncounted = [];
    for (const event of events) this.#count(event);
  }

  #count(event: RunNews): void {
    const metrics = this.#metrics;
    switch (event.type) {
      case "attempt_started":
        metrics.started.inc({ cause: event.cause });
        metrics.running.inc();
        if (event.queuedMs !== undefined) metrics.queued.observe(event.queuedMs / 1000);
        return;
      case "step_started":
        if (event.try > 1 && !event.undo) metrics.retries.inc({ handler: event.run.handler.name });
        return;
      case "step_ended":
        return this.#stepEnded(event);
      case "asked":
        return this.#asked(event);
      case "answered": {
        const { kind, action } = event;
        metrics.answered.inc({ kind, action });
        metrics.waited.observe({ kind }, event.waitedMs / 1000);
        return;
      }
      case "attempt_ended":
        return this.#attemptEnded(event);
      case "replayed":
        metrics.replays.inc({ status: event.status });
        return;
      case "acted":
        return this.#acted(event);
    }
  }

  refused({ cause }: RefusedState): void {
    const isKnown = this.#causes.has(cause);
    const fits = isKnown || (causeForm.test(cause) && this.#causes.size < MAX_CAUSES);
    if (fits && !isKnown) this.#causes.add(cause);
    this.#metrics.refused.inc({ cause: fits ? cause : "other" });
  }

  #attemptEnded({ run, outcome, durationMs, status }: NewsOf<"attempt_ended">): void {
    const { running, ended, executing } = this.#metrics;
    const { handler, round } = run;
    running.dec();
    ended.inc({ handler: handler.name, outcome });
    executing.observe({ handler: handler.name }, durationMs / 1000);
    // One that is undone now goes on.
    if (status === "running") return;
    const isEnd =
      outcome === "completed" ||
      outcome === "failed" ||
      outcome === "cancelled" ||
      outcome === "undone" ||
      outcome === "parked";
    if (isEnd) this.#runEnded(handler.name, outcome, round);
  }

  #runEnded(handler: string, outcome: string, round: number): void {
    this.#metrics.runs.inc({ handler, outcome });
    this.#metrics.rounds.observe(round + 1);
  }

  #stepEnded({ run, outcome, durationMs, undo }: NewsOf<"step_ended">): void {
    const { steps, stepTime, undone, undoFailures } = this.#metrics;
    const { name } = run.handler;
    if (undo) {
      undone.inc({ handler: name, outcome });
      if (outcome !== "completed") undoFailures.inc({ handler: name });
      return;
    }
    steps.inc({ handler: name, outcome });
    stepTime.observe({ handler: name }, durationMs / 1000);
  }

  #asked(event: NewsOf<"asked">): void {
    const client = clientLabel(event.run.client);
    for (const { kind } of event.asks) this.#metrics.asked.inc({ kind, client });
  }

  #watch({ run, until, asks }: NewsOf<"asked">): void {
    const { runId, effects, round, client } = run;
    // A repeatable run has no record that could be looked up.
    if (runId === undefined || effects === "repeatable") return;
    const questions = { until, client: clientLabel(client), questions: asks.length };
    // The event is of the attempt that asked; the questions open the next round.
    this.#abandonments?.watch({ runId, round: round + 1, ...questions });
  }

  #acted({ run, action, status }: NewsOf<"acted">): void {
    if (status === "running") return;
    if (action === "cancelled" || action === "finished" || action === "parked") {
      this.#runEnded(run.handler.name, action, run.round);
    }
  }
}
