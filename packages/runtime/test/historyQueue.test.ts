/**
 * What waits for the history store: every run's events in order, and under overload nothing half-told.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HistoryQueue } from "../src/historyQueue.ts";
import type { RunEvent, RunFacts } from "../src/observer.ts";

type Told = RunEvent extends infer E
  ? E extends RunEvent
    ? Omit<E, keyof RunFacts>
    : never
  : never;

let clock = 0;

function event(runId: string, told: Told): RunEvent {
  clock += 1;
  return {
    ...{ runId, method: "tools/call", handler: { kind: "tool", name: "t" }, effects: "once" },
    ...{ principal: "p", client: undefined, protocolVersion: "2026-07-28", round: 0, epoch: 1 },
    ...{ version: "1", instance: "i", at: clock },
    ...told,
  };
}

const started: Told = { type: "attempt_started", cause: "call" };
const again: Told = { type: "attempt_started", cause: "answer" };
const asked: Told = { type: "asked", asks: [{ key: "k", kind: "confirm" }], until: 9 };
const ended = (outcome: "completed" | "failed" | "suspended"): Told => ({
  ...{ type: "attempt_ended", outcome, durationMs: 1 },
  status: outcome === "suspended" ? "waiting" : outcome,
});
const step = (outcome: "completed" | "uncertain"): Told => ({
  ...{ type: "step_ended", step: "s", outcome, tries: 1, durationMs: 1, undo: false },
});

/** Adds a run's events; resolves to how many were let go. */
function add(queue: HistoryQueue, runId: string, ...told: readonly Told[]): number {
  return told.reduce((lost, each) => lost + queue.add(runId, event(runId, each)), 0);
}

const idsOf = (events: readonly RunEvent[]): readonly string[] => [
  ...new Set(events.map(({ runId }) => String(runId))),
];

describe("the queue of history", () => {
  test("a run's events leave together and in their order, however runs were interleaved", () => {
    const queue = new HistoryQueue({ all: 100, well: 100 });
    for (const told of [started, step("completed"), ended("completed")])
      for (const runId of ["a", "b", "c"]) queue.add(runId, event(runId, told));
    const taken = queue.take(100);
    expect(taken.map(({ runId, type }) => `${runId} ${type}`)).toEqual(
      ["a", "b", "c"].flatMap((runId) =>
        ["attempt_started", "step_ended", "attempt_ended"].map((type) => `${runId} ${type}`),
      ),
    );
    expect(queue.size).toBe(0);
  });

  test("open questions, failures and doubts leave before what went well", () => {
    const queue = new HistoryQueue({ all: 100, well: 100 });
    add(queue, "well", started, ended("completed"));
    add(queue, "waits", started, asked, ended("suspended"));
    add(queue, "failed", started, ended("failed"));
    add(queue, "doubtful", started, step("uncertain"), ended("completed"));
    add(queue, "answered", again, ended("completed"));
    expect(idsOf(queue.take(3))).toEqual(["waits"]);
    expect(idsOf(queue.take(7))).toEqual(["failed", "doubtful", "answered"]);
    expect(idsOf(queue.take(7))).toEqual(["well"]);
  });

  test("when it is full, whole runs that went well are let go, the oldest first, and nothing else", () => {
    const queue = new HistoryQueue({ all: 6, well: 6 });
    add(queue, "waits", started, ended("suspended"));
    add(queue, "old", started, ended("completed"));
    add(queue, "new", started, ended("completed"));
    expect(add(queue, "next", started)).toBe(2);
    expect(idsOf(queue.take(6))).toEqual(["waits", "next", "new"]);
  });

  test("runs that went well take no more room than is theirs", () => {
    const queue = new HistoryQueue({ all: 100, well: 4 });
    add(queue, "a", started, ended("completed"));
    add(queue, "b", started, ended("completed"));
    expect(add(queue, "c", started, ended("completed"))).toBe(2);
    expect(idsOf(queue.take(10))).toEqual(["b", "c"]);
    expect(add(queue, "d", started, asked, step("completed"), again, ended("completed"))).toBe(5);
    expect(queue.size).toBe(0);
  });

  test("with nothing that may go, what is new does not fit", () => {
    const queue = new HistoryQueue({ all: 2, well: 2 });
    add(queue, "waits", started, ended("suspended"));
    expect(add(queue, "waits", again)).toBe(1);
    expect(queue.take(10)).toHaveLength(2);
    expect(add(queue, "waits", again)).toBe(0);
  });

  test("a run that went well but whose beginning has left already is told to its end", () => {
    const queue = new HistoryQueue({ all: 2, well: 2 });
    add(queue, "a", started, asked);
    queue.take(10);
    add(queue, "a", ended("completed"));
    expect(add(queue, "b", started, started)).toBe(1);
    expect(idsOf(queue.take(10))).toEqual(["a", "b"]);
  });

  test("more of one run than a batch holds leaves in parts, none of them lost", () => {
    const queue = new HistoryQueue({ all: 100, well: 100 });
    add(queue, "long", started, ...Array.from({ length: 20 }, () => step("completed")));
    add(queue, "long", ended("completed"));
    const parts = [queue.take(8), queue.take(8), queue.take(8)];
    expect(parts.map(({ length }) => length)).toEqual([8, 8, 6]);
    expect(parts.flat().at(0)?.type).toBe("attempt_started");
    expect(parts.flat().at(-1)?.type).toBe("attempt_ended");
  });

  test("whatever comes and goes: what is counted as let go is missing, all else leaves in order", () => {
    const told = fc.constantFrom(started, again, asked, ended("completed"), ended("suspended"));
    const act = fc.oneof(
      fc.record({ run: fc.constantFrom("a", "b", "c", "d"), told }),
      fc.record({ take: fc.integer({ min: 1, max: 6 }) }),
    );
    fc.assert(
      fc.property(
        fc.array(act, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        (acts, limit) => {
          const queue = new HistoryQueue({ all: limit, well: limit });
          let added = 0;
          let lost = 0;
          const left: RunEvent[] = [];
          for (const each of acts) {
            if ("take" in each) left.push(...queue.take(each.take));
            else {
              added += 1;
              lost += add(queue, each.run, each.told);
            }
            expect(queue.size).toBeLessThanOrEqual(limit);
          }
          for (let taken = queue.take(3); taken.length > 0; taken = queue.take(3))
            left.push(...taken);
          expect(left.length + lost).toBe(added);
          for (const runId of ["a", "b", "c", "d"]) {
            const times = left.filter((each) => each.runId === runId).map(({ at }) => at);
            expect(times).toEqual(times.toSorted((one, other) => one - other));
          }
        },
      ),
    );
  });
});
