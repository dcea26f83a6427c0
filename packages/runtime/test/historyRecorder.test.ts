/**
 * History is behind runs and never before them: a sink that is dead, slow or broken delays, fails and loses no run.
 */
import { RepriseError } from "@reprise/errors";
import {
  type Context,
  type HistoryStore,
  historyAfter,
  type InstanceInfo,
  type RunEvent,
  tool,
} from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
} from "./support/harness.ts";

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

describe("a repeatable run", () => {
  const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };

  function asking(kept: RunEvent[], repeatableHistory = true): Harness {
    const handler = async (_args: unknown, ctx: Context): Promise<string> =>
      (await ctx.confirm("Sure?")) ? "yes" : "no";
    return startHarness(
      { tools: [tool({ name: "t", description: "d", effects: "repeatable", handler })] },
      {
        repeatableHistory,
        history: sink(async (events) => {
          kept.push(...events);
        }),
      },
    );
  }

  test("leaves nothing, however long its question is open, unless its history is wanted", async () => {
    const kept: RunEvent[] = [];
    const h = asking(kept, false);
    const { requestState } = question(await h.call("t"));
    await h.advance(60_000);
    await h.call("t", { requestState, inputResponses });
    await h.advance(60_000);
    await h.runtime.close();
    expect(kept).toEqual([]);
    expect(h.runtime.historyDropped).toBe(0);
  });

  test("that is answered within a second leaves nothing, as it touches no store either, and is not missed", async () => {
    const kept: RunEvent[] = [];
    const h = asking(kept);
    const { requestState } = question(await h.call("t"));
    await h.advance(999);
    expect(text(await h.call("t", { requestState, inputResponses }))).toBe("yes");
    for (let index = 0; index < 20; index += 1) await h.advance(100);
    expect(kept).toEqual([]);
    expect(h.runtime.historyDropped).toBe(0);
  });

  test("whose question stays open for a second is told whole, to its end", async () => {
    const kept: RunEvent[] = [];
    const h = asking(kept);
    const { requestState } = question(await h.call("t"));
    for (let index = 0; index < 20; index += 1) await h.advance(100);
    expect(historyAfter(undefined, kept).summary.status).toBe("waiting");
    await h.call("t", { requestState, inputResponses });
    await h.advance(1_000);
    expect(kept.at(0)?.type).toBe("attempt_started");
    expect(historyAfter(undefined, kept).summary.status).toBe("completed");
  });

  test("whose question is open when its process stops is told before the stop", async () => {
    const kept: RunEvent[] = [];
    const h = asking(kept);
    question(await h.call("t"));
    await h.runtime.close();
    expect(historyAfter(undefined, kept).summary.status).toBe("waiting");
  });

  test("that fails at once is told", async () => {
    const kept: RunEvent[] = [];
    const fails = tool({
      name: "t",
      description: "d",
      effects: "repeatable",
      handler: async (_args, ctx) => {
        await ctx.confirm("Sure?");
        throw new Error("no");
      },
    });
    const h = startHarness(
      { tools: [fails] },
      {
        repeatableHistory: true,
        history: sink(async (events) => {
          kept.push(...events);
        }),
      },
    );
    const { requestState } = question(await h.call("t"));
    await h.call("t", { requestState, inputResponses });
    for (let index = 0; index < 20; index += 1) await h.advance(100);
    expect(historyAfter(undefined, kept).summary.status).toBe("failed");
  });
});

describe("what a process says of itself", () => {
  test("counts every run that ended in the last five minutes, whatever history has kept of it", async () => {
    const beats: InstanceInfo[] = [];
    const h = startHarness(
      { tools: ["well", "waits", "fails"].map(toolThat) },
      {
        history: {
          ...createMemoryHistory(() => 0),
          record: () => new Promise(() => undefined),
          beat: async (said) => {
            beats.push(said);
          },
        },
      },
    );
    await settled();
    expect(beats.map(({ lately }) => lately)).toEqual([undefined]);
    const few = async (): Promise<void> => {
      for (let index = 0; index < 5; index += 1) await h.call("well");
      await h.call("fails");
      await h.call("waits");
    };
    await few();
    await h.advance(10_000);
    const [ended, failed, dropped] = [6, 1, 0];
    expect(beats.at(-1)?.lately).toEqual({ spanMs: 10_000, ended, failed, dropped });
    // More than is kept of runs that went well.
    for (let index = 0; index < 80; index += 1) await h.call("well");
    await h.advance(10_000);
    const busy = beats.at(-1)?.lately;
    expect(busy).toMatchObject({ spanMs: 20_000, ended: 86, failed: 1 });
    expect(busy?.dropped).toBeGreaterThan(0);
    for (let index = 0; index < 35; index += 1) await h.advance(10_000);
    const quiet = { ended: 0, failed: 0, dropped: 0 };
    expect(beats.at(-1)?.lately).toEqual({ spanMs: 300_000, ...quiet });
    expect(h.runtime.historyDropped).toBeGreaterThan(0);
  });

  test("counts a run that an operator ended once, and one that waits on not at all", async () => {
    const waiting = new Set<string>();
    const beats: InstanceInfo[] = [];
    const h = startHarness(
      { tools: [toolThat("waits")] },
      {
        history: {
          ...createMemoryHistory(() => 0),
          async record(events) {
            for (const { runId = "", type } of events) if (type === "asked") waiting.add(runId);
          },
          async beat(said) {
            beats.push(said);
          },
        },
      },
    );
    for (let index = 0; index < 3; index += 1) await h.call("waits");
    await h.advance(1_000);
    const [one = "", other = ""] = waiting;
    for (let time = 0; time < 2; time += 1) {
      await h.runtime.cancel(one);
      await h.runtime.operator?.finish(other, { as: "failed", text: "given up" });
    }
    await h.advance(9_000);
    expect(beats.at(-1)?.lately).toMatchObject({ ended: 2, failed: 1 });
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
