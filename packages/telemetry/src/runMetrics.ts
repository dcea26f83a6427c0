/**
 * The metrics of runs, by name: what each counts, its labels and buckets. `metricsObserver` fills them.
 *
 * Step names are no labels: authors put items into them, so there is no bound to how many there are.
 */
import { Counter, Gauge, Histogram } from "prom-client";
import type { Metrics } from "./registry.ts";

/** Seconds: handlers and steps, from a millisecond to the longest timeout. */
const executing = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 600];
/** Seconds: persons, from a second to a week. */
const human = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800];

/** Makes them. @param collect called before any of them is read */
export function runMetrics(registry: Metrics, collect: () => void): RunMetrics {
  const common = { registers: [registry], collect };
  return {
    started: new Counter({
      name: "reprise_attempts_started_total",
      help: "Attempts by why they began.",
      labelNames: ["cause"],
      ...common,
    }),
    running: new Gauge({
      name: "reprise_attempts_running",
      help: "Attempts that this process executes; those of calls without a record are seen when they end.",
      ...common,
    }),
    ended: new Counter({
      name: "reprise_attempts_ended_total",
      help: "Attempts by handler and by how they ended.",
      labelNames: ["handler", "outcome"],
      ...common,
    }),
    runs: new Counter({
      name: "reprise_runs_ended_total",
      help: "Runs by handler and outcome: completed, failed, cancelled, undone, finished; parked ones wait for an operator.",
      labelNames: ["handler", "outcome"],
      ...common,
    }),
    rounds: new Histogram({
      name: "reprise_run_rounds",
      help: "Rounds of the runs that ended; 1 when nothing was asked.",
      buckets: [1, 2, 3, 4, 5, 6, 8, 10, 15],
      ...common,
    }),
    executing: new Histogram({
      name: "reprise_attempt_duration_seconds",
      help: "How long attempts executed, by handler; while a person is asked nothing executes.",
      labelNames: ["handler"],
      buckets: executing,
      ...common,
    }),
    queued: new Histogram({
      name: "reprise_attempt_queued_seconds",
      help: "How long recorded attempts waited for a worker.",
      buckets: executing,
      ...common,
    }),
    asked: new Counter({
      name: "reprise_questions_total",
      help: "Questions of suspended rounds by kind and client; one that is asked again counts again.",
      labelNames: ["kind", "client"],
      ...common,
    }),
    answered: new Counter({
      name: "reprise_answers_total",
      help: "Answers that runs took, by kind of question and what they say.",
      labelNames: ["kind", "action"],
      ...common,
    }),
    abandoned: new Counter({
      name: "reprise_questions_abandoned_total",
      help: "Questions of recorded runs whose deadline passed without an answer, by client; of those that this process asked.",
      labelNames: ["client"],
      ...common,
    }),
    waited: new Histogram({
      name: "reprise_human_wait_seconds",
      help: "From a question's first response to the answer that its run took, by kind.",
      labelNames: ["kind"],
      buckets: human,
      ...common,
    }),
    steps: new Counter({
      name: "reprise_steps_total",
      help: "Steps by handler and outcome: completed, not_done, uncertain.",
      labelNames: ["handler", "outcome"],
      ...common,
    }),
    stepTime: new Histogram({
      name: "reprise_step_duration_seconds",
      help: "From a step's first try in its attempt to its record, by handler.",
      labelNames: ["handler"],
      buckets: executing,
      ...common,
    }),
    retries: new Counter({
      name: "reprise_step_retries_total",
      help: "Tries of steps after the first one of an attempt, by handler.",
      labelNames: ["handler"],
      ...common,
    }),
    undone: new Counter({
      name: "reprise_undo_steps_total",
      help: "Steps whose undo function ran, by handler and outcome.",
      labelNames: ["handler", "outcome"],
      ...common,
    }),
    undoFailures: new Counter({
      name: "reprise_undo_failures_total",
      help: "Undo functions that failed for good: their runs are parked, an operator must look.",
      labelNames: ["handler"],
      ...common,
    }),
    replays: new Counter({
      name: "reprise_replays_served_total",
      help: "Requests answered from the record of a run that they did not execute, by its status.",
      labelNames: ["status"],
      ...common,
    }),
    refused: new Counter({
      name: "reprise_states_refused_total",
      help: "Request states that were refused, by cause.",
      labelNames: ["cause"],
      ...common,
    }),
  };
}

/** See `runMetrics`. */
export interface RunMetrics {
  readonly started: Counter<"cause">;
  readonly running: Gauge;
  readonly ended: Counter<"handler" | "outcome">;
  readonly runs: Counter<"handler" | "outcome">;
  readonly rounds: Histogram;
  readonly executing: Histogram<"handler">;
  readonly queued: Histogram;
  readonly asked: Counter<"kind" | "client">;
  readonly answered: Counter<"kind" | "action">;
  readonly abandoned: Counter<"client">;
  readonly waited: Histogram<"kind">;
  readonly steps: Counter<"handler" | "outcome">;
  readonly stepTime: Histogram<"handler">;
  readonly retries: Counter<"handler">;
  readonly undone: Counter<"handler" | "outcome">;
  readonly undoFailures: Counter<"handler">;
  readonly replays: Counter<"status">;
  readonly refused: Counter<"cause">;
}
