/**
 * What a failed run has done is undone: in which order, with what, and what its caller gets (docs/design.md 4.5).
 */
import { type Context, notDone, type StepContext, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, type Harness, settled, startHarness, text } from "./support/harness.ts";

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

describe("a handler that fails", () => {
  // promise P4.5.17, P4.5.35
  test("has its recorded steps undone with their results, the newest first, and its caller is told the failure and what is undone", async () => {
    const seen: string[] = [];
    const step = noted(seen);
    const h = serving(async (ctx) => {
      await step(ctx, "flight");
      await step(ctx, "hotel");
      throw new Error("no car is left");
    });
    const reply = await h.call("t");
    expect(seen).toEqual([
      "do flight",
      "do hotel",
      "undo hotel with hotel result",
      "undo flight with flight result",
    ]);
    expect(reply).toMatchObject({
      kind: "complete",
      result: { isError: true, _meta: { "reprise/undone": ["hotel", "flight"] } },
    });
    expect(headOf(h)).toMatchObject({ status: "undone", keyFree: true, undo: { why: "failed" } });
  });

  // promise P4.5.19
  test("frees its key: the next call with it starts anew, and its steps have other keys", async () => {
    const keys: string[] = [];
    let fails = true;
    const h = serving(async (ctx) => {
      await ctx.step("flight", ({ idempotencyKey }) => keys.push(idempotencyKey), {
        undo: () => 0,
      });
      if (fails) throw new Error("full");
      return "booked";
    });
    await h.call("t");
    fails = false;
    expect(text(await h.call("t"))).toBe("booked");
    expect(new Set(keys).size).toBe(2);
  });

  // promise P4.5.19
  test("keeps its key, and the failure, when a step that can't be undone stands", async () => {
    let runs = 0;
    const h = serving(async (ctx) => {
      await ctx.step("mail", () => undefined);
      await ctx.step("flight", () => undefined, { undo: () => undefined });
      runs += 1;
      throw new Error("full");
    });
    const first = await h.call("t");
    expect(headOf(h)).toMatchObject({ status: "undone", keyFree: false });
    const before = runs;
    expect(await h.call("t")).toEqual(first);
    expect(runs).toBe(before);
  });

  // promise P4.5.22
  test("has a step that nobody knows about undone with undefined, and one that was not done left alone", async () => {
    const undone: unknown[] = [];
    const undo = (name: string) => (result: unknown) => undone.push([name, result]);
    const h = serving(async (ctx) => {
      const retry = { tries: 1 };
      await ctx
        .step("lost", () => Promise.reject(new Error("broken")), { retry, undo: undo("lost") })
        .catch(() => undefined);
      await ctx.step("refused", () => Promise.reject(notDone("full")), {
        retry,
        undo: undo("refused"),
      });
      return "done";
    });
    await h.call("t");
    expect(undone).toEqual([["lost", undefined]]);
    expect(headOf(h)).toMatchObject({ status: "undone", keyFree: true });
  });

  // promise P4.5.21
  test("is as it always was without an undo function, or with nothing to undo", async () => {
    let undone = 0;
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => Promise.reject(notDone("full")), {
        retry: { tries: 1 },
        undo: () => ++undone,
      });
      return "done";
    });
    const reply = await h.call("t");
    expect(reply).toMatchObject({ kind: "complete", result: { isError: true } });
    expect(headOf(h)).toMatchObject({ status: "failed", keyFree: true });
    expect(headOf(h)?.undo).toBeUndefined();
    expect(undone).toBe(0);
  });

  // promise P4.5.20
  test("undoes nothing when it returns, whatever the result says", async () => {
    const seen: string[] = [];
    const step = noted(seen);
    const h = serving(async (ctx) => {
      await step(ctx, "flight");
      return "no hotel";
    });
    expect(text(await h.call("t"))).toBe("no hotel");
    expect(seen).toEqual(["do flight"]);
    expect(headOf(h)?.status).toBe("completed");
  });
});

describe("an undo function", () => {
  // promise P4.5.23
  test("gets an idempotency key of its own, the same on every try, a signal, and is tried as its step is", async () => {
    const tries: StepContext[] = [];
    const stepKeys: string[] = [];
    const h = serving(async (ctx) => {
      await ctx.step("flight", ({ idempotencyKey }) => stepKeys.push(idempotencyKey), {
        retry: { tries: 3, backoffMs: 10 },
        undo: (_, step) => {
          tries.push(step);
          if (tries.length < 3) throw new Error("away");
        },
      });
      throw new Error("full");
    });
    const reply = h.call("t");
    await settled();
    await h.advance(10);
    await h.advance(20);
    expect(await reply).toMatchObject({ kind: "complete", result: { isError: true } });
    expect(tries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(tries.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(tries[0]?.idempotencyKey).not.toBe(stepKeys[0]);
    expect(tries[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  // promise P4.5.17
  test("is tried again whatever its step does when it is uncertain, and no look-up of the step speaks for it", async () => {
    for (const onUncertain of ["fail", () => "found"] as const) {
      let tries = 0;
      const h = serving(async (ctx) => {
        await ctx.step("flight", () => "booked", {
          onUncertain,
          retry: { tries: 2, backoffMs: 10 },
          undo: () => {
            tries += 1;
            if (tries === 1) throw new Error("away");
          },
        });
        throw new Error("full");
      });
      const reply = h.call("t");
      await settled();
      await h.advance(10);
      await reply;
      expect([tries, headOf(h)?.status]).toEqual([2, "undone"]);
    }
  });

  // promise P4.5.33
  test("that fails for good parks the run under UNDO_FAILED; after a release it is tried again, and only what is left", async () => {
    const seen: string[] = [];
    let isAway = true;
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => seen.push("flight"), { undo: () => seen.push("undo flight") });
      await ctx.step("car", () => seen.push("car"), {
        retry: { tries: 1 },
        undo: () => {
          seen.push("undo car");
          if (isAway) throw new Error("secret of the car firm");
        },
      });
      await ctx.step("hotel", () => seen.push("hotel"), { undo: () => seen.push("undo hotel") });
      throw new Error("full");
    });
    const reply = await h.call("t");
    expect(code(reply)).toBe("UNDO_FAILED");
    expect(reply).toMatchObject({ error: { data: { step: "car", undone: ["hotel"] } } });
    expect(JSON.stringify(reply)).not.toContain("secret");
    expect(headOf(h)).toMatchObject({ status: "parked", response: { code: "UNDO_FAILED" } });
    expect(code(await h.call("t"))).toBe("UNDO_FAILED");

    isAway = false;
    const runId = h.store.snapshot().runs[0]?.origin.runId ?? "";
    expect(await h.store.release(runId)).toEqual({ tag: "RELEASED", round: 0 });
    expect(await h.call("t")).toMatchObject({
      result: { isError: true, _meta: { "reprise/undone": ["hotel", "car", "flight"] } },
    });
    expect(seen).toEqual([
      "flight",
      "car",
      "hotel",
      "undo hotel",
      "undo car",
      "undo car",
      "undo flight",
    ]);
  });

  test("can't use ctx", async () => {
    let refusal: unknown;
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => undefined, {
        undo: async () => {
          refusal = await ctx.step("more", () => undefined).catch((error: unknown) => error);
        },
      });
      throw new Error("full");
    });
    await h.call("t");
    expect(refusal).toMatchObject({ code: "CTX_IN_STEP", data: { undo: "flight" } });
  });

  test("may give what no journal can hold", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("flight", () => undefined, { undo: () => new Map([[1, () => 1]]) });
      throw new Error("full");
    });
    await h.call("t");
    expect(headOf(h)?.status).toBe("undone");
  });

  // promise P4.1.11
  test("of a handler without a record of what it did is the author's mistake", async () => {
    const body = async (ctx: Context): Promise<string> =>
      ctx.step("s", () => "done", { undo: () => undefined });
    const server = {
      tools: [
        tool({ name: "t", description, effects: "repeatable", handler: (_, ctx) => body(ctx) }),
      ],
    };
    const once = { tools: [tool({ name: "t", description, handler: (_, ctx) => body(ctx) })] };
    for (const h of [startHarness(server), startHarness(once, { store: "none" })]) {
      expect(text(await h.call("t"))).toContain("DEFINITION_INVALID");
    }
  });
});
