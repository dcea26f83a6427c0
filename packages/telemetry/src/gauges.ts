/**
 * Gauges of what stands somewhere else: the store's room, the age of the sealing key, the queues, the runs of all processes. Each
 * looks when it is asked.
 *
 * A maker adds its gauges to the registry and returns the look to hand to `metricsText`. A figure that is not known now is left out,
 * rather than told as 0.
 */

import type { HistoryCounts, StoreHealth } from "@reprise/runtime";
import { Counter, Gauge } from "prom-client";
import type { Metrics } from "./registry.ts";

/** Brings gauges up to date. */
export type Look = () => Promise<void>;

/** `reprise_store_up`, `reprise_store_used_bytes`, `reprise_store_limit_bytes`. */
export function storeGauges(metrics: Metrics, health: () => Promise<StoreHealth>): Look {
  const registers = [metrics];
  const up = new Gauge({
    name: "reprise_store_up",
    help: "1 while the store takes new runs, 0 while it is full or away.",
    registers,
  });
  const used = new Gauge({
    name: "reprise_store_used_bytes",
    help: "What the store holds; of several Redis masters the fullest.",
    registers,
  });
  const limit = new Gauge({
    name: "reprise_store_limit_bytes",
    help: "What the store may hold; absent where there is no limit.",
    registers,
  });
  return async () => {
    const { ok, room } = await health().catch(() => ({ ok: false, room: undefined }));
    up.set(ok ? 1 : 0);
    setOrForget(used, room?.usedBytes);
    setOrForget(limit, room?.limitBytes);
  };
}

/** `reprise_key_age_seconds`. @param createdAtMs of the key that this process seals with; undefined where keys have no age */
export function keyGauge(
  metrics: Metrics,
  createdAtMs: () => number | undefined,
  now: () => number,
): Look {
  const age = new Gauge({
    name: "reprise_key_age_seconds",
    help: "Age of the key that this process seals request states with; absent for configured secrets.",
    registers: [metrics],
  });
  return async () => {
    const since = createdAtMs();
    setOrForget(age, since === undefined ? undefined : Math.max(0, now() - since) / 1000);
  };
}

/** What waits in one queue. */
export interface QueueFigures {
  readonly queue: string;
  readonly waiting: number;
  readonly oldestMs: number;
}

/**
 * `reprise_queue_oldest_wait_seconds`, `reprise_queue_waiting`, `reprise_worker_running`. Every worker tells the same of a queue, as all
 * look at one Redis: take the maximum of them, not the sum.
 */
export function queueGauges(
  metrics: Metrics,
  waits: () => Promise<readonly QueueFigures[]>,
  running: () => number,
): Look {
  const registers = [metrics];
  const oldest = new Gauge({
    name: "reprise_queue_oldest_wait_seconds",
    help: "How long the oldest job that a worker could take has waited.",
    labelNames: ["queue"],
    registers,
  });
  const waiting = new Gauge({
    name: "reprise_queue_waiting",
    help: "Jobs that a worker could take.",
    labelNames: ["queue"],
    registers,
  });
  const executing = new Gauge({
    name: "reprise_worker_running",
    help: "Jobs that this worker executes.",
    registers,
  });
  return async () => {
    executing.set(running());
    // What can't be looked up now is not told, rather than told as it was.
    oldest.reset();
    waiting.reset();
    for (const wait of await waits()) {
      oldest.set({ queue: wait.queue }, wait.oldestMs / 1000);
      waiting.set({ queue: wait.queue }, wait.waiting);
    }
  };
}

/** The history of runs as one process knows it; a `Runtime` is one. */
export interface HistoryFigures {
  /** Undefined: there is none, and nothing is told of it. */
  readonly history: { counts(): Promise<HistoryCounts> } | undefined;
  /** Events that this process could not give to it. */
  readonly historyDropped: number;
}

/**
 * `reprise_runs_suspended` and `reprise_runs_attention`, which every process tells the same of all runs: take their maximum, not the
 * sum. `reprise_history_events_dropped_total` is this process's own.
 */
export function historyGauges(metrics: Metrics, figures: HistoryFigures): Look {
  const { history } = figures;
  if (history === undefined) return async () => undefined;
  const registers = [metrics];
  new Counter({
    name: "reprise_history_events_dropped_total",
    help: "Events of runs that this process could not give to the history: lists and timelines lack them, records do not.",
    registers,
    collect() {
      this.reset();
      this.inc(figures.historyDropped);
    },
  });
  const suspended = new Gauge({
    name: "reprise_runs_suspended",
    help: "Runs of the whole deployment that wait for a person's answer, with those that nobody answered in time and nobody looked for since.",
    registers,
  });
  const attention = new Gauge({
    name: "reprise_runs_attention",
    help: "Runs of the whole deployment that an operator should look at: interrupted, parked, mismatched, uncertain or not undone.",
    registers,
  });
  return async () => {
    const counts = await history.counts().catch(() => undefined);
    setOrForget(suspended, counts && (counts.byStatus.waiting ?? 0));
    setOrForget(attention, counts && (counts.byStatus.attention ?? 0));
  };
}

function setOrForget(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
