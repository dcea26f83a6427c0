/**
 * Questions whose time is over are open in no list and no count, also when nobody ever looks at them.
 */
import { type HistoryStore, type RunSummary, tool } from "@reprise/runtime";
import { createMemoryHistory, fillHistory } from "@reprise/testing";
import { describe, expect, test, vi } from "vitest";
import { deferred, type Harness, question, settled, startHarness, yes } from "./support/harness.ts";

const HOUR_MS = 3_600_000;
const LEASE_MS = 10_000;

const asking = (effects: "once" | "repeatable") =>
  tool({
    name: effects,
    description: "d",
    effects,
    handler: async (_args, ctx) => ((await ctx.confirm("Sure?")) ? "yes" : "no"),
  });

interface Swept {
  readonly h: Harness;
  /** As it is kept: read without mending anything. */
  readonly history: HistoryStore;
  waiting(): Promise<number | undefined>;
  /** Time passes in steps of the sweep's beat. */
  pass(ms: number): Promise<void>;
}

function swept(over: (history: HistoryStore) => HistoryStore = (history) => history): Swept {
  const base = startHarness({ tools: [asking("once"), asking("repeatable")] });
  const history = createMemoryHistory(base.clock.now);
  const h = base.beside(
    {},
    {
      history: over(history),
      repeatableHistory: true,
      sweep: true,
      requestStateLifetime: "1h",
      instance: "one",
    },
  );
  return {
    h,
    history,
    waiting: async () => (await history.counts()).byStatus.waiting,
    async pass(ms) {
      for (let left = ms; left > 0; left -= LEASE_MS) await h.advance(Math.min(left, LEASE_MS));
    },
  };
}

describe("a question whose time is over", () => {
  test.each(["once", "repeatable"])(
    "of a %s run is counted as open no longer, though nobody lists it",
    async (name) => {
      const { h, pass, waiting, history } = swept();
      const { runId } = question(await h.call(name));
      await pass(2 * LEASE_MS);
      expect(await waiting()).toBe(1);
      await pass(HOUR_MS - 3 * LEASE_MS);
      expect(await waiting()).toBe(1);
      await pass(3 * LEASE_MS);
      expect(await waiting()).toBeUndefined();
      expect((await history.counts()).oldestWaitingSince).toBeUndefined();
      const [run] = (await history.list({ limit: 10 })).runs;
      expect(run?.status).toBe("failed");
      expect(run?.waiting).toBeUndefined();
      if (name === "once") expect(run?.runId).toBe(runId);
    },
  );

  test("is open still when the same call was made again meanwhile, and its answer taken", async () => {
    const { h, pass, waiting } = swept();
    const first = question(await h.call("once", { idempotencyKey: "a key of one person's call" }));
    await pass(HOUR_MS / 2);
    const again = question(await h.call("once", { idempotencyKey: "a key of one person's call" }));
    expect(again.runId).toBe(first.runId);
    await pass(HOUR_MS / 2 + 2 * LEASE_MS);
    expect(await waiting()).toBe(1);
    await h.call("once", {
      requestState: again.requestState,
      inputResponses: { confirm: yes },
    });
    await pass(LEASE_MS);
    expect(await waiting()).toBeUndefined();
  });

  test("is told of in the same way by every process that finds it", async () => {
    const { h, history, pass } = swept();
    const others = [1, 2, 3].map((number) =>
      h.beside({}, { history, sweep: true, instance: `other-${number}` }),
    );
    question(await h.call("once"));
    await pass(HOUR_MS + 2 * LEASE_MS);
    const [run] = (await history.list({ limit: 10 })).runs;
    expect(run?.status).toBe("failed");
    const expired = (await history.timeline(run?.runId ?? "")).filter(
      (event) => event.type === "acted" && event.action === "expired",
    );
    expect(expired.length).toBeGreaterThan(0);
    expect(expired.length).toBeLessThanOrEqual(1 + others.length);
  });
});

describe("looking for them", () => {
  test("costs one page of the list each time, and a look at the record of what is over alone", async () => {
    const lists: number[] = [];
    const { h, history, pass, waiting } = swept((kept) => ({
      ...kept,
      list: async (query) => {
        const page = await kept.list(query);
        lists.push(page.runs.length);
        return page;
      },
    }));
    const load = vi.spyOn(h.store, "load");
    await fillHistory(history, { now: h.clock.now }, 0, 450);
    const open = async (): Promise<readonly RunSummary[]> => {
      const found: RunSummary[] = [];
      let cursor: string | undefined;
      do {
        const page = await history.list({ status: "waiting", limit: 100, cursor });
        found.push(...page.runs);
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    };
    const rows = await open();
    const isOver = (row: RunSummary): boolean => (row.waiting?.until ?? 0) < h.clock.now();
    expect(rows.filter(isOver).length).toBeGreaterThan(100);
    lists.length = 0;
    load.mockClear();
    await pass(8 * LEASE_MS);
    expect(lists.length).toBeLessThanOrEqual(9);
    expect(Math.max(...lists)).toBe(100);
    expect(load.mock.calls.length).toBeLessThanOrEqual(rows.filter(isOver).length + 2);
    await pass(8 * LEASE_MS);
    // The newest may have passed since its page was looked at.
    const left = rows.length - rows.filter(isOver).length;
    expect([left, left + 1]).toContain(await waiting());
  });

  test("when it hangs keeps no sweep from a run whose attempt died, and when it fails is done again", async () => {
    const never = deferred<never>();
    let isHanging = true;
    let calls = 0;
    const { h, pass, waiting } = swept((kept) => ({
      ...kept,
      list: async (query) => {
        calls += 1;
        if (isHanging) return await never.promise;
        return await kept.list(query);
      },
    }));
    const found = vi.spyOn(h.store, "findAbandoned");
    await pass(5 * LEASE_MS);
    expect(calls).toBe(1);
    expect(found.mock.calls.length).toBeGreaterThan(3);
    isHanging = false;
    never.reject(new Error("connection lost"));
    await settled();
    question(await h.call("repeatable"));
    await pass(HOUR_MS + 3 * LEASE_MS);
    expect(await waiting()).toBeUndefined();
    expect(calls).toBeGreaterThan(1);
  });

  test("ends with the process", async () => {
    let calls = 0;
    const { h, pass } = swept((kept) => ({
      ...kept,
      list: async (query) => {
        calls += 1;
        return await kept.list(query);
      },
    }));
    await pass(2 * LEASE_MS);
    await h.runtime.close();
    const before = calls;
    await pass(10 * LEASE_MS);
    expect(calls).toBe(before);
  });
});
