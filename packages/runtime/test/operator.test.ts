/**
 * What operators do to runs, and what those get who come again (docs/design.md 10).
 */
import { defineServer, notDone, storeOperator, tool } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import { describe, expect, test } from "vitest";
import {
  code,
  type Harness,
  person,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const LEASE_MS = 10_000;

/** A tool that asks, and whose step fails as long as `isDown`. */
function shop(over: { readonly key?: boolean } = {}): {
  readonly h: Harness;
  readonly remote: { isDown: boolean; calls: number };
} {
  const remote = { isDown: true, calls: 0 };
  const keyed = over.key === false ? {} : { idempotency: { key: () => "order-1" } };
  const h = startHarness({
    tools: [
      tool({
        name: "refund",
        description,
        ...keyed,
        async handler(_args, ctx) {
          if (!(await ctx.confirm("Refund?"))) return "kept";
          const amount = await ctx.step(
            "refund",
            () => {
              remote.calls += 1;
              if (remote.isDown) throw notDone(new Error("the bank is down"));
              return 42;
            },
            { retry: { tries: 1 } },
          );
          return `refunded ${amount}`;
        },
      }),
    ],
  });
  return { h, remote };
}

function operatorOf({ runtime }: Harness): NonNullable<Harness["runtime"]["operator"]> {
  const { operator } = runtime;
  if (operator === undefined) throw new Error("no operator");
  return operator;
}

const runIdOf = (h: Harness): string => h.store.snapshot().runs[0]?.origin.runId ?? "";

/** A refund that failed after its question was answered; gives the state of the round. */
async function failed(h: Harness): Promise<unknown> {
  const { requestState } = question(await h.call("refund"));
  const reply = await h.call("refund", { requestState, inputResponses: { confirm: yes } });
  expect(text(reply)).toMatch(/refund/);
  return requestState;
}

describe("retry", () => {
  test("runs the failed step again, and the same round and the same key get the new outcome", async () => {
    const { h, remote } = shop();
    const requestState = await failed(h);
    remote.isDown = false;
    const sweeping = h.beside({}, { sweep: true });
    expect(await operatorOf(sweeping).retry(runIdOf(h))).toEqual({
      kind: "done",
      status: "running",
    });
    await settled();
    expect(remote.calls).toBe(2);
    const retried = await h.call("refund", { requestState, inputResponses: { confirm: yes } });
    expect(text(retried)).toBe("refunded 42");
    expect(text(await h.call("refund"))).toBe("refunded 42");
    expect(remote.calls).toBe(2);
  });

  test("of a run without a key is executed by the next sweep of whatever process", async () => {
    const { h, remote } = shop({ key: false });
    await failed(h);
    remote.isDown = false;
    const sweeping = h.beside({}, { sweep: true });
    await settled();
    expect(await operatorOf(h).retry(runIdOf(h))).toMatchObject({ kind: "done" });
    await settled();
    expect(remote.calls).toBe(1);
    await h.advance(LEASE_MS);
    expect(remote.calls).toBe(2);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
    await sweeping.runtime.close();
  });

  test("that fails again leaves the run failed, and may be made again", async () => {
    const { h, remote } = shop();
    await failed(h);
    const sweeping = h.beside({}, { sweep: true });
    for (const calls of [2, 3]) {
      expect(await operatorOf(sweeping).retry(runIdOf(h))).toMatchObject({ kind: "done" });
      await settled();
      expect(remote.calls).toBe(calls);
      expect(h.store.snapshot().runs[0]?.head.status).toBe("failed");
    }
  });

  test("of a run that waits says what it waits for, and changes nothing", async () => {
    const { h } = shop();
    question(await h.call("refund"));
    const before = h.store.snapshot();
    expect(await operatorOf(h).retry(runIdOf(h))).toMatchObject({
      kind: "not_applicable",
      status: "waiting",
    });
    expect(h.store.snapshot()).toEqual(before);
    expect(await operatorOf(h).retry("nowhere")).toEqual({ kind: "unknown" });
  });
});

describe("finish", () => {
  test("answers for a waiting run: the same round and the same key get the text, and nothing is run", async () => {
    const { h, remote } = shop();
    const { requestState } = question(await h.call("refund"));
    const words = { as: "completed", text: "Refunded by hand." } as const;
    expect(await operatorOf(h).finish(runIdOf(h), words)).toEqual({
      kind: "done",
      status: "completed",
    });
    const late = await h.call("refund", { requestState, inputResponses: { confirm: yes } });
    expect(text(late)).toBe("Refunded by hand.");
    expect(text(await h.call("refund"))).toBe("Refunded by hand.");
    expect(remote.calls).toBe(0);
  });

  test("as failed is an error in words for the caller, and no repeated call runs it again", async () => {
    const { h, remote } = shop();
    const { requestState } = question(await h.call("refund"));
    await operatorOf(h).finish(runIdOf(h), { as: "failed", text: "Ask the bank." });
    const late = await h.call("refund", { requestState, inputResponses: { confirm: yes } });
    expect(late).toMatchObject({
      kind: "complete",
      result: { isError: true, content: [{ type: "text", text: "Ask the bank." }] },
    });
    expect(text(await h.call("refund"))).toBe("Ask the bank.");
    expect(remote.calls).toBe(0);
  });

  describe("of a run whose tool has an output schema, as completed,", () => {
    const words = { as: "completed", text: "7 g" } as const;
    const weigh = { name: "weigh", description };
    const formed = tool({
      ...weigh,
      output: { type: "object", properties: { grams: { type: "number" } } },
      async handler(_args, ctx) {
        await ctx.confirm("Weigh?");
        return { grams: 7 };
      },
    });
    const formless = tool({
      ...weigh,
      async handler(_args, ctx) {
        await ctx.confirm("Weigh?");
        return "7 g";
      },
    });
    const refused = {
      kind: "not_applicable",
      status: "waiting",
      why: expect.stringContaining("output schema"),
    };

    test("is refused by a process that has no definition: the record says so", async () => {
      const h = startHarness({ tools: [formed] });
      question(await h.call("weigh"));
      const operator = storeOperator({ store: h.store });
      expect(await operator.finish(runIdOf(h), words)).toEqual(refused);
      const failing = { as: "failed", text: "The scale is broken." } as const;
      expect(await operator.finish(runIdOf(h), failing)).toMatchObject({ kind: "done" });
    });

    test("is refused when the tool has one only by now: clients are told of it", async () => {
      const h = startHarness({ tools: [formless] });
      question(await h.call("weigh"));
      const definition = defineServer({ name: "scales", tools: [formed] });
      const operator = storeOperator({ store: h.store, definition });
      expect(await operator.finish(runIdOf(h), words)).toEqual(refused);
    });

    test("is taken where no result has a form", async () => {
      const h = startHarness({ tools: [formless] });
      question(await h.call("weigh"));
      const operator = storeOperator({ store: h.store });
      expect(await operator.finish(runIdOf(h), words)).toMatchObject({ kind: "done" });
    });
  });

  test("refuses an empty or endless text before anything is done", async () => {
    const { h } = shop();
    question(await h.call("refund"));
    for (const words of ["", "x".repeat(2_001)]) {
      const finishing = operatorOf(h).finish(runIdOf(h), { as: "completed", text: words });
      await expect(finishing).rejects.toBeInstanceOf(RangeError);
    }
    expect(h.store.snapshot().runs[0]?.head.status).toBe("waiting");
  });
});

describe("cancel and findByKey", () => {
  test("a cancelled run is told as such, to the round and to the key", async () => {
    const { h } = shop();
    const { requestState } = question(await h.call("refund"));
    expect(await operatorOf(h).cancel(runIdOf(h), "not wanted")).toEqual({
      kind: "done",
      status: "cancelled",
    });
    const late = await h.call("refund", { requestState, inputResponses: { confirm: yes } });
    expect(code(late)).toBe("RUN_CANCELLED");
  });

  test("an author's key leads to its run, and a caller's only with the caller", async () => {
    const { h } = shop();
    question(await h.call("refund", { caller: person("ann") }));
    const operator = operatorOf(h);
    expect(await operator.findByKey("refund", "order-1", "ann")).toBe(runIdOf(h));
    expect(await operator.findByKey("refund", "order-1")).toBeUndefined();
    expect(await operator.findByKey("refund", "order-2", "ann")).toBeUndefined();
  });
});

describe("history of a runtime", () => {
  test("what happens is in the history soon, and what an operator does as well", async () => {
    const { h } = shop();
    const history = createMemoryHistory(h.clock.now);
    const watched = h.beside({}, { history, instance: "front.1" });
    question(await watched.call("refund"));
    await h.advance(1_000);
    const runId = runIdOf(h);
    expect((await history.list({ status: "waiting", limit: 10 })).runs).toMatchObject([
      { runId, waiting: { asks: [{ key: "confirm" }] } },
    ]);
    await operatorOf(watched).finish(runId, { as: "completed", text: "done" });
    await h.advance(1_000);
    expect((await history.summary(runId))?.status).toBe("completed");
    expect((await history.timeline(runId)).at(-1)).toMatchObject({ action: "finished" });
    expect(await history.instances()).toMatchObject([{ instance: "front-1", role: "embedded" }]);
  });

  test("rows that the record has left behind are mended by who looks", async () => {
    const { h } = shop();
    const history = createMemoryHistory(h.clock.now);
    const watched = h.beside({}, { history, requestStateLifetime: "1h" });
    question(await watched.call("refund"));
    await h.advance(1_000);
    // Ended by a process that tells no history.
    await operatorOf(h).cancel(runIdOf(h));
    expect((await history.list({ status: "waiting", limit: 10 })).runs).toHaveLength(1);
    expect((await watched.runtime.history?.list({ status: "waiting", limit: 10 }))?.runs).toEqual(
      [],
    );
    expect((await history.summary(runIdOf(h)))?.status).toBe("cancelled");
  });

  test("a question that nobody can answer any more leaves the inbox", async () => {
    const { h } = shop();
    const history = createMemoryHistory(h.clock.now);
    const watched = h.beside({}, { history, requestStateLifetime: "1h" });
    question(await watched.call("refund"));
    await h.advance(1_000);
    await h.advance(2 * 3_600_000);
    const page = await watched.runtime.history?.list({ status: "waiting", limit: 10 });
    expect(page?.runs).toEqual([]);
    expect((await history.counts()).byStatus.waiting).toBeUndefined();
  });
});
