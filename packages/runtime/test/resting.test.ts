/**
 * Requests that keep their handler: it waits where it asked, and goes on there once the answer has a claim.
 */
import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  accept,
  type CallOptions,
  code,
  decline,
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const keeps: CallOptions = { keepsHandler: true };
const lifetimeMs = 24 * 3_600_000;

/** A tool that counts how often its first line runs. */
function counting(
  handler: (ctx: Context) => Promise<string>,
  effects: "once" | "repeatable" = "once",
): { readonly h: Harness; readonly entered: () => number } {
  let count = 0;
  const counted = tool({
    name: "t",
    description: "d",
    effects,
    handler: (_args, ctx) => {
      count += 1;
      return handler(ctx);
    },
  });
  return { h: startHarness({ tools: [counted] }), entered: () => count };
}

async function twoSteps(ctx: Context, charged: string[]): Promise<string> {
  await ctx.step("before", () => charged.push("before"));
  const sure = await ctx.confirm("Sure?");
  if (!sure) return "kept";
  await ctx.step("after", () => charged.push("after"));
  return `done in round ${ctx.run.round}`;
}

describe.each(["once", "repeatable"] as const)("a %s handler that is kept", (effects) => {
  // promise P3.2.1
  test("runs its first line once, over rounds, where one that is not kept runs it in every round", async () => {
    const charged: string[] = [];
    const { h, entered } = counting((ctx) => twoSteps(ctx, charged), effects);
    const { requestState } = question(await h.call("t", keeps));
    const inputResponses = { confirm: yes };
    const reply = await h.call("t", { ...keeps, requestState, inputResponses });
    expect(text(reply)).toBe("done in round 1");
    expect(entered()).toBe(1);
    expect(charged).toEqual(["before", "after"]);

    const again: string[] = [];
    const replayed = counting((ctx) => twoSteps(ctx, again), effects);
    const asked = question(await replayed.h.call("t"));
    await replayed.h.call("t", { requestState: asked.requestState, inputResponses });
    expect(replayed.entered()).toBe(2);
    expect(again).toEqual(["before", "after"]);
  });

  test("goes on at each answer while other questions stay open", async () => {
    const { h, entered } = counting(async (ctx) => {
      const all = await Promise.all([
        ctx.confirm("One?", { key: "one" }).then((sure) => ctx.read("r1", () => `1${sure}`)),
        ctx.confirm("Two?", { key: "two" }).then((sure) => ctx.read("r2", () => `2${sure}`)),
      ]);
      return all.join(" ");
    }, effects);
    const first = question(await h.call("t", keeps));
    expect(Object.keys(first.inputRequests)).toEqual(["one", "two"]);
    const second = question(
      await h.call("t", {
        ...keeps,
        requestState: first.requestState,
        inputResponses: { two: decline },
      }),
    );
    expect(Object.keys(second.inputRequests)).toEqual(["one"]);
    const reply = await h.call("t", {
      ...keeps,
      requestState: second.requestState,
      inputResponses: { one: yes },
    });
    expect(text(reply)).toBe("1true 2false");
    expect(entered()).toBe(1);
  });

  test("is asked again, and still waits, when the answer can't be used", async () => {
    const { h, entered } = counting(async (ctx) => String(await ctx.confirm("Sure?")), effects);
    const first = question(await h.call("t", keeps));
    const useless = { confirm: accept({ confirm: "perhaps" }) };
    const second = question(
      await h.call("t", {
        ...keeps,
        requestState: first.requestState,
        inputResponses: useless,
      }),
    );
    expect(second.inputRequests).toEqual(first.inputRequests);
    const reply = await h.call("t", {
      ...keeps,
      requestState: second.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
    expect(entered()).toBe(1);
  });

  test("is given up at the end of its question, and a late answer is refused or replayed", async () => {
    let ended = "";
    const { h } = counting(async (ctx) => {
      try {
        return String(await ctx.confirm("Sure?"));
      } finally {
        ended = ctx.signal.aborted ? "given up" : "went on";
      }
    }, effects);
    question(await h.call("t", keeps));
    await h.advance(lifetimeMs + 1);
    expect(ended).toBe("given up");
  });

  test("is given up when the server closes", async () => {
    const { h, entered } = counting(async (ctx) => String(await ctx.confirm("Sure?")), effects);
    const { requestState } = question(await h.call("t", keeps));
    const heir = h.beside();
    await h.runtime.close();
    const reply = await heir.call("t", {
      ...keeps,
      requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
    expect(entered()).toBe(2);
  });
});

describe("a handler that waits", () => {
  test("starts nothing by itself: what it asks for beside the question begins with the answer", async () => {
    const tick = deferred();
    const done: string[] = [];
    const { h, entered } = counting(async (ctx) => {
      const beside = tick.promise.then(() => ctx.step("beside", () => done.push("beside")));
      const sure = await ctx.confirm("Sure?");
      done.push(`answered ${sure}`);
      await beside;
      return "done";
    });
    const { requestState } = question(await h.call("t", keeps));
    tick.resolve();
    await settled();
    expect(done).toEqual([]);
    const reply = await h.call("t", { ...keeps, requestState, inputResponses: { confirm: yes } });
    expect(text(reply)).toBe("done");
    expect(done.toSorted()).toEqual(["answered true", "beside"]);
    expect(entered()).toBe(1);
  });

  test("keeps what it wrote to its state before and while it waited", async () => {
    const tick = deferred();
    const { h } = counting(async (ctx) => {
      ctx.state.set("before", "1");
      void tick.promise.then(() => ctx.state.set("while", "2"));
      await ctx.confirm("Sure?");
      await ctx.step("s", () => 1);
      await ctx.confirm("Really?", { key: "really" });
      return `${ctx.state.get("before")}${ctx.state.get("while")}`;
    });
    const first = question(await h.call("t", keeps));
    tick.resolve();
    await settled();
    const second = question(
      await h.call("t", {
        ...keeps,
        requestState: first.requestState,
        inputResponses: { confirm: yes },
      }),
    );
    const [record] = h.store.snapshot().runs;
    expect(record?.head.state).toEqual({ before: "1", while: "2" });
    const reply = await h.call("t", {
      ...keeps,
      requestState: second.requestState,
      inputResponses: { really: yes },
    });
    expect(text(reply)).toBe("12");
  });

  test("that returns meanwhile has its result recorded once somebody has the run", async () => {
    const tick = deferred();
    const { h } = counting(async (ctx) => {
      await Promise.race([ctx.confirm("Sure?"), tick.promise]);
      return "raced";
    });
    const { requestState } = question(await h.call("t", keeps));
    tick.resolve();
    await settled();
    const reply = await h.call("t", { ...keeps, requestState, inputResponses: { confirm: yes } });
    expect(text(reply)).toBe("raced");
  });

  test("does not go on beside another process that took the answer: its steps happen once", async () => {
    const charged: string[] = [];
    const { h, entered } = counting((ctx) => twoSteps(ctx, charged));
    const { requestState } = question(await h.call("t", keeps));
    const answer = { requestState, inputResponses: { confirm: yes } };
    const elsewhere = await h.beside().call("t", answer);
    const here = await h.call("t", { ...keeps, ...answer });
    expect(text(elsewhere)).toBe("done in round 1");
    expect(text(here)).toBe("done in round 1");
    expect(charged).toEqual(["before", "after"]);
    expect(entered()).toBe(2);
  });

  test("is not gone on with after another process has gone further: it is replayed", async () => {
    const { h, entered } = counting(async (ctx) => {
      const one = await ctx.confirm("One?", { key: "one" });
      const two = await ctx.confirm("Two?", { key: "two" });
      return `${one} ${two}`;
    });
    const first = question(await h.call("t", keeps));
    const second = question(
      await h.beside().call("t", {
        requestState: first.requestState,
        inputResponses: { one: yes },
      }),
    );
    const reply = await h.call("t", {
      ...keeps,
      requestState: second.requestState,
      inputResponses: { two: yes },
    });
    expect(text(reply)).toBe("true true");
    expect(entered()).toBe(3);
  });

  test("ends like any other when a step after the answer fails", async () => {
    const { h } = counting(async (ctx) => {
      await ctx.confirm("Sure?");
      throw new Error("no");
    });
    const { requestState } = question(await h.call("t", keeps));
    const reply = await h.call("t", { ...keeps, requestState, inputResponses: { confirm: yes } });
    expect(reply).toMatchObject({ kind: "complete", result: { isError: true } });
    const late = await h.call("t", {
      ...keeps,
      requestState,
      inputResponses: { confirm: decline },
    });
    expect(code(late)).toBe("ANSWER_SETTLED");
  });

  test("is given up with a run that is cancelled", async () => {
    let ended = "";
    const { h } = counting(async (ctx) => {
      try {
        return String(await ctx.confirm("Sure?"));
      } finally {
        ended = ctx.signal.aborted ? "given up" : "went on";
      }
    });
    const { requestState } = question(await h.call("t", keeps));
    const [record] = h.store.snapshot().runs;
    expect(await h.runtime.cancel(record?.origin.runId ?? "")).toMatchObject({ kind: "cancelled" });
    await settled();
    expect(ended).toBe("given up");
    const late = await h.call("t", { ...keeps, requestState, inputResponses: { confirm: yes } });
    expect(code(late)).toBe("RUN_CANCELLED");
  });

  test("counts its time anew in every round", async () => {
    const { h } = counting(async (ctx) => {
      await ctx.confirm("Sure?");
      return "done";
    });
    const { requestState } = question(await h.call("t", keeps));
    await h.advance(3_600_000);
    const reply = await h.call("t", { ...keeps, requestState, inputResponses: { confirm: yes } });
    expect(text(reply)).toBe("done");
  });
});

test("a repeatable handler that is kept and whose question can't be sealed is given up at once", async () => {
  let ended = "";
  const greedy = tool({
    name: "t",
    description: "d",
    effects: "repeatable",
    async handler(_args, ctx) {
      await ctx.read("much", () => "x".repeat(100_000));
      try {
        return String(await ctx.confirm("Sure?"));
      } finally {
        ended = ctx.signal.aborted ? "given up" : "went on";
      }
    },
  });
  const h = startHarness({ tools: [greedy] });
  expect(code(await h.call("t", keeps))).toBe("STATE_TOO_LARGE");
  await settled();
  expect(ended).toBe("given up");
});
