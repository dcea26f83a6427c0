/**
 * Clients that answer a question with an error: what the handler catches, now and on every replay (docs/design.md 3.5, 3.6).
 */
import { isRepriseError } from "@reprise/errors";
import { AskDeclinedError, type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  accept,
  code,
  type Harness,
  question,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";
import { createMemoryDispatcher } from "./support/memoryDispatcher.ts";

const description = "d";
const unknown = { code: -32601, message: "Method not found" };
const params = { messages: [], maxTokens: 1 };

function serving(
  handler: (ctx: Context) => Promise<string>,
  effects: "once" | "repeatable" = "once",
  options: Parameters<typeof startHarness>[1] = {},
): Harness {
  return startHarness(
    { tools: [tool({ name: "t", description, effects, handler: (_, ctx) => handler(ctx) })] },
    options,
  );
}

/** What was thrown, in words. */
function told(error: unknown): string {
  if (error instanceof AskDeclinedError) return `declined ${error.key}`;
  if (!isRepriseError(error)) return "something else";
  return `${error.code} ${JSON.stringify(error.data)}`;
}

const cannot = `CLIENT_CANNOT_ANSWER ${JSON.stringify({ key: "confirm", rpcCode: -32601, message: "Method not found" })}`;

describe.each(["once", "repeatable"] as const)("a client's error, in a %s handler", (effects) => {
  // promise P3.7.3
  test("rejects the ask with its code, and does so again on every later attempt", async () => {
    const caught: string[] = [];
    const h = serving(async (ctx) => {
      try {
        await ctx.confirm("Sure?");
      } catch (error) {
        if (isRepriseError(error)) caught.push(told(error));
        else throw error;
      }
      return (await ctx.elicit("Name?", { type: "object", properties: { n: { type: "string" } } }))
        .action;
    }, effects);
    const first = question(await h.call("t"));
    const { requestState } = first;
    const clientErrors = { confirm: unknown };
    const second = question(await h.call("t", { requestState, clientErrors }));
    const done = await h.call("t", {
      requestState: second.requestState,
      inputResponses: { elicit: accept({ n: "x" }) },
    });
    expect(text(done)).toBe("accept");
    expect(caught).toEqual([cannot, cannot]);
  });

  // promise P3.7.4
  test("of the code that says the person refused is a decline for a sample, and for nothing else", async () => {
    const refused = { code: -1, message: "User rejected sampling request" };
    const h = serving(
      (ctx) =>
        Promise.all([ctx.sample(params).catch(told), ctx.confirm("Sure?").then(String, told)]).then(
          ([one, other]) => `${typeof one === "string" ? one : "a result"}; ${other}`,
        ),
      effects,
    );
    const { requestState } = question(await h.call("t"));
    const clientErrors = { sample: refused, confirm: refused };
    const reply = text(await h.call("t", { requestState, clientErrors }));
    expect(reply).toMatch(/^declined sample; CLIENT_CANNOT_ANSWER \{"key":"confirm","rpcCode":-1,/);
  });

  // promise P3.7.5
  test("to another question than the pending one is not used", async () => {
    let words = "one?";
    const h = serving((ctx) => ctx.confirm(words).then(String, told), effects);
    const { requestState } = question(await h.call("t"));
    words = "two?";
    const again = question(await h.call("t", { requestState, clientErrors: { confirm: unknown } }));
    expect(JSON.stringify(again.inputRequests)).toContain("two?");
  });

  test("that nobody asked for means nothing", async () => {
    const h = serving((ctx) => ctx.sample(params).then(String, told), effects);
    question(await h.call("t", { clientErrors: { sample: unknown, other: unknown } }));
  });

  // promise P3.7.6
  test("can't be made up in inputResponses", async () => {
    const h = serving((ctx) => ctx.confirm("Sure?").then(String, told), effects);
    const { requestState } = question(await h.call("t"));
    for (const forged of [
      { error: unknown },
      { value: null, digest: "", error: unknown },
      { code: -32601, message: "x" },
      null,
    ]) {
      const again = question(
        await h.call("t", { requestState, inputResponses: { confirm: forged } }),
      );
      expect(again.inputRequests).toHaveProperty("confirm");
    }
  });

  test("comes from a worker as it does inline", async () => {
    const dispatcher = createMemoryDispatcher();
    const front = serving((ctx) => ctx.confirm("Sure?").then(String, told), effects, {
      dispatcher,
    });
    dispatcher.workers = [front.beside({}, { dispatcher: undefined }).runtime];
    const { requestState } = question(await front.call("t"));
    const reply = await front.call("t", { requestState, clientErrors: { confirm: unknown } });
    expect(text(reply)).toBe(cannot);
  });
});

describe("a client's error that a once run took", () => {
  const settledByError = async () => {
    const h = serving(async (ctx) => {
      await ctx.confirm("Sure?").catch(() => undefined);
      await ctx.confirm("Really?", { key: "really" });
      return "done";
    });
    const { requestState } = question(await h.call("t"));
    const second = question(
      await h.call("t", { requestState, clientErrors: { confirm: unknown } }),
    );
    return { h, requestState, second };
  };

  // promise P3.7.5
  test("is settled: the same error finds the next question, a result or another error contradicts it", async () => {
    const { h, requestState, second } = await settledByError();
    const same = question(await h.call("t", { requestState, clientErrors: { confirm: unknown } }));
    expect(same.inputRequests).toEqual(second.inputRequests);
    const result = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(code(result)).toBe("ANSWER_SETTLED");
    const clientErrors = { confirm: { ...unknown, code: -32603 } };
    expect(code(await h.call("t", { requestState, clientErrors }))).toBe("ANSWER_SETTLED");
  });

  test("keeps at most 1000 characters of what the client wrote", async () => {
    const h = serving(async (ctx) => {
      await ctx.confirm("Sure?").catch(() => undefined);
      return String(await ctx.confirm("Really?", { key: "really" }));
    });
    const { requestState } = question(await h.call("t"));
    const long = { code: -32603, message: "x".repeat(100_000) };
    question(await h.call("t", { requestState, clientErrors: { confirm: long } }));
    expect(JSON.stringify(h.store.snapshot().runs).length).toBeLessThan(5_000);
  });

  test("is taken again by a repeated first call that goes on from a failed step", async () => {
    let fails = true;
    const caught: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx
              .step(
                "s",
                () => {
                  if (fails) throw new Error("away");
                },
                { retry: { tries: 1 } },
              )
              .catch(() => undefined);
            await ctx.confirm("Sure?").catch((error: unknown) => caught.push(told(error)));
            if (fails) throw new Error("failed");
            return "done";
          },
        }),
      ],
    });
    const first = question(await h.call("t"));
    const { requestState } = first;
    await h.call("t", { requestState, clientErrors: { confirm: unknown } });
    fails = false;
    expect(text(await h.call("t"))).toBe("done");
    expect(caught.at(-1)).toBe(cannot);
  });
});
