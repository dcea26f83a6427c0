import { tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  decline,
  deferred,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const runs = (steps: number) =>
  tool({
    name: "steps",
    description,
    async handler(_args, ctx) {
      for (let index = 0; index < steps; index += 1) await ctx.step(`s${index}`, () => index);
      return "done";
    },
  });

describe("when a record is made, counted in calls of the store", () => {
  // promise P4.2.12
  test("O1: a call without key, steps and asks touches the store zero times, with reads and state too", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "quiet",
          description,
          async handler(_args, ctx) {
            ctx.state.set("a", "b");
            return String(await ctx.read("r", () => 7));
          },
        }),
      ],
    });
    expect(text(await h.call("quiet"))).toBe("7");
    expect(h.traffic.calls).toEqual([]);
  });

  // promise P4.1.6
  test("O1: a repeatable handler touches the store zero times, over rounds and steps", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "repeat",
          description,
          effects: "repeatable",
          async handler(_args, ctx) {
            await ctx.step("before", () => 1);
            const sure = await ctx.confirm("Sure?");
            await ctx.step("after", () => 2);
            return sure ? "yes" : "no";
          },
        }),
      ],
    });
    const asked = question(await h.call("repeat"));
    const reply = await h.call("repeat", {
      requestState: asked.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("yes");
    expect(h.traffic.calls).toEqual([]);
    expect(h.store.snapshot().runs).toEqual([]);
  });

  // promise P4.2.10
  test.each([
    [0, []],
    [1, ["createRun", "append", "endRound"]],
    [5, ["createRun", "append", "append", "append", "append", "append", "endRound"]],
  ])(
    "an unkeyed call with %i steps costs one creation, one write a step and one end",
    async (steps, calls) => {
      const h = startHarness({ tools: [runs(steps)] });
      expect(text(await h.call("steps"))).toBe("done");
      expect(h.traffic.calls).toEqual(calls);
    },
  );

  // promise P4.2.12
  test("O1: a keyed call has its record before the handler is entered", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "keyed",
          description,
          idempotency: { key: () => "k" },
          handler: () => {
            seen.push(...h.traffic.calls);
            return "x";
          },
        }),
      ],
    });
    await h.call("keyed");
    expect(seen).toEqual(["claimFirst"]);
    expect(h.traffic.calls).toEqual(["claimFirst", "endRound"]);
  });

  // promise P4.2.12
  test("O1: a first suspension makes the record and ends its round in one write", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "ask",
          description,
          handler: async (_a, ctx) => String(await ctx.confirm("?")),
        }),
      ],
    });
    question(await h.call("ask"));
    expect(h.traffic.calls).toEqual(["createRun"]);
    expect(h.store.snapshot().runs[0]?.head).toMatchObject({ status: "waiting", round: 1 });
  });
});

describe("what is durable before what", () => {
  test("W1: the handler gets a step's result only after the store has it", async () => {
    const written = deferred();
    const events: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            await ctx.step("s", () => {
              events.push("effect");
            });
            events.push("handler goes on");
            return "x";
          },
        }),
      ],
    });
    h.traffic.before = async (method) => {
      if (method === "append") await written.promise;
    };
    const reply = h.call("t");
    await settled();
    expect(events).toEqual(["effect"]);
    written.resolve();
    await reply;
    expect(events).toEqual(["effect", "handler goes on"]);
  });

  // promise P4.2.9
  test("W2: a live step starts only after the reads and state writes before it are in the store", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const rate = await ctx.read("rate", () => 3);
            ctx.state.set("seen", String(rate));
            await ctx.step("use", () => {
              const [run] = h.store.snapshot().runs;
              expect(run?.entries).toMatchObject([{ kind: "read_completed", name: "rate" }]);
              expect(run?.head.drafts).toEqual({ seen: ["3"] });
              expect(run?.head.stepStarted).toBe(true);
            });
            return "x";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toBe("x");
  });

  // promise P4.4.6
  test("a step with a policy other than retry is marked in the store before its function is entered", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            await ctx.step("plain", () => 1);
            await ctx.step(
              "marked",
              () => {
                expect(h.store.snapshot().runs[0]?.head.marks).toHaveProperty("marked");
              },
              { onUncertain: "fail" },
            );
            expect(h.store.snapshot().runs[0]?.head.marks).toEqual({});
            return "x";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toBe("x");
    expect(h.traffic.calls).toEqual(["createRun", "append", "append", "append", "endRound"]);
  });

  // promise P4.2.6
  test("B1: no response leaves before its outcome is recorded", async () => {
    const recorded = deferred();
    const h = startHarness({ tools: [runs(1)] });
    h.traffic.before = async (method) => {
      if (method === "endRound") await recorded.promise;
    };
    let replied = false;
    const reply = h.call("steps").then((value) => {
      replied = true;
      return value;
    });
    await settled();
    expect(replied).toBe(false);
    recorded.resolve();
    expect(text(await reply)).toBe("done");
  });
});

describe("a round is executed once", () => {
  const refund = (entered: string[], effects: string[]) =>
    tool({
      name: "refund",
      description,
      async handler(_args, ctx) {
        entered.push("in");
        if (!(await ctx.confirm("Refund?"))) return "kept";
        await ctx.step("refund", () => {
          effects.push("refund");
        });
        return "refunded";
      },
    });

  // promise P4.2.4
  test("the recorded response is returned to every repetition of the round, without entering the handler", async () => {
    const entered: string[] = [];
    const effects: string[] = [];
    const h = startHarness({ tools: [refund(entered, effects)] });
    const { requestState } = question(await h.call("refund"));
    const retry = { requestState, inputResponses: { confirm: yes } };
    const first = await h.call("refund", retry);
    const again = await h.call("refund", retry);
    expect(again).toEqual(first);
    expect(entered).toHaveLength(2);
    expect(effects).toEqual(["refund"]);
  });

  // promise P4.2.8
  test("L1: 20 parallel retries of a round on two processes share one execution", async () => {
    const entered: string[] = [];
    const effects: string[] = [];
    const h = startHarness({ tools: [refund(entered, effects)] });
    const other = h.beside();
    const { requestState } = question(await h.call("refund"));
    const retry = { requestState, inputResponses: { confirm: yes } };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? h : other).call("refund", retry)),
    );
    expect(new Set(replies.map(text))).toEqual(new Set(["refunded"]));
    expect(effects).toEqual(["refund"]);
    expect(entered).toHaveLength(2);
  });

  // promise P4.2.8
  test("L1: a joiner waits 45 s at most, then gets IN_FLIGHT with the run's id", async () => {
    const release = deferred();
    const h = startHarness({
      tools: [
        tool({
          name: "slow",
          description,
          async handler(_args, ctx) {
            await ctx.confirm("?");
            await ctx.step("long", () => release.promise);
            return "x";
          },
        }),
      ],
    });
    const { requestState } = question(await h.call("slow"));
    const retry = { requestState, inputResponses: { confirm: yes } };
    const running = h.call("slow", retry);
    await settled();
    const joining = h.call("slow", retry);
    await settled();
    for (let second = 0; second < 46; second += 1) await h.advance(1000);
    const reply = await joining;
    expect(code(reply)).toBe("IN_FLIGHT");
    expect(reply).toMatchObject({
      error: { data: { round: 1, runId: expect.any(String) as string } },
    });
    release.resolve();
    expect(text(await running)).toBe("x");
  });

  // promise P4.2.13
  test("a state whose record is gone is RUN_LOST, is logged, and runs nothing", async () => {
    const entered: string[] = [];
    const h = startHarness({ tools: [refund(entered, [])] });
    const { requestState } = question(await h.call("refund"));
    const elsewhere = startHarness({ tools: [refund(entered, [])] });
    const reply = await elsewhere.call("refund", {
      requestState,
      inputResponses: { confirm: yes },
    });
    expect(code(reply)).toBe("RUN_LOST");
    expect(entered).toHaveLength(1);
    expect(elsewhere.log).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ event: "run_lost" }) as object }),
    );
  });

  // promise P4.2.5
  test("L3: a recorded question is not sent to a client that can't answer it", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "keyed",
          description,
          idempotency: { key: () => "k" },
          handler: async (_args, ctx) => String(await ctx.confirm("?")),
        }),
      ],
    });
    question(await h.call("keyed"));
    const reply = await h.call("keyed", { capabilities: {} });
    expect(code(reply)).toBe("MISSING_CAPABILITY");
    question(await h.call("keyed"));
  });

  test("a declined question is recorded like any other end", async () => {
    const effects: string[] = [];
    const h = startHarness({ tools: [refund([], effects)] });
    const { requestState } = question(await h.call("refund"));
    const retry = { requestState, inputResponses: { confirm: decline } };
    expect(text(await h.call("refund", retry))).toBe("kept");
    expect(text(await h.call("refund", retry))).toBe("kept");
    expect(effects).toEqual([]);
  });
});
