/**
 * What the harness promises to authors: questions answered as a person means them, crashes at any step, recorded runs replayed.
 */
import { type Context, defineServer, notDone, type Server, tool } from "@reprise/runtime";
import { type Harness, harness } from "@reprise/testing";
import { describe, expect, test } from "vitest";

/** A shop whose payment service knows keys, and whose mail service does not. */
function shop(rename: (step: string) => string = (step) => step): {
  readonly server: Server;
  readonly refunds: Map<string, number>;
  readonly mails: string[];
  readonly reads: string[];
} {
  const refunds = new Map<string, number>();
  const mails: string[] = [];
  const reads: string[] = [];
  const refund = async ({ orderId }: { orderId: string }, ctx: Context): Promise<string> => {
    const order = await ctx.read("load order", () => {
      reads.push(orderId);
      return { total: 12, readings: reads.length };
    });
    if (!(await ctx.confirm(`Refund ${order.total} of ${orderId}?`)))
      return "Nothing was refunded.";
    const amount = await ctx.step(rename("refund"), async ({ idempotencyKey }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      refunds.set(idempotencyKey, order.total);
      return order.total;
    });
    await ctx.step("mail", ({ idempotencyKey }) => void mails.push(idempotencyKey), {
      onUncertain: ({ idempotencyKey }) => (mails.includes(idempotencyKey) ? null : undefined),
    });
    return `Refunded ${amount}, reading ${order.readings}.`;
  };
  const server = defineServer({
    name: "shop",
    tools: [
      tool({
        name: "refund_order",
        description: "Refund an order",
        input: {
          type: "object",
          properties: { orderId: { type: "string" } },
          required: ["orderId"],
        },
        idempotency: { key: (args) => (args as { orderId: string }).orderId, scope: "tool" },
        handler: (args, ctx) => refund(args as { orderId: string }, ctx),
      }),
      tool({
        name: "ask_all",
        description: "Ask everything",
        handler: async (_args, ctx) => {
          const [sure, form, words] = await Promise.all([
            ctx.confirm("Sure?"),
            ctx.elicit("How many?", {
              type: "object",
              properties: { count: { type: "integer" } },
              required: ["count"],
            }),
            ctx.sample({
              messages: [{ role: "user", content: { type: "text", text: "A word?" } }],
              maxTokens: 5,
            }),
          ]);
          return JSON.stringify([sure, form.action, words.text]);
        },
      }),
      tool({
        name: "sign_in",
        description: "A page",
        handler: async (_args, ctx) => {
          const page = await ctx.elicitUrl("Sign in", ({ id }) => `https://shop.example/${id}`);
          return page.action === "accept"
            ? `${page.completed} ${JSON.stringify(page.data)}`
            : page.action;
        },
      }),
      tool({
        name: "flaky",
        description: "Refused three times an attempt",
        handler: (_args, ctx) =>
          ctx.step("flaky", () => {
            throw notDone(new Error("busy"));
          }),
      }),
    ],
  });
  return { server, refunds, mails, reads };
}

const refundA = (t: Harness): ReturnType<Harness["call"]> =>
  t.call("refund_order", { orderId: "A" });

describe.each(["modern", "legacy"] as const)("on %s", (era) => {
  test("a confirm is answered by true, and the handler's text is there", async () => {
    const { server, refunds } = shop();
    const t = await harness(server, { era });
    const asked = await refundA(t);
    expect(asked.questions["confirm"]?.message).toBe("Refund 12 of A?");
    const done = await asked.answer(true);
    expect([done.status, done.text]).toEqual(["returned", "Refunded 12, reading 1."]);
    expect(refunds.size).toBe(1);
    await t.close();
  });

  test("a declined question runs no step", async () => {
    const { server, refunds, mails } = shop();
    const t = await harness(server, { era });
    expect((await (await refundA(t)).decline()).text).toBe("Nothing was refunded.");
    expect((await (await refundA(t)).cancel()).text).toBe("Nothing was refunded.");
    expect([refunds.size, mails.length]).toEqual([0, 0]);
    await t.close();
  });

  test.each([
    ["refund", "before record"],
    ["refund", "after record"],
    ["mail", "before record"],
    ["mail", "after record"],
  ] as const)(
    "a process that dies at step %s %s changes nothing of the outcome",
    async (step, when) => {
      const { server, refunds, mails, reads } = shop();
      const t = await harness(server, { era });
      const asked = await refundA(t);
      t.crashAfter(step, when);
      expect((await asked.answer(true)).text).toBe("Refunded 12, reading 1.");
      expect(t.crashes).toBe(1);
      expect([refunds.size, mails.length, reads.length]).toEqual([1, 1, 1]);
      await t.close();
    },
  );

  test("several questions of one round are answered at once, each as its kind wants it", async () => {
    const t = await harness(shop().server, { era });
    const asked = await t.call("ask_all");
    expect(Object.keys(asked.questions)).toEqual(["confirm", "elicit", "sample"]);
    const done = await asked.answerAll({ confirm: true, elicit: { count: 3 }, sample: "reprise" });
    expect(done.text).toBe('[true,"accept","reprise"]');
    await t.close();
  });

  test("a page is completed through the author's own server", async () => {
    const { server } = shop();
    const t = await harness(server, { era });
    const asked = await t.call("sign_in");
    const id = asked.questions["elicitUrl"]?.url?.split("/").at(-1) ?? "";
    await server.elicitations.complete(id, { principal: "anonymous", data: { name: "Ann" } });
    expect((await asked.answer()).text).toBe('true {"name":"Ann"}');
    await t.close();
  });
});

test("backoffs take no time", async () => {
  const t = await harness(shop().server);
  const failed = await t.call("flaky");
  expect(failed.status).toBe("failed");
  await t.close();
});

test("a request that is repeated gets what it got, and runs nothing", async () => {
  const { server, refunds } = shop();
  const t = await harness(server);
  const done = await (await refundA(t)).answer(true);
  expect((await done.repeat()).text).toBe(done.text);
  expect((await refundA(t)).text).toBe(done.text);
  expect(refunds.size).toBe(1);
  await t.close();
});

test("an answer to no open question, or to none of several, is refused with what is open", async () => {
  const t = await harness(shop().server);
  const asked = await t.call("ask_all");
  expect(() => asked.answer(true)).toThrow("say which question; confirm, elicit, sample");
  expect(() => asked.answer(true, "other")).toThrow('no question "other"');
  await expect(t.call("nothing")).rejects.toThrow('the server has no tool "nothing"');
  await expect(t.call("refund_order")).rejects.toThrow(
    'the arguments of "refund_order" are refused',
  );
  await t.close();
});

describe("a recorded run", () => {
  const recorded = async (answers: number): Promise<unknown> => {
    const t = await harness(shop().server);
    let reply = await refundA(t);
    for (let round = 0; round < answers; round += 1) reply = await reply.answer(true);
    const [record] = t.records();
    await t.close();
    return JSON.parse(JSON.stringify(record)) as unknown;
  };

  test("fits the handlers that recorded it, and none of their steps or reads is executed", async () => {
    const finished = await recorded(1);
    const waiting = await recorded(0);
    const { server, refunds, mails, reads } = shop();
    const t = await harness(server);
    expect(await t.replay(finished)).toEqual({ fits: true, endedAt: "it returns" });
    expect(await t.replay(waiting)).toEqual({ fits: true, endedAt: 'it asks "confirm"' });
    expect([refunds.size, mails.length, reads.length]).toEqual([0, 0, 0]);
    await t.close();
  });

  test("that a renamed step does not fit is told by the entry's name and index", async () => {
    const t = await harness(shop((step) => `${step} money`).server);
    const fit = await t.replay(await recorded(1));
    expect(fit).toMatchObject({ fits: false, entry: { kind: "step", name: "refund", index: 2 } });
    expect(fit.fits ? "" : fit.message).toContain('step "refund" is recorded at entry 2');
    await t.close();
  });

  test("that is none is refused by what it lacks", async () => {
    const t = await harness(shop().server);
    await expect(t.replay({ origin: {} })).rejects.toThrow('no run record: "head" is missing');
    const { origin, ...rest } = (await recorded(0)) as { origin: object };
    await expect(t.replay({ ...rest, origin: { ...origin, format: 99 } })).rejects.toThrow(
      "format 99",
    );
    await t.close();
  });
});
