import type { Logger, RunObserver } from "@reprise/runtime";
import { openTraces, type Traces } from "@reprise/telemetry";
import { afterEach, describe, expect, test } from "vitest";
import {
  type Collector,
  type Manner,
  type Received,
  startCollector,
  valuesOf,
} from "./support/collector.ts";
import { type Dialogue, startDialogue, stateOf, yes } from "./support/dialogue.ts";

const ERROR = 2;
const traceparent = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Traced {
  readonly d: Dialogue;
  readonly traces: Traces;
  readonly collector: Collector;
  readonly log: string[];
}

async function traced(manner: Manner = "takes"): Promise<Traced> {
  const collector = await startCollector(manner);
  closing.push(() => collector.close());
  const log: string[] = [];
  const traces = tracesTo(collector.url, log);
  return { d: startDialogue(() => [traces.observer]), traces, collector, log };
}

function tracesTo(endpoint: string, log: string[]): Traces {
  const line = (_fields: object, message: string): void => void log.push(message);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const traces = openTraces({
    ...{ endpoint, logger, gatherMs: 1 },
    serviceName: "tests",
    serviceVersion: "1.2.3",
    instance: "here",
  });
  closing.push(() => traces.close());
  return traces;
}

async function dialogue(d: Dialogue): Promise<void> {
  const state = stateOf(await d.call("pay", { traceparent: traceparent("a") }));
  await d.advance(60_000);
  const answered = d.call("pay", { state, answers: yes, traceparent: traceparent("b") });
  await d.advance(1_000);
  await answered;
}

const ms = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n);
const lasted = ({ startTimeUnixNano, endTimeUnixNano }: Received): number =>
  ms(endTimeUnixNano) - ms(startTimeUnixNano);

describe("The trace of a run with a question", () => {
  test("each round is a child of its own request, the second linked to the first", async () => {
    const { d, traces, collector } = await traced();
    await dialogue(d);
    await traces.close();
    const [first, step, second] = collector.spans;
    expect(collector.spans.map(({ name }) => name)).toEqual([
      "tools/call pay",
      "step charge",
      "tools/call pay",
    ]);
    expect(first).toMatchObject({ traceId: "a".repeat(32), parentSpanId: "a".repeat(16) });
    expect(first?.links ?? []).toEqual([]);
    expect(second).toMatchObject({ traceId: "b".repeat(32), parentSpanId: "b".repeat(16) });
    expect(second?.links).toMatchObject([{ traceId: first?.traceId, spanId: first?.spanId }]);
    expect(step).toMatchObject({ traceId: second?.traceId, parentSpanId: second?.spanId });
    expect(collector.paths.every((path) => path === "/v1/traces")).toBe(true);
    expect(collector.resource()).toMatchObject({
      "service.name": "tests",
      "service.version": "1.2.3",
      "service.instance.id": "here",
    });
  });

  test("a suspended round is no error, and the person's minute is in no span", async () => {
    const { d, traces, collector } = await traced();
    await dialogue(d);
    await traces.close();
    expect(collector.spans.map(({ status }) => status.code ?? 0)).toEqual([0, 0, 0]);
    expect(collector.spans.map(lasted)).toEqual([0, 1_000, 1_000]);
    const [first, , second] = collector.spans;
    expect(valuesOf(first?.attributes ?? [])).toMatchObject({ "reprise.outcome": "suspended" });
    expect(second?.events?.map(({ name }) => name)).toEqual(["answered"]);
  });

  test("no value of author, client or person is in a span", async () => {
    const { d, traces, collector } = await traced();
    await dialogue(d);
    await traces.close();
    const text = JSON.stringify(collector.spans);
    for (const value of ["Pay?", "charged", "paid", "anonymous"]) expect(text).not.toContain(value);
  });

  test("without a traceparent, rounds have traces of their own and the link still leads to the first", async () => {
    const { d, traces, collector } = await traced();
    const state = stateOf(await d.call("pay"));
    const answered = d.call("pay", { state, answers: yes });
    await d.advance(1_000);
    await answered;
    await traces.close();
    const [first, , second] = collector.spans;
    expect(first?.parentSpanId ?? "").toBe("");
    expect(second?.traceId).not.toBe(first?.traceId);
    expect(second?.links).toMatchObject([{ traceId: first?.traceId, spanId: first?.spanId }]);
  });

  test("a step in doubt and a failed run are errors", async () => {
    const { d, traces, collector } = await traced();
    await d.call("doubt");
    await traces.close();
    const [step, attempt] = collector.spans;
    expect(step).toMatchObject({
      name: "step send",
      status: { code: ERROR, message: "uncertain" },
    });
    expect(attempt?.status.code).toBe(ERROR);
    expect(valuesOf(attempt?.attributes ?? [])).toMatchObject({ "error.type": "STEP_UNCERTAIN" });
  });
});

describe("A collector that is no help never blocks or fails a run", () => {
  async function runsAllTheSame(d: Dialogue): Promise<void> {
    const state = stateOf(await d.call("pay"));
    const answered = d.call("pay", { state, answers: yes });
    await d.advance(1_000);
    expect(await answered).toMatchObject({ kind: "complete" });
  }

  test("when it hangs: runs end, and closing waits two seconds at most", async () => {
    const { d, traces } = await traced("hangs");
    await runsAllTheSame(d);
    const since = performance.now();
    await traces.close();
    expect(performance.now() - since).toBeLessThan(4_000);
  });

  test("when it refuses: runs end, and the operator is told once", async () => {
    const { d, traces, log } = await traced("refuses");
    await runsAllTheSame(d);
    await traces.close();
    expect(log).toEqual(["spans can't be delivered and are dropped"]);
  });

  test("when nobody listens there: runs end", async () => {
    const collector = await startCollector();
    await collector.close();
    const traces = tracesTo(collector.url, []);
    await runsAllTheSame(startDialogue(() => [traces.observer]));
  });

  test("when more happens than can be sent: what is kept is bounded", async () => {
    const { d, traces } = await traced("hangs");
    for (let call = 0; call < 300; call += 1) await d.call("hello");
    await traces.close();
  });
});

test("an endpoint that is no URL is refused at the start, with a code", () => {
  expect(() => tracesTo("collector:4318", [])).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID" }),
  );
});

test("an attempt that began before the observer knew is passed over", async () => {
  const { traces, collector } = await traced();
  const observer: RunObserver = traces.observer;
  observer.run?.({
    run: {
      ...{ runId: "r", method: "tools/call", handler: { kind: "tool", name: "t" } },
      ...{ effects: "once", principal: "p", client: undefined, protocolVersion: "2026-07-28" },
      ...{ round: 0, epoch: 1, attempt: 7, version: "1", instance: "here" },
    },
    ...{ at: 0, type: "attempt_ended", outcome: "completed", durationMs: 1, status: "completed" },
  });
  await traces.close();
  expect(collector.spans).toEqual([]);
});
