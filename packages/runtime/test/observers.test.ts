import {
  notDone,
  prompt,
  type RefusedState,
  type RunEvent,
  type RunNews,
  type RunObserver,
  type ServerDefinition,
  tool,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const MINUTE_MS = 60_000;

interface Watching {
  readonly h: Harness;
  readonly events: RunEvent[];
  readonly refused: RefusedState[];
  /** The events as words: type, and what tells them apart. */
  readonly words: () => readonly string[];
}

function watching(server: Partial<ServerDefinition>, ...others: readonly RunObserver[]): Watching {
  const events: RunEvent[] = [];
  const refused: RefusedState[] = [];
  const observer = {
    run: ({ run, ...happening }: RunNews) => void events.push({ ...run, ...happening }),
    refused: (event: RefusedState) => void refused.push(event),
  };
  const h = startHarness(server, { observers: [...others, observer], instance: "here" });
  return { h, events, refused, words: () => events.map(word) };
}

function word(event: RunEvent): string {
  switch (event.type) {
    case "attempt_started":
      return `started by ${event.cause}`;
    case "step_started":
      return `${event.step} try ${event.try}`;
    case "step_ended":
      return `${event.step} ${event.outcome} after ${event.tries}`;
    case "asked":
      return `asked ${event.asks.map(({ key, kind }) => `${key}:${kind}`).join(" ")}`;
    case "answered":
      return `answered ${event.key}:${event.kind} ${event.action} after ${event.waitedMs}`;
    case "attempt_ended":
      return `ended ${event.outcome}${event.code === undefined ? "" : ` ${event.code}`}, run ${event.status}`;
    case "replayed":
      return `replayed ${event.status}`;
    case "acted":
      return `acted ${event.action}, run ${event.status}`;
  }
}

const pay = tool({
  name: "pay",
  description,
  async handler(_args, ctx) {
    if (!(await ctx.confirm("Pay?"))) return "no";
    await ctx.step("charge", () => "charged");
    return "paid";
  },
});

describe("What observers hear of a run", () => {
  test("a dialogue with a step: everything once, in order, under one run id", async () => {
    const { h, events, words } = watching({ tools: [pay] });
    const asked = question(await h.call("pay"));
    await h.advance(MINUTE_MS);
    const answer = { requestState: asked.requestState, inputResponses: { confirm: yes } };
    expect(text(await h.call("pay", answer))).toBe("paid");
    expect(text(await h.call("pay", answer))).toBe("paid");
    expect(words()).toEqual([
      "started by call",
      "asked confirm:confirm",
      "ended suspended, run waiting",
      "started by answer",
      `answered confirm:confirm accept after ${MINUTE_MS}`,
      "charge try 1",
      "charge completed after 1",
      "ended completed, run completed",
      "replayed completed",
    ]);
    const [first] = events;
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([asked.runId]));
    expect(events.map(({ round }) => round)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1]);
    expect(events.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 2, 2, 2, 2, 2, 2]);
    expect(first).toMatchObject({
      method: "tools/call",
      handler: { kind: "tool", name: "pay" },
      effects: "once",
      principal: "anonymous",
      protocolVersion: "2026-07-28",
      instance: "here",
    });
    expect(new Set(events.map(({ runStartedAt }) => runStartedAt))).toEqual(
      new Set([first?.runStartedAt]),
    );
  });

  test("V2: a step's end and a question are told after the store has them", async () => {
    const before: string[] = [];
    const { h, words } = watching({ tools: [pay] });
    h.traffic.after = (method) => void before.push(`${method} after ${words().length}`);
    const asked = question(await h.call("pay"));
    await h.call("pay", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    // 0: nothing is told of a run that has no id; 3: the question; 4: the next attempt; 6: answer and step.
    expect(before).toEqual([
      "createRun after 0",
      "claimRound after 3",
      "append after 4",
      "append after 6",
      "endRound after 7",
    ]);
  });

  test("a call that needs no record has no id, and is told with its end", async () => {
    const gate = deferred<string>();
    const { h, events, words } = watching({
      tools: [tool({ name: "t", description, handler: () => gate.promise })],
    });
    const reply = h.call("t");
    await settled();
    expect(words()).toEqual([]);
    await h.advance(250);
    gate.resolve("done");
    await reply;
    expect(words()).toEqual(["started by call", "ended completed, run completed"]);
    expect(events.map(({ runId }) => runId)).toEqual([undefined, undefined]);
    expect(events[1]).toMatchObject({ durationMs: 250 });
    expect((events[1]?.at ?? 0) - (events[0]?.at ?? 0)).toBe(250);
  });

  test("repeatable runs are told as well: a round, its question and the next round", async () => {
    const asks = prompt({
      name: "p",
      description,
      effects: "repeatable",
      handler: async (_args, ctx) => ((await ctx.confirm("Go on?")) ? "yes" : "no"),
    });
    const { h, events, words } = watching({
      tools: [
        tool({
          name: "t",
          description,
          effects: "repeatable",
          handler: async (_args, ctx) => {
            const isSure = await ctx.confirm("Sure?");
            await ctx.step("look", () => 1);
            return isSure ? "yes" : "no";
          },
        }),
      ],
      prompts: [asks],
    });
    const asked = question(await h.call("t"));
    await h.advance(5);
    await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    expect(words()).toEqual([
      "started by call",
      "asked confirm:confirm",
      "ended suspended, run waiting",
      "started by answer",
      "answered confirm:confirm accept after 5",
      "look try 1",
      "look completed after 1",
      "ended completed, run completed",
    ]);
    expect(new Set(events.map(({ effects }) => effects))).toEqual(new Set(["repeatable"]));
    expect(new Set(events.map(({ runId }) => runId)).size).toBe(1);
    expect(events[0]?.runId).toBeTypeOf("string");
  });

  test("a step that is tried again, one that was certainly not done, and one in doubt", async () => {
    const { h, words } = watching({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("flaky", ({ attempt }) => {
              if (attempt === 1) throw new Error("again");
              return 1;
            });
            await ctx
              .step(
                "refused",
                () => {
                  throw notDone(new Error("no"));
                },
                { retry: { tries: 1 } },
              )
              .catch(() => undefined);
            await ctx.step(
              "doubtful",
              () => {
                throw new Error("lost");
              },
              { onUncertain: "fail" },
            );
            return "never";
          },
        }),
      ],
    });
    const reply = h.call("t");
    await settled();
    await h.advance(1000);
    await reply;
    expect(words()).toEqual([
      "started by call",
      "flaky try 1",
      "flaky try 2",
      "flaky completed after 2",
      "refused try 1",
      "refused not_done after 1",
      "doubtful try 1",
      "doubtful uncertain after 1",
      "ended failed STEP_UNCERTAIN, run failed",
    ]);
  });

  test("a refused state: its cause, and nothing of a run", async () => {
    const { h, events, refused } = watching({ tools: [pay] });
    await h.call("pay", { requestState: "no state", inputResponses: {} });
    expect(events).toEqual([]);
    expect(refused).toMatchObject([{ type: "state_refused", cause: expect.any(String) }]);
  });

  test("a run that is cancelled from outside: once, however often it is cancelled", async () => {
    const { h, words } = watching({ tools: [pay] });
    const { runId } = question(await h.call("pay"));
    await h.runtime.cancel(runId ?? "");
    await h.runtime.cancel(runId ?? "");
    expect(words().slice(3)).toEqual(["acted cancelled, run cancelled"]);
  });

  test("the trace of a request, and in later rounds that of the first one", async () => {
    const { events, h } = watching({ tools: [pay] });
    const traced = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
    const asked = question(await h.call("pay", { meta: { traceparent: traced("a") } }));
    const answer = { requestState: asked.requestState, inputResponses: { confirm: yes } };
    await h.call("pay", { ...answer, meta: { traceparent: traced("b") } });
    const starts = events.filter((event) => event.type === "attempt_started");
    expect(starts).toMatchObject([
      { traceparent: traced("a"), firstTraceparent: traced("a") },
      { traceparent: traced("b"), firstTraceparent: traced("a") },
    ]);
  });

  test("a traceparent that is none is not told", async () => {
    const { events, h } = watching({ tools: [pay] });
    await h.call("pay", { meta: { traceparent: `00-${"0".repeat(32)}-${"a".repeat(16)}-01` } });
    expect(events[0]).not.toHaveProperty("traceparent");
  });
});

describe("V1: An observer never changes a run", () => {
  test("when it throws: the run goes on, the others hear it, and it is logged once", async () => {
    const { h, words } = watching(
      { tools: [pay] },
      {
        run: () => {
          throw new Error("the sink is dead");
        },
        refused: () => {
          throw new Error("the sink is dead");
        },
      },
    );
    const asked = question(await h.call("pay"));
    const answer = { requestState: asked.requestState, inputResponses: { confirm: yes } };
    expect(text(await h.call("pay", answer))).toBe("paid");
    await h.call("pay", { requestState: "x", inputResponses: {} });
    expect(words()).toHaveLength(8);
    const told = h.log.filter(({ message }) => message.startsWith("an observer of runs threw"));
    expect(told).toHaveLength(1);
  });

  test("when it returns a promise that rejects: nothing is unhandled", async () => {
    const observer = { run: async () => Promise.reject(new Error("later")) };
    const { h } = watching({ tools: [pay] }, observer as unknown as RunObserver);
    question(await h.call("pay"));
    await settled();
    const told = h.log.filter(({ message }) => message.startsWith("an observer of runs threw"));
    expect(told).toHaveLength(1);
  });
});

test("every log line of an attempt says of which run, round and handler it is", async () => {
  const { h } = watching({
    tools: [
      tool({
        name: "t",
        description,
        async handler(_args, ctx) {
          await ctx.confirm("Sure?");
          const once = { retry: { tries: 1 } };
          await ctx
            .step("fails", () => Promise.reject(new Error("no")), once)
            .catch(() => undefined);
          throw new Error("the author's own");
        },
      }),
    ],
  });
  const asked = question(await h.call("t"));
  await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
  expect(h.log.map(({ message }) => message)).toEqual(["a step failed", "the handler failed"]);
  for (const { fields } of h.log) {
    expect(fields).toMatchObject({ run: asked.runId, round: 1, handler: "t" });
  }
});
