/**
 * Runs that are undone because they were cancelled or not answered in time, and those who come meanwhile (docs/design.md 4.5).
 */
import { RepriseError } from "@reprise/errors";
import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  sender,
  settled,
  startHarness,
  yes,
} from "./support/harness.ts";

const description = "d";

function serving(
  handler: (ctx: Context) => Promise<string>,
  over: { readonly keyed?: boolean; readonly sweep?: boolean } = {},
): Harness {
  const { keyed = true, sweep = false } = over;
  const key = keyed ? { idempotency: { key: () => "k" } } : {};
  const answerWithin = "1m";
  return startHarness(
    {
      tools: [
        tool({ name: "t", description, ...key, answerWithin, handler: (_, ctx) => handler(ctx) }),
      ],
    },
    { sweep },
  );
}

const headOf = (h: Harness) => h.store.snapshot().runs.at(-1)?.head;

/** A step that gives its name's result and notes what becomes of it. */
function noted(seen: string[]) {
  return (ctx: Context, name: string): Promise<string> =>
    ctx.step(
      name,
      () => {
        seen.push(`do ${name}`);
        return `${name} result`;
      },
      { undo: (result) => seen.push(`undo ${name} with ${result}`) },
    );
}

describe("a cancelled run", () => {
  // promise P4.5.18, P4.5.35
  test("that waits for an answer is undone at once, and whoever asks gets RUN_CANCELLED with what is undone", async () => {
    const seen: string[] = [];
    const step = noted(seen);
    const h = serving(
      async (ctx) => {
        await step(ctx, "flight");
        await ctx.confirm("Hotel as well?");
        return "booked";
      },
      { sweep: true },
    );
    const { requestState, runId = "" } = question(await h.call("t"));
    const cancelled = { kind: "cancelled", round: 1, undoing: true };
    expect(await h.runtime.cancel(runId, { reason: "too dear" })).toEqual(cancelled);
    await settled();
    expect(seen).toEqual(["do flight", "undo flight with flight result"]);
    const late = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(late).toMatchObject({
      error: { code: "RUN_CANCELLED", data: { reason: "too dear", undone: ["flight"] } },
    });
    expect(headOf(h)).toMatchObject({
      status: "undone",
      keyFree: true,
      undo: { why: "cancelled" },
    });
    expect(await h.runtime.cancel(runId)).toEqual({ kind: "cancelled", round: 1 });
  });

  test("whose own request is cancelled records its step's end, and is undone by that request", async () => {
    const seen: string[] = [];
    const release = deferred();
    const h = serving(async (ctx) => {
      await ctx.step(
        "flight",
        async ({ signal }) => {
          seen.push("do flight");
          await Promise.race([
            release.promise,
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(new Error("cut"))),
            ),
          ]);
        },
        { undo: (result) => seen.push(`undo flight with ${String(result)}`) },
      );
      return "booked";
    });
    const wanted = new AbortController();
    const reply = h.call("t", { cancelled: wanted.signal });
    await settled();
    wanted.abort();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["do flight", "undo flight with undefined"]);
    expect(headOf(h)).toMatchObject({ status: "undone", keyFree: true });
  });

  /** A run in a step that does not hear its signal, cancelled by another process. */
  async function cancelledElsewhere(seen: string[], end: Promise<void>, { sweep = false } = {}) {
    const h = serving(
      async (ctx) => {
        await ctx.step(
          "flight",
          async () => {
            seen.push("do flight");
            await end;
            seen.push("flight done");
          },
          { undo: () => seen.push("undo flight") },
        );
        return "booked";
      },
      { sweep },
    );
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    const runId = h.store.snapshot().runs[0]?.origin.runId ?? "";
    const other = h.beside({}, { sweep: false });
    expect(await other.runtime.cancel(runId)).toMatchObject({ kind: "cancelled", undoing: true });
    await settled();
    return { h, reply, gone };
  }

  // promise P4.5.31
  test("of a live attempt elsewhere is given to nobody while a step of it runs on, until the attempt's lease is over", async () => {
    const seen: string[] = [];
    const { h, reply } = await cancelledElsewhere(seen, new Promise(() => undefined));
    await h.advance(9_000);
    expect(seen).toEqual(["do flight"]);
    await h.advance(1_500);
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["do flight", "undo flight"]);
    expect(headOf(h)).toMatchObject({ status: "undone", takeovers: 0 });
  });

  // promise P4.5.36
  test("of a live attempt elsewhere is undone by that attempt's process as soon as its step has ended, long before the lease", async () => {
    const seen: string[] = [];
    const end = deferred();
    const { h, reply } = await cancelledElsewhere(seen, end.promise);
    const cancelledAt = h.clock.now();
    end.resolve();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["do flight", "flight done", "undo flight"]);
    expect(h.clock.now()).toBe(cancelledAt);
  });

  test("of a live attempt elsewhere whose caller is gone is undone there all the same, and at once", async () => {
    const seen: string[] = [];
    const end = deferred();
    const { h, gone } = await cancelledElsewhere(seen, end.promise, { sweep: true });
    gone.leave();
    end.resolve();
    await settled();
    expect(seen).toEqual(["do flight", "flight done", "undo flight"]);
    expect(headOf(h)?.status).toBe("undone");
  });

  test("of a live attempt elsewhere is undone when the lease is over if the store can't be told sooner", async () => {
    const seen: string[] = [];
    const end = deferred();
    const { h, reply } = await cancelledElsewhere(seen, end.promise);
    h.traffic.before = (method) => {
      if (method !== "endRound") return;
      h.traffic.before = () => undefined;
      throw new RepriseError("STORE_UNAVAILABLE", "away");
    };
    end.resolve();
    await h.advance(9_000);
    expect(seen).toEqual(["do flight", "flight done"]);
    await h.advance(1_500);
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["do flight", "flight done", "undo flight"]);
  });

  // promise P4.5.21
  test("ends as it always did when it has nothing to undo", async () => {
    const h = serving(async (ctx) => {
      await ctx.confirm("Flight?");
      await ctx.step("flight", () => undefined, { undo: () => undefined });
      return "booked";
    });
    const { runId = "" } = question(await h.call("t"));
    expect(await h.runtime.cancel(runId)).toEqual({ kind: "cancelled", round: 1 });
    expect(headOf(h)?.status).toBe("cancelled");
  });

  test("that is undone because it failed stays failed", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => undefined, { undo: () => undefined });
      throw new Error("full");
    });
    await h.call("t");
    const runId = h.store.snapshot().runs[0]?.origin.runId ?? "";
    expect(await h.runtime.cancel(runId)).toEqual({ kind: "ended", round: 0, status: "undone" });
  });
});

describe("a deadline", () => {
  const asking = (seen: string[]) => async (ctx: Context) => {
    await noted(seen)(ctx, "flight");
    await ctx.confirm("Hotel as well?");
    return "booked";
  };

  // promise P4.5.18, P4.5.32
  test("that passes unanswered has the run undone by the sweep, and a late answer is told", async () => {
    const seen: string[] = [];
    const h = serving(asking(seen), { sweep: true });
    const { requestState } = question(await h.call("t"));
    await h.advance(59_000);
    expect(seen).toEqual(["do flight"]);
    await h.advance(2_000);
    await h.advance(10_000);
    expect(seen).toEqual(["do flight", "undo flight with flight result"]);
    const late = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(late).toMatchObject({ error: { code: "RUN_EXPIRED", data: { undone: ["flight"] } } });
    expect(headOf(h)).toMatchObject({ status: "undone", undo: { why: "expired" }, keyFree: true });
  });

  // promise P4.5.32
  test("holds where no sweep runs: whoever comes then undoes it, and the next call with the key starts anew", async () => {
    const seen: string[] = [];
    const h = serving(asking(seen));
    await h.call("t");
    await h.advance(61_000);
    expect(code(await h.call("t"))).toBe("RUN_EXPIRED");
    expect(seen).toEqual(["do flight", "undo flight with flight result"]);
    question(await h.call("t"));
    expect(seen.at(-1)).toBe("do flight");
  });

  test("moves with every newly given out state, and means nothing to a run with nothing to undo", async () => {
    const seen: string[] = [];
    const h = serving(asking(seen), { sweep: true });
    await h.call("t");
    await h.advance(40_000);
    question(await h.call("t"));
    await h.advance(40_000);
    expect(headOf(h)?.status).toBe("waiting");

    const other = serving(async (ctx) => `${await ctx.confirm("Sure?")}`, { sweep: true });
    question(await other.call("t"));
    await other.advance(120_000);
    expect(headOf(other)?.status).toBe("waiting");
  });
});

describe("those who come while a run is undone", () => {
  // promise P4.5.7, P4.5.27
  test("wait and get what everybody gets, and leaving stops nothing", async () => {
    const undoing = deferred();
    let undos = 0;
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => undefined, {
        undo: async () => {
          undos += 1;
          await undoing.promise;
        },
      });
      throw new Error("full");
    });
    const gone = sender();
    const first = h.call("t", { gone });
    await settled();
    const joins = h.call("t");
    await settled();
    gone.leave();
    await settled();
    undoing.resolve();
    const replies = await Promise.all([first, joins]);
    expect(replies[1]).toEqual(replies[0]);
    expect(replies[0]).toMatchObject({ result: { _meta: { "reprise/undone": ["flight"] } } });
    expect(undos).toBe(1);
  });
});
