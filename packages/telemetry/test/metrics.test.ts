import type { HistoryCounts } from "@reprise/runtime";
import {
  createMetrics,
  historyGauges,
  keyGauge,
  type Metrics,
  measuredStore,
  metricsObserver,
  metricsText,
  queueGauges,
  storeGauges,
} from "@reprise/telemetry";
import { describe, expect, test } from "vitest";
import { clockOf, type Dialogue, startDialogue, stateOf, yes } from "./support/dialogue.ts";

const HOUR_MS = 3_600_000;

function measured(): { readonly metrics: Metrics; readonly d: Dialogue } {
  const metrics = createMetrics();
  const d = startDialogue((clock, store) => [
    metricsObserver(metrics, {
      abandonments: { clock: clockOf(clock), load: (runId) => store.load(runId) },
    }),
  ]);
  return { metrics, d };
}

/** The samples of one metric, without the buckets of a histogram. */
async function samples(metrics: Metrics, name: string): Promise<readonly string[]> {
  const text = await metricsText(metrics);
  return text
    .split("\n")
    .filter((line) => new RegExp(`^${name}(_sum|_count)?[{ ]`).test(line))
    .toSorted();
}

describe("After a dialogue with a question, a retried step and a repeated answer", () => {
  test("every figure is exactly what happened", async () => {
    const { metrics, d } = measured();
    const state = stateOf(await d.call("pay", { client: "claude-code" }));
    await d.advance(90_000);
    const answered = d.call("pay", { state, answers: yes, client: "claude-code" });
    await d.advance(1_000);
    await answered;
    await d.call("pay", { state, answers: yes, client: "claude-code" });
    await d.call("hello");
    await d.call("pay", { state: "none of ours" });
    const figures: readonly [name: string, expected: readonly string[]][] = [
      [
        "reprise_attempts_started_total",
        [
          'reprise_attempts_started_total{cause="answer"} 1',
          'reprise_attempts_started_total{cause="call"} 2',
        ],
      ],
      ["reprise_attempts_running", ["reprise_attempts_running 0"]],
      [
        "reprise_attempts_ended_total",
        [
          'reprise_attempts_ended_total{handler="hello",outcome="completed"} 1',
          'reprise_attempts_ended_total{handler="pay",outcome="completed"} 1',
          'reprise_attempts_ended_total{handler="pay",outcome="suspended"} 1',
        ],
      ],
      [
        "reprise_runs_ended_total",
        [
          'reprise_runs_ended_total{handler="hello",outcome="completed"} 1',
          'reprise_runs_ended_total{handler="pay",outcome="completed"} 1',
        ],
      ],
      ["reprise_run_rounds", ["reprise_run_rounds_count 2", "reprise_run_rounds_sum 3"]],
      [
        "reprise_questions_total",
        ['reprise_questions_total{kind="confirm",client="claude-code"} 1'],
      ],
      ["reprise_answers_total", ['reprise_answers_total{kind="confirm",action="accept"} 1']],
      [
        "reprise_human_wait_seconds",
        [
          'reprise_human_wait_seconds_count{kind="confirm"} 1',
          'reprise_human_wait_seconds_sum{kind="confirm"} 90',
        ],
      ],
      [
        "reprise_attempt_duration_seconds",
        [
          'reprise_attempt_duration_seconds_count{handler="hello"} 1',
          'reprise_attempt_duration_seconds_count{handler="pay"} 2',
          'reprise_attempt_duration_seconds_sum{handler="hello"} 0',
          // The second between the step's tries; the minute and a half of the person is not in it.
          'reprise_attempt_duration_seconds_sum{handler="pay"} 1',
        ],
      ],
      ["reprise_steps_total", ['reprise_steps_total{handler="pay",outcome="completed"} 1']],
      [
        "reprise_step_duration_seconds",
        [
          'reprise_step_duration_seconds_count{handler="pay"} 1',
          'reprise_step_duration_seconds_sum{handler="pay"} 1',
        ],
      ],
      ["reprise_step_retries_total", ['reprise_step_retries_total{handler="pay"} 1']],
      ["reprise_replays_served_total", ['reprise_replays_served_total{status="completed"} 1']],
      ["reprise_questions_abandoned_total", []],
      ["reprise_undo_failures_total", []],
    ];
    for (const [name, expected] of figures) {
      expect(await samples(metrics, name), name).toEqual(expected);
    }
    const [refused, ...more] = await samples(metrics, "reprise_states_refused_total");
    expect(refused).toMatch(/^reprise_states_refused_total\{cause="[a-z_]+"\} 1$/);
    expect(more).toEqual([]);
  });

  test("a step in doubt counts as uncertain, and its run as failed", async () => {
    const { metrics, d } = measured();
    await d.call("doubt");
    expect(await samples(metrics, "reprise_steps_total")).toEqual([
      'reprise_steps_total{handler="doubt",outcome="uncertain"} 1',
    ]);
    expect(await samples(metrics, "reprise_runs_ended_total")).toEqual([
      'reprise_runs_ended_total{handler="doubt",outcome="failed"} 1',
    ]);
  });
});

describe("A question that nobody answers", () => {
  test("is abandoned once its deadline has passed, and counted once, by its client", async () => {
    const { metrics, d } = measured();
    await d.call("pay", { client: "a program that nobody knows" });
    await d.advance(23 * HOUR_MS);
    expect(await samples(metrics, "reprise_questions_abandoned_total")).toEqual([]);
    await d.advance(2 * HOUR_MS);
    await d.advance(2 * HOUR_MS);
    expect(await samples(metrics, "reprise_questions_abandoned_total")).toEqual([
      'reprise_questions_abandoned_total{client="other"} 1',
    ]);
  });

  test("is not, when it was answered meanwhile", async () => {
    const { metrics, d } = measured();
    const state = stateOf(await d.call("pay"));
    const answered = d.call("pay", { state, answers: yes });
    await d.advance(1_000);
    await answered;
    await d.advance(25 * HOUR_MS);
    expect(await samples(metrics, "reprise_questions_abandoned_total")).toEqual([]);
  });

  test("is not watched any more once the observer is closed", async () => {
    const metrics = createMetrics();
    const closers: (() => void)[] = [];
    const d = startDialogue((clock, store) => {
      const observer = metricsObserver(metrics, {
        abandonments: { clock: clockOf(clock), load: (runId) => store.load(runId) },
      });
      closers.push(() => observer.close());
      return [observer];
    });
    await d.call("pay");
    for (const close of closers) close();
    await d.advance(25 * HOUR_MS);
    expect(await samples(metrics, "reprise_questions_abandoned_total")).toEqual([]);
  });
});

test("labels are bounded: whatever clients call themselves and sealers say, there is one `other`", async () => {
  const metrics = createMetrics();
  const observer = metricsObserver(metrics);
  for (let made = 0; made < 200; made += 1) {
    observer.refused({ type: "state_refused", cause: `cause_${"x".repeat(made % 60)}`, at: 0 });
    observer.refused({ type: "state_refused", cause: `no word ${made}`, at: 0 });
  }
  const lines = await samples(metrics, "reprise_states_refused_total");
  expect(lines.length).toBeLessThanOrEqual(51);
  expect(lines.some((line) => line.startsWith('reprise_states_refused_total{cause="other"}'))).toBe(
    true,
  );
});

describe("A measured store", () => {
  test("is the same store, and its calls are timed by method", async () => {
    const metrics = createMetrics();
    const d = startDialogue(
      () => [],
      (store) => measuredStore(store, metrics),
    );
    const state = stateOf(await d.call("pay"));
    const answered = d.call("pay", { state, answers: yes });
    await d.advance(1_000);
    await answered;
    const text = await metricsText(metrics);
    for (const [method, count] of [
      ["createRun", 1],
      ["claimRound", 1],
      ["endRound", 1],
    ] as const) {
      expect(text).toContain(
        `reprise_store_call_duration_seconds_count{method="${method}"} ${count}\n`,
      );
    }
    expect(text).not.toContain('reprise_store_call_errors_total{method="createRun"} 1');
  });

  test("passes on what the store rejects with, and counts it", async () => {
    const metrics = createMetrics();
    const gone = new Error("gone");
    const d = startDialogue(
      () => [],
      (store) => {
        const createRun = (): Promise<never> => Promise.reject(gone);
        return measuredStore(Object.freeze({ ...store, createRun }), metrics);
      },
    );
    expect(await d.call("pay")).toMatchObject({ kind: "error", error: { cause: gone } });
    const [line] = (await samples(metrics, "reprise_store_call_errors_total")).filter((one) =>
      one.includes("createRun"),
    );
    expect(line).toMatch(/^reprise_store_call_errors_total\{method="createRun"\} [1-9]/);
  });
});

describe("Gauges of what stands elsewhere", () => {
  test("tell what is known now, and leave out what is not", async () => {
    const metrics = createMetrics();
    let isAway = false;
    const looks = [
      storeGauges(metrics, async () => {
        if (isAway) throw new Error("away");
        return { ok: true, room: { usedBytes: 10, limitBytes: 100 } };
      }),
      keyGauge(
        metrics,
        () => (isAway ? undefined : 1_000),
        () => 61_000,
      ),
      queueGauges(
        metrics,
        async () => {
          if (isAway) throw new Error("away");
          return [{ queue: "default", waiting: 3, oldestMs: 1_500 }];
        },
        () => 2,
      ),
    ];
    const shown = async (): Promise<readonly string[]> =>
      (await metricsText(metrics, looks)).split("\n").filter((line) => /^[a-z]/.test(line));
    expect(await shown()).toEqual([
      "reprise_store_up 1",
      "reprise_store_used_bytes 10",
      "reprise_store_limit_bytes 100",
      "reprise_key_age_seconds 60",
      'reprise_queue_oldest_wait_seconds{queue="default"} 1.5',
      'reprise_queue_waiting{queue="default"} 3',
      "reprise_worker_running 2",
    ]);
    isAway = true;
    expect(await shown()).toEqual(["reprise_store_up 0", "reprise_worker_running 2"]);
  });

  test("of runs say how many wait for whom and what history lacks, and nothing of the former while it is away", async () => {
    const metrics = createMetrics();
    let counts = async (): Promise<HistoryCounts> => ({
      byStatus: { waiting: 3, attention: 1, completed: 9 },
      oldestWaitingSince: 1_000,
    });
    let historyDropped = 0;
    const look = historyGauges(metrics, {
      history: { counts: () => counts() },
      get historyDropped() {
        return historyDropped;
      },
    });
    const shown = async (): Promise<readonly string[]> =>
      (await metricsText(metrics, [look])).split("\n").filter((line) => /^[a-z]/.test(line));
    expect(await shown()).toEqual([
      "reprise_history_events_dropped_total 0",
      "reprise_runs_suspended 3",
      "reprise_runs_attention 1",
    ]);
    historyDropped = 7;
    counts = async () => ({ byStatus: {}, oldestWaitingSince: undefined });
    const [dropped, ...quiet] = await shown();
    expect(dropped).toBe("reprise_history_events_dropped_total 7");
    expect(quiet).toEqual(["reprise_runs_suspended 0", "reprise_runs_attention 0"]);
    // A read does not count what was counted before.
    expect(await shown()).toContain(dropped);
    counts = () => Promise.reject(new Error("away"));
    expect(await shown()).toEqual([dropped]);
  });
});
