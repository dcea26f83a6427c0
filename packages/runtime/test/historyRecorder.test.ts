/**
 * History is behind runs and never before them: a sink that is dead, slow or broken delays, fails and loses no run.
 */
import { RepriseError } from "@reprise/errors";
import { type HistoryStore, historyAfter, type RunEvent, tool } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deferred, type Harness, settled, startHarness, text } from "./support/harness.ts";

const MINUTE_MS = 60_000;

/** A history whose recording does as told. */
function sink(record: HistoryStore["record"]): HistoryStore {
  return { ...createMemoryHistory(() => 0), record };
}

function counting(history: HistoryStore): Harness {
  return startHarness(
    {
      tools: [
        tool({
          name: "t",
          description: "d",
          handler: async (_args, ctx) => String(await ctx.step("one", () => 1)),
        }),
      ],
    },
    { history },
  );
}

const warnings = (h: Harness): number =>
  h.log.filter(({ fields }) => fields["event"] === "history_behind").length;

describe("the recorder of history", () => {
  test("a sink that never answers delays no call and no close", async () => {
    const h = counting(sink(() => new Promise(() => undefined)));
    for (let index = 0; index < 20; index += 1) {
      expect(text(await h.call("t"))).toBe("1");
      await h.advance(1_000);
    }
    const closing = h.runtime.close();
    for (let index = 0; index < 600; index += 1) await h.advance(10);
    await closing;
  });

  test("a sink that refuses is tried again, and nothing is lost when it comes back", async () => {
    const kept: RunEvent[] = [];
    let isDown = true;
    const h = counting(
      sink(async (events) => {
        if (isDown) throw new RepriseError("STORE_UNAVAILABLE", "down");
        kept.push(...events);
      }),
    );
    await h.call("t");
    await h.advance(3_000);
    expect(kept).toEqual([]);
    isDown = false;
    await h.advance(2_000);
    const types = kept.map(({ type }) => type);
    expect(types).toContain("step_ended");
    expect(types.at(-1)).toBe("attempt_ended");
  });

  test("a sink that is broken costs what it was given, is said once a minute, and no run", async () => {
    const h = counting(
      sink(() => {
        throw new TypeError("broken");
      }),
    );
    for (let index = 0; index < 30; index += 1) {
      expect(text(await h.call("t"))).toBe("1");
      await h.advance(1_000);
    }
    expect(warnings(h)).toBe(1);
    await h.advance(MINUTE_MS);
    await h.call("t");
    await h.advance(1_000);
    expect(warnings(h)).toBe(2);
  });

  test("what is queued at the close is kept, before the store is closed", async () => {
    const kept: RunEvent[] = [];
    const slow = deferred<void>();
    const h = counting(
      sink(async (events) => {
        await slow.promise;
        kept.push(...events);
      }),
    );
    await h.call("t");
    const closing = h.runtime.close();
    await settled();
    slow.resolve();
    for (let index = 0; index < 20; index += 1) await h.advance(10);
    await closing;
    expect(kept.map(({ type }) => type)).toContain("attempt_ended");
  });

  test("however many runs end at once, the store gets 250 events every quarter of a second at most, and what is dropped is said", async () => {
    const batches: number[] = [];
    const h = counting(
      sink(async (events) => {
        batches.push(events.length);
      }),
    );
    for (let index = 0; index < 300; index += 1) await h.call("t");
    for (let index = 0; index < 20; index += 1) await h.advance(100);
    // Of 300 runs with four events that went well within a quarter of a second, 62 are kept.
    expect(batches).toEqual([248]);
    expect(warnings(h)).toBe(1);
  });

  test("when more happens than can be told, what waits, failed or is in doubt is told whole, and of the rest nothing by halves", async () => {
    const kept: RunEvent[] = [];
    const h = startHarness(
      { tools: ["well", "waits", "fails", "doubts"].map(toolThat) },
      {
        history: sink(async (events) => {
          kept.push(...events);
        }),
      },
    );
    const runs = fc.sample(fc.constantFrom("well", "well", "waits", "fails", "doubts"), {
      numRuns: 400,
      seed: 7,
    });
    const called = new Map<string, number>();
    const states: unknown[] = [];
    for (const name of runs) {
      called.set(name, (called.get(name) ?? 0) + 1);
      const reply = await h.call(name);
      if (reply.kind === "input_required") states.push(reply.requestState);
    }
    for (let index = 0; index < 40; index += 1) await h.advance(100);
    const byHandler = (name: string): readonly (readonly RunEvent[])[] =>
      [...runsOf(kept).values()].filter(([first]) => first?.handler.name === name);
    for (const name of ["waits", "fails", "doubts"])
      expect(byHandler(name)).toHaveLength(called.get(name) ?? 0);
    expect(byHandler("well").length).toBeLessThan(called.get("well") ?? 0);
    expect(warnings(h)).toBe(1);
    for (const [runId, events] of runsOf(kept)) {
      expect(events.at(0)?.type).toBe("attempt_started");
      expect(events.at(-1)?.type).toBe("attempt_ended");
      expect(events.map(({ runId: id }) => id)).toEqual(events.map(() => runId));
      const times = events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    }
    // What was told as waiting is told to its end, however much else is going on.
    const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };
    for (const requestState of states) {
      await h.call("waits", { requestState, inputResponses });
      for (let index = 0; index < 4; index += 1) await h.call("well");
    }
    for (let index = 0; index < 40; index += 1) await h.advance(100);
    const ends = byHandler("waits").map((events) => historyAfter(undefined, events).summary.status);
    expect(new Set(ends)).toEqual(new Set(["completed"]));
  });
});

/** In the order in which the sink got them. */
function runsOf(events: readonly RunEvent[]): ReadonlyMap<string, readonly RunEvent[]> {
  const runs = new Map<string, RunEvent[]>();
  for (const event of events) {
    const { runId = "" } = event;
    runs.set(runId, [...(runs.get(runId) ?? []), event]);
  }
  return runs;
}

function toolThat(name: string): ReturnType<typeof tool> {
  return tool({
    name,
    description: "d",
    handler: async (_args, ctx) => {
      await ctx.step("one", () => 1);
      if (name === "waits") await ctx.confirm("Sure?");
      if (name === "fails") throw new Error("no");
      if (name === "doubts") {
        const lost = (): never => {
          throw new Error("connection lost");
        };
        await ctx.step("two", lost, { retry: { tries: 1 } }).catch(() => undefined);
      }
      return "done";
    },
  });
}
