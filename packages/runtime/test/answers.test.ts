import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  accept,
  code,
  decline,
  deferred,
  type Harness,
  no,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const serving = (
  body: (ctx: Context) => Promise<string>,
  effects: "once" | "repeatable" = "once",
): Harness =>
  startHarness({
    tools: [tool({ name: "t", description, effects, handler: (_args, ctx) => body(ctx) })],
  });

/** Two asks in parallel, then one that depends on both. */
const trip = async (ctx: Context): Promise<string> => {
  const [flight, hotel] = await Promise.all([
    ctx.confirm("Flight?", { key: "flight" }),
    ctx.confirm("Hotel?", { key: "hotel" }),
  ]);
  const both = await ctx.confirm(`Book ${flight} ${hotel}?`);
  return `${flight} ${hotel} ${both}`;
};

describe.each(["once", "repeatable"] as const)("answers of a %s run", (effects) => {
  // promise P3.3.1
  test("3.3: asks made in parallel share one round", async () => {
    const h = serving(trip, effects);
    const first = question(await h.call("t"));
    expect(Object.keys(first.inputRequests)).toEqual(["flight", "hotel"]);
    const second = question(
      await h.call("t", {
        requestState: first.requestState,
        inputResponses: { flight: yes, hotel: no },
      }),
    );
    expect(second.inputRequests).toMatchObject({
      confirm: { params: { message: "Book true false?" } },
    });
    const last = await h.call("t", {
      requestState: second.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(last)).toBe("true false true");
  });

  // promise P3.7.1
  test("3.7: of a partial set the missing answer is asked again under its key, the given one is not", async () => {
    const h = serving(trip, effects);
    const first = question(await h.call("t"));
    const rest = question(
      await h.call("t", { requestState: first.requestState, inputResponses: { hotel: yes } }),
    );
    expect(Object.keys(rest.inputRequests)).toEqual(["flight"]);
    const next = question(
      await h.call("t", { requestState: rest.requestState, inputResponses: { flight: no } }),
    );
    expect(next.inputRequests).toMatchObject({
      confirm: { params: { message: "Book false true?" } },
    });
  });

  // promise P3.7.2
  test("3.7: unknown keys are ignored, and inputResponses that is no object is refused", async () => {
    const h = serving(trip, effects);
    const { requestState } = question(await h.call("t"));
    const reply = question(
      await h.call("t", { requestState, inputResponses: { other: yes, confirm: yes } }),
    );
    expect(Object.keys(reply.inputRequests)).toEqual(["flight", "hotel"]);
    for (const inputResponses of [[], "x", null, 5]) {
      expect(code(await h.call("t", { requestState, inputResponses }))).toBe("INVALID_PARAMS");
    }
  });

  // promise P3.5.1
  test("Q1 3.5: an answer to another question is not used: the new one is asked", async () => {
    let price = 10;
    const h = serving(async (ctx) => String(await ctx.confirm(`Pay ${price}?`)), effects);
    const first = question(await h.call("t"));
    price = 1000;
    const changed = question(
      await h.call("t", { requestState: first.requestState, inputResponses: { confirm: yes } }),
    );
    expect(changed.inputRequests).toMatchObject({ confirm: { params: { message: "Pay 1000?" } } });
    const reply = await h.call("t", {
      requestState: changed.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
  });

  // promise P3.5.2
  test("Q3 3.5: a question that changes twice in a row is ASK_UNSTABLE and shows both texts", async () => {
    let price = 10;
    const h = serving(async (ctx) => String(await ctx.confirm(`Pay ${price++}?`)), effects);
    const first = question(await h.call("t"));
    const second = question(
      await h.call("t", { requestState: first.requestState, inputResponses: { confirm: yes } }),
    );
    const third = await h.call("t", {
      requestState: second.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(third)).toMatch(/"Pay 11\?".*"Pay 12\?".*ASK_UNSTABLE/);
  });

  test("3.5: a question that changes by a deploy each time is asked", async () => {
    const h = startHarness({ tools: [] });
    const release = (version: string): Harness =>
      h.beside({
        version,
        tools: [
          tool({
            name: "t",
            description,
            effects,
            handler: async (_a, ctx) => String(await ctx.confirm(`${version}?`)),
          }),
        ],
      });
    const first = question(await release("1").call("t"));
    const second = question(
      await release("2").call("t", {
        requestState: first.requestState,
        inputResponses: { confirm: yes },
      }),
    );
    const third = question(
      await release("3").call("t", {
        requestState: second.requestState,
        inputResponses: { confirm: yes },
      }),
    );
    const reply = await release("3").call("t", {
      requestState: third.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
  });
});

describe("answers that nobody asked for", () => {
  const form = z.object({ city: z.string() });
  const body = async (ctx: Context): Promise<string> =>
    JSON.stringify(await ctx.elicit("Where?", form));
  const inputResponses = { elicit: accept({ city: "Bern" }) };

  // promise P3.8.1
  test("3.8: feed elicit, sample and listRoots of repeatable handlers", async () => {
    const h = serving(async (ctx) => {
      const { action } = await ctx.elicit("Where?", form);
      const { text: written } = await ctx.sample({ messages: [], maxTokens: 1 });
      const roots = await ctx.listRoots();
      return `${action} ${written} ${roots.length}`;
    }, "repeatable");
    const reply = await h.call("t", {
      inputResponses: {
        ...inputResponses,
        sample: { role: "assistant", model: "m", content: { type: "text", text: "hi" } },
        listRoots: { roots: [] },
      },
    });
    expect(text(reply)).toBe("accept hi 0");
  });

  // promise P3.8.2
  test("3.8: never feed confirm and elicitUrl", async () => {
    const h = serving(
      async (ctx) =>
        JSON.stringify(
          await Promise.all([ctx.confirm("?"), ctx.elicitUrl("?", "https://a.example/")]),
        ),
      "repeatable",
    );
    const asked = question(
      await h.call("t", { inputResponses: { confirm: yes, elicitUrl: { action: "accept" } } }),
    );
    expect(Object.keys(asked.inputRequests)).toEqual(["confirm", "elicitUrl"]);
  });

  // promise P3.8.1
  test("3.8: feed no once handler, with a store and without", async () => {
    question(await serving(body).call("t", { inputResponses }));
    const storeless = startHarness(
      { tools: [tool({ name: "t", description, handler: (_a, ctx) => body(ctx) })] },
      { store: "none" },
    );
    question(await storeless.call("t", { inputResponses }));
  });
});

describe("answers that contradict", () => {
  // promise P3.6.4
  test("3.6: another answer than the settled one is ANSWER_SETTLED with run, round and status, and runs nothing", async () => {
    let entered = 0;
    const h = serving(async (ctx) => {
      entered += 1;
      return String(await ctx.confirm("?"));
    });
    const { requestState } = question(await h.call("t"));
    expect(text(await h.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
    const reply = await h.call("t", { requestState, inputResponses: { confirm: decline } });
    expect(code(reply)).toBe("ANSWER_SETTLED");
    const runId = h.store.snapshot().runs[0]?.origin.runId;
    expect(reply).toMatchObject({
      error: { data: { key: "confirm", runId, round: 1, status: "completed" } },
    });
    expect(entered).toBe(2);
  });

  // promise P3.6.1
  test("3.6: a contradiction to the answer that a live attempt was claimed with is found before it has taken it", async () => {
    const h = serving(async (ctx) => String(await ctx.confirm("?")));
    const { requestState } = question(await h.call("t"));
    const running = h.call("t", { requestState, inputResponses: { confirm: yes } });
    const contradicting = h.call("t", { requestState, inputResponses: { confirm: no } });
    expect(code(await contradicting)).toBe("ANSWER_SETTLED");
    expect(text(await running)).toBe("true");
  });

  test("3.6: the same answer in another spelling or with other _meta is no contradiction", async () => {
    const h = serving(async (ctx) => String(await ctx.confirm("?")));
    const { requestState } = question(await h.call("t"));
    await h.call("t", { requestState, inputResponses: { confirm: yes } });
    const respelt = { content: { confirm: true }, _meta: { at: 1 }, action: "accept" };
    expect(text(await h.call("t", { requestState, inputResponses: { confirm: respelt } }))).toBe(
      "true",
    );
  });
});

describe("answers that come late or from older states", () => {
  // promise P3.6.5
  test("3.6: an older state's answer counts while that ask is still pending", async () => {
    const h = serving(trip);
    const first = question(await h.call("t"));
    question(
      await h.call("t", { requestState: first.requestState, inputResponses: { hotel: yes } }),
    );
    const next = question(
      await h.call("t", { requestState: first.requestState, inputResponses: { flight: yes } }),
    );
    expect(next.inputRequests).toMatchObject({
      confirm: { params: { message: "Book true true?" } },
    });
  });

  // promise P3.6.6
  test("3.6: an older state none of whose answers counts gets the newest response and runs nothing", async () => {
    let entered = 0;
    const h = serving((ctx) => {
      entered += 1;
      return trip(ctx);
    });
    const first = question(await h.call("t"));
    const answers = { flight: yes, hotel: yes };
    const second = question(
      await h.call("t", { requestState: first.requestState, inputResponses: answers }),
    );
    const repeated = question(
      await h.call("t", { requestState: first.requestState, inputResponses: answers }),
    );
    expect(repeated.inputRequests).toEqual(second.inputRequests);
    expect(entered).toBe(2);
  });

  // promise P3.6.7
  test("3.6: a joiner whose answers reach further goes on with them afterwards", async () => {
    const release = deferred();
    const h = serving(async (ctx) => {
      const [flight] = await Promise.all([
        ctx.confirm("Flight?", { key: "flight" }).then(async (sure) => {
          await ctx.step("hold", () => release.promise);
          return sure;
        }),
        ctx.confirm("Hotel?", { key: "hotel" }),
      ]);
      return `booked ${flight}`;
    });
    const { requestState } = question(await h.call("t"));
    const less = h.call("t", { requestState, inputResponses: { flight: yes } });
    await settled();
    const more = h.call("t", { requestState, inputResponses: { flight: yes, hotel: yes } });
    await settled();
    release.resolve();
    expect(Object.keys(question(await less).inputRequests)).toEqual(["hotel"]);
    expect(text(await more)).toBe("booked true");
  });

  // promise P5.9
  test("an expired state is refused at its first use, and accepted for a round that was claimed in time", async () => {
    const h = serving(async (ctx) => String(await ctx.confirm("?")));
    const unused = question(await h.call("t"));
    const used = question(await h.call("t"));
    const retry = { requestState: used.requestState, inputResponses: { confirm: yes } };
    expect(text(await h.call("t", retry))).toBe("true");
    h.clock.advance(24 * 3_600_000 + 1);
    expect(
      code(
        await h.call("t", { requestState: unused.requestState, inputResponses: { confirm: yes } }),
      ),
    ).toBe("REQUEST_STATE_INVALID");
    expect(text(await h.call("t", retry))).toBe("true");
  });
});
