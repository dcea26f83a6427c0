import { type Context, isSuspension, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  accept,
  type CallOptions,
  code,
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
type Body = (ctx: Context) => Promise<string>;
const serving = (body: Body, effects: "once" | "repeatable" = "once"): Harness =>
  startHarness({
    tools: [tool({ name: "t", description, effects, handler: (_args, ctx) => body(ctx) })],
  });
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? String(error);
const caught = (promise: Promise<unknown>): Promise<string> => promise.then(() => "fine", codeOf);

describe("names", () => {
  test("a step or read name is used once, and steps and reads share their names", async () => {
    const h = serving(async (ctx) => {
      const results = [
        await caught(ctx.step("x", () => 1)),
        await caught(ctx.step("x", () => 1)),
        await caught(ctx.read("x", () => 1)),
        await caught(ctx.step("", () => 1)),
      ];
      return results.join();
    });
    expect(text(await h.call("t"))).toBe("fine,NAME_REUSED,NAME_REUSED,NAME_REUSED");
  });

  test("a second ask of a kind needs a key; with keys both are asked in one round", async () => {
    const h = serving(async (ctx) => {
      const both = [ctx.confirm("a?"), ctx.confirm("b?")];
      return caught(Promise.all(both));
    });
    expect(text(await h.call("t"))).toBe("NAME_REUSED");
    const keyed = serving(async (ctx) =>
      String(await Promise.all([ctx.confirm("a?"), ctx.confirm("b?", { key: "b" })])),
    );
    expect(Object.keys(question(await keyed.call("t")).inputRequests)).toEqual(["confirm", "b"]);
  });

  test("an ask that is refused at the call leaves its key to a better one", async () => {
    const h = serving(async (ctx) => {
      const refused = await caught(ctx.elicit("?", z.object({ password: z.string() })));
      const { action } = await ctx.elicit("?", z.object({ name: z.string() }));
      return `${refused} ${action}`;
    });
    const { requestState } = question(await h.call("t"));
    const reply = await h.call("t", {
      requestState,
      inputResponses: { elicit: accept({ name: "x" }) },
    });
    expect(text(reply)).toBe("SECRET_IN_FORM accept");
  });

  test.each(["__proto__", "constructor", "toString"])(
    "%s is a name like any other, for steps, asks and state",
    async (name) => {
      const calls: string[] = [];
      const h = serving(async (ctx) => {
        ctx.state.set(name, "s");
        await ctx.step(name, () => calls.push("step"), { onUncertain: "fail" });
        const sure = await ctx.confirm("?", { key: name });
        return `${String(sure)} ${String(ctx.state.get(name))}`;
      });
      const asked = question(await h.call("t"));
      const answers = JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(yes)}}`) as Record<
        string,
        unknown
      >;
      const retry = { requestState: asked.requestState, inputResponses: answers };
      expect(Object.keys(asked.inputRequests)).toEqual([name]);
      expect(text(await h.call("t", retry))).toBe("true s");
      const denial = JSON.parse(`{${JSON.stringify(name)}:{"action":"decline"}}`) as Record<
        string,
        unknown
      >;
      expect(code(await h.call("t", { ...retry, inputResponses: denial }))).toBe("ANSWER_SETTLED");
      expect(calls).toEqual(["step"]);
    },
  );
});

describe("ctx where it must not be used", () => {
  test("ctx inside a step or a read is a coded error, in asynchronous parts too", async () => {
    const h = serving(async (ctx) => {
      const inStep = await ctx.step("s", async () => {
        await settled();
        return [await caught(ctx.read("r", () => 1)), await caught(ctx.confirm("?"))].join();
      });
      const inRead = await ctx.read("r2", () => caught(ctx.step("s2", () => 1)));
      return `${inStep} ${inRead}`;
    });
    expect(text(await h.call("t"))).toBe("CTX_IN_STEP,CTX_IN_STEP CTX_IN_STEP");
  });

  test("another call that runs inside a step uses its own ctx freely", async () => {
    const inner = serving(async (ctx) => String(await ctx.step("inner", () => 1)));
    const outer = serving((ctx) => ctx.step("outer", async () => text(await inner.call("t"))));
    expect(text(await outer.call("t"))).toBe("1");
  });

  test("what is not a function is the author's TypeError, and nothing is tried", async () => {
    const h = serving(async (ctx) => {
      const nothing = undefined as unknown as () => number;
      const errors = [ctx.step("s", nothing), ctx.read("r", nothing)].map((made) =>
        made.catch((error: unknown) => error),
      );
      return (await Promise.all(errors)).map((error) => (error as Error).name).join();
    });
    expect(text(await h.call("t"))).toBe("TypeError,TypeError");
    expect(h.traffic.calls).toEqual([]);
  });
});

describe("values that can't be journaled", () => {
  test("a read's is VALUE_UNSUPPORTED with name and path, on every attempt", async () => {
    const h = serving(async (ctx) => {
      const seen = await ctx
        .read("rates", () => ({ eur: new Map() }))
        .catch((error: unknown) => error);
      await ctx.confirm("?");
      return `${codeOf(seen)} ${(seen as Error).message}`;
    });
    const { requestState } = question(await h.call("t"));
    const reply = text(await h.call("t", { requestState, inputResponses: { confirm: yes } }));
    expect(reply).toMatch(/^VALUE_UNSUPPORTED read "rates" gave an instance of Map at eur/);
  });

  test("a step's is VALUE_UNSUPPORTED, and the step is not tried again in this call", async () => {
    let effects = 0;
    const h = serving(async (ctx) => {
      await ctx.step("charge", () => {
        effects += 1;
        return { receipt: () => 1 };
      });
      return "x";
    });
    expect(text(await h.call("t"))).toMatch(
      /step "charge" gave a function at receipt.*VALUE_UNSUPPORTED/,
    );
    expect(effects).toBe(1);
  });
});

describe("ends that a handler does not want to know of", () => {
  // promise P3.4.1
  test("3.4: finally blocks run at a suspension, and what is caught there is recognised by its brand", async () => {
    const seen: unknown[] = [];
    const h = serving(async (ctx) => {
      try {
        return String(await ctx.confirm("?"));
      } catch (error) {
        seen.push(isSuspension(error));
        throw error;
      } finally {
        seen.push("finally");
      }
    });
    question(await h.call("t"));
    expect(seen).toEqual([true, "finally"]);
  });

  // promise P3.4.2
  test("A1: a handler that swallows the signal changes nothing, can start nothing, and gets a warning", async () => {
    let effects = 0;
    const later: string[] = [];
    const h = serving(async (ctx) => {
      try {
        await ctx.confirm("?");
      } catch {
        for (const made of [
          ctx.step("s", () => (effects += 1)),
          ctx.read("r", () => 1),
          ctx.confirm("b", { key: "b" }),
        ]) {
          later.push(
            await made.then(
              () => "fine",
              (error: unknown) => (isSuspension(error) ? "suspended" : String(error)),
            ),
          );
        }
      }
      return "swallowed";
    });
    expect(Object.keys(question(await h.call("t")).inputRequests)).toEqual(["confirm"]);
    await settled();
    expect(later).toEqual(["suspended", "suspended", "suspended"]);
    expect(effects).toBe(0);
    expect(h.log).toContainEqual(
      expect.objectContaining({
        level: "warn",
        message: expect.stringContaining("caught the suspension signal") as string,
      }),
    );
  });

  // promise P3.4.5
  test("3.4: the response waits for the handler's cleanup, at most the grace of 1 s", async () => {
    const events: string[] = [];
    const h = serving(async (ctx) => {
      try {
        return String(await ctx.confirm("?"));
      } finally {
        await new Promise(() => undefined);
      }
    });
    const reply = h.call("t").then((value) => events.push(value.kind));
    await h.settled();
    await h.advance(999);
    expect(events).toEqual([]);
    await h.advance(1);
    await reply;
    expect(events).toEqual(["input_required"]);
  });

  // promise P3.4.4
  test("A3 3.4: a return waits for the steps that were started and not awaited", async () => {
    const h = serving(async (ctx) => {
      void ctx.step("forgotten", () => 1);
      return "returned";
    });
    expect(text(await h.call("t"))).toBe("returned");
    expect(h.store.snapshot().runs[0]?.entries).toMatchObject([{ name: "forgotten" }]);
  });

  test("a thenable that throws when it is asked for its value is a failed handler, not a broken engine", async () => {
    const h = serving(
      () =>
        ({
          // biome-ignore lint/suspicious/noThenProperty: the point of the test
          then() {
            throw new Error("bad thenable");
          },
        }) as unknown as Promise<string>,
    );
    expect(text(await h.call("t"))).toMatch(/^The call failed/);
  });

  test("no timer is left behind by calls that returned, threw or suspended", async () => {
    for (const body of [
      async () => "x",
      async () => Promise.reject(new Error("x")),
      async (ctx: Context) => String(await ctx.confirm("?")),
      (ctx: Context) => ctx.step("s", () => "x"),
    ]) {
      const h = serving(body);
      await h.call("t");
      await settled();
      expect(h.clock.pendingTimers()).toBe(0);
    }
  });
});

describe("a schema that throws", () => {
  test("rejects the ask with what it threw, and breaks nothing else", async () => {
    const angry = z.object({
      name: z.string().refine(() => {
        throw new Error("schema bug");
      }),
    });
    const h = serving(async (ctx) =>
      ctx.elicit("?", angry).then(
        (outcome) => outcome.action,
        (error: unknown) => (error as Error).message,
      ),
    );
    const { requestState } = question(await h.call("t"));
    const reply = await h.call("t", {
      requestState,
      inputResponses: { elicit: accept({ name: "x" }) },
    });
    expect(text(reply)).toBe("schema bug");
  });
});

describe("an undeclared question", () => {
  const noSampling: CallOptions = { capabilities: { elicitation: {} } };

  test("A6 Q2: ends the round before anything of it is sent, however the handler takes it", async () => {
    const h = serving(async (ctx) => {
      const asks = [ctx.confirm("?"), ctx.sample({ messages: [], maxTokens: 1 })];
      return caught(Promise.all(asks));
    });
    expect(code(await h.call("t", noSampling))).toBe("MISSING_CAPABILITY");
    expect(h.store.snapshot().runs).toEqual([]);
  });

  test("A6: a step that runs beside it is finished and recorded first, and the next call goes on from there", async () => {
    let effects = 0;
    const entered = deferred();
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            const step = ctx.step("charge", async () => {
              entered.resolve();
              await settled();
              effects += 1;
            });
            await entered.promise;
            await ctx.sample({ messages: [], maxTokens: 1 });
            await step;
            return "x";
          },
        }),
      ],
    });
    expect(code(await h.call("t", noSampling))).toBe("MISSING_CAPABILITY");
    expect(h.store.snapshot().runs[0]).toMatchObject({
      head: { status: "interrupted" },
      entries: [{ name: "charge" }],
    });
    question(await h.call("t"));
    expect(effects).toBe(1);
  });
});
