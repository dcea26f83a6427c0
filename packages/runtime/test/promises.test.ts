/** Promises of docs/design.md that no other file shows by itself; docs/promises.md has them all. */
import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { code, question, settled, startHarness, text, yes } from "./support/harness.ts";

const one = (
  body: (ctx: Context) => Promise<unknown>,
  effects: "once" | "repeatable" = "once",
): readonly ToolDefinition[] => [
  tool({
    name: "t",
    description: "d",
    effects,
    handler: async (_args, ctx) => String(await body(ctx)),
  }),
];

describe.each(["once", "repeatable"] as const)("a %s run", (effects) => {
  // promise P3.1.2
  test.each([
    ["confirm", (ctx: Context) => ctx.confirm("Sure?")],
    ["elicit", (ctx: Context) => ctx.elicit("Which?", z.object({ a: z.string() }))],
    [
      "elicitUrl",
      (ctx: Context) =>
        ctx.elicitUrl("Go there", ({ id }) => `https://a.example/${id}`, { waitMs: 0 }),
    ],
    ["sample", (ctx: Context) => ctx.sample({ messages: [], maxTokens: 1 })],
    ["listRoots", (ctx: Context) => ctx.listRoots()],
  ] as const)(
    "that asks by %s: every response that asks has its questions beside its state",
    async (key, ask) => {
      const h = startHarness({ tools: one(ask, effects) });
      let reply = await h.call("t");
      // The first answer is none, a page that nobody finished stays open, and the third is left out.
      for (const answer of [{}, { action: "accept" }, undefined]) {
        const { requestState, inputRequests } = question(reply);
        expect(requestState).not.toBe("");
        expect(Object.keys(inputRequests)).toEqual([key]);
        const inputResponses = answer === undefined ? {} : { [key]: answer };
        reply = await h.call("t", { requestState, inputResponses });
      }
      expect(Object.keys(question(reply).inputRequests)).toEqual([key]);
    },
  );

  // promise P3.9.1
  test("goes on under another version of its handler, which is recorded and reported and decides nothing", async () => {
    const ran: string[] = [];
    const body = async (ctx: Context) => {
      await ctx.step("act", () => ran.push("act"));
      return ctx.confirm("Sure?");
    };
    const h = startHarness({ version: "1", tools: one(body, effects) });
    const { requestState } = question(await h.call("t"));
    const deployed = h.beside({ version: "2", tools: one(body, effects) });
    expect(text(await deployed.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
    expect(ran).toEqual(["act"]);
    // A repeatable run has no record; its state carries the version.
    const recorded = h.store.snapshot().runs.map(({ head }) => head.version);
    expect(recorded).toEqual(effects === "once" ? ["2"] : []);
  });

  // promise P3.2.6
  test("holds up no delivery and starts nothing early for a promise of the author's own", async () => {
    const ran: string[] = [];
    let own = Promise.resolve();
    const h = startHarness({
      tools: one(async (ctx) => {
        const [slow, quick] = await Promise.all([
          own.then(() => ctx.step("slow", () => ran.push("slow"))),
          ctx.step("quick", () => ran.push("quick")),
        ]);
        await ctx.step("last", () => ran.push("last"));
        return `${slow} ${quick} ${await ctx.confirm("Sure?")}`;
      }, effects),
    });
    const { requestState } = question(await h.call("t"));
    const first = [...ran];
    let release = (): void => undefined;
    own = new Promise((resolve) => {
      release = resolve;
    });
    const reply = h.call("t", { requestState, inputResponses: { confirm: yes } });
    await settled();
    expect(ran).toEqual(first);
    release();
    expect(text(await reply)).toMatch(/^[12] [12] true$/);
    expect(ran).toEqual(first);
  });

  // promise P5.8
  test("has its question open for 24 hours unless told otherwise, and the host is told until when", async () => {
    const h = startHarness({ tools: one((ctx) => ctx.confirm("Sure?"), effects) });
    const { requestState, answerBeforeMs } = question(await h.call("t"));
    expect(answerBeforeMs).toBe(h.clock.now() + 24 * 3_600_000);
    const retry = { requestState, inputResponses: { confirm: yes } };
    const late = h.beside();
    h.clock.advance(24 * 3_600_000 - 1);
    expect(text(await h.call("t", retry))).toBe("true");
    const { requestState: second } = question(await late.call("t"));
    h.clock.advance(24 * 3_600_000);
    expect(code(await late.call("t", { ...retry, requestState: second }))).toBe(
      "REQUEST_STATE_INVALID",
    );
  });
});

// promise P3.9.4
test("a mismatch of a repeatable run is answered by its code, as often as it comes, and touches no store", async () => {
  const asking = (step: string) =>
    one(async (ctx) => {
      await ctx.step(step, () => 1);
      return ctx.confirm("Sure?");
    }, "repeatable");
  const h = startHarness({ tools: asking("charge") });
  const { requestState } = question(await h.call("t"));
  const retry = { requestState, inputResponses: { confirm: yes } };
  const deployed = h.beside({ tools: asking("charge card") });
  for (let time = 0; time < 2; time++) {
    const reply = deployed.call("t", retry);
    await settled();
    await h.advance(30_000);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    await h.advance(11 * 60_000);
  }
  expect(h.traffic.calls).toEqual([]);
  expect(text(await h.call("t", retry))).toBe("true");
});

// promise P3.2.5
test("an answer is an entry from the moment it is taken, and one that no ask took is none", async () => {
  const h = startHarness({
    tools: one(async (ctx) => {
      const both = await Promise.all([
        ctx.confirm("One?", { key: "one" }),
        ctx.confirm("Other?", { key: "other" }),
      ]);
      return `${both.join()} ${await ctx.confirm("Last?", { key: "last" })}`;
    }),
  });
  const names = (): readonly string[] =>
    h.store
      .snapshot()
      .runs.flatMap(({ entries }) =>
        entries.map(({ kind, ...e }) => `${kind} ${"key" in e ? e.key : ""}`),
      );
  const { requestState } = question(await h.call("t"));
  expect(names()).toEqual([]);
  const inputResponses = { one: yes, other: {}, last: yes };
  await h.call("t", { requestState, inputResponses });
  expect(names()).toEqual(["answer_taken one"]);
});

// promise P4.5.29
test.each(["retry", "fail"] as const)(
  "a step with an undo function is marked in its record before it is entered, under every policy (%s)",
  async (onUncertain) => {
    const marked: unknown[] = [];
    const h = startHarness({
      tools: one((ctx) =>
        ctx.step(
          "book",
          () => {
            const [run] = h.store.snapshot().runs;
            marked.push(Object.keys(run?.head.marks ?? {}), run?.head.undoable);
          },
          { onUncertain, undo: () => undefined },
        ),
      ),
    });
    await h.call("t");
    expect(marked).toEqual([["book"], ["book"]]);
  },
);
