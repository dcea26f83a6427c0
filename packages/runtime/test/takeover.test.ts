import { RepriseError } from "@reprise/errors";
import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  type Deferred,
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const named = (body: (ctx: Context) => Promise<string>, isKeyed = true): ToolDefinition =>
  tool({
    name: "t",
    description,
    ...(isKeyed ? { idempotency: { key: () => "k" } } : {}),
    handler: (_args, ctx) => body(ctx),
  });

/** A process whose call is in the middle of step "second" for ever. */
async function dying(isKeyed = true): Promise<{
  readonly h: Harness;
  readonly effects: string[];
  readonly keys: string[];
  readonly release: Deferred<void>;
  readonly reply: ReturnType<Harness["call"]>;
}> {
  const effects: string[] = [];
  const keys: string[] = [];
  const release = deferred();
  let isFirst = true;
  const server = {
    tools: [
      named(async (ctx) => {
        await ctx.step("first", () => effects.push("first"));
        await ctx.step("second", async ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          effects.push("second");
          if (isFirst) {
            isFirst = false;
            await release.promise;
          }
        });
        return "whole";
      }, isKeyed),
    ],
  };
  const h = startHarness(server);
  const reply = h.call("t");
  await settled();
  return { h, effects, keys, release, reply };
}

describe("an attempt that died", () => {
  // promise P4.2.17, P4.4.1
  test("is taken over by the next call with its key: recorded steps are not run again, the open one under the same key", async () => {
    const { h, effects, keys } = await dying();
    const other = h.beside();
    h.store.kill();
    expect(text(await other.call("t"))).toBe("whole");
    expect(effects).toEqual(["first", "second", "second"]);
    expect(new Set(keys).size).toBe(1);
  });

  // promise P4.2.2
  test("A5: writes nothing when it wakes up again, and its caller gets the other's outcome", async () => {
    const { h, release, reply } = await dying();
    const other = h.beside();
    // The process was paused: its lease ran out without a renewal.
    h.traffic.before = (method) => {
      if (method === "renew") throw new RepriseError("STORE_UNAVAILABLE", "paused");
    };
    await h.advance(10_001);
    expect(text(await other.call("t"))).toBe("whole");
    h.traffic.before = () => undefined;
    const before = JSON.stringify(h.store.snapshot());
    release.resolve();
    expect(text(await reply)).toBe("whole");
    expect(JSON.stringify(h.store.snapshot())).toBe(before);
  });

  test("W5 O4: a process that was paused between two steps starts none before the store has renewed its lease", async () => {
    const effects: string[] = [];
    const pause = deferred();
    const server = {
      tools: [
        named(async (ctx) => {
          await ctx.step("first", () => effects.push("first"));
          if (effects.length === 1) await pause.promise;
          await ctx.step("second", () => effects.push("second"));
          return "whole";
        }),
      ],
    };
    const h = startHarness(server);
    const reply = h.call("t");
    await settled();
    h.traffic.before = (method) => {
      if (method === "renew") throw new RepriseError("STORE_UNAVAILABLE", "paused");
    };
    await h.advance(10_001);
    effects.push("-");
    expect(text(await h.beside().call("t"))).toBe("whole");
    h.traffic.before = () => undefined;
    pause.resolve();
    expect(text(await reply)).toBe("whole");
    expect(effects).toEqual(["first", "-", "second"]);
  });

  // promise P4.2.16
  test("a live lease is renewed at a third of its time and not taken over", async () => {
    const { h, release, reply, effects } = await dying();
    for (let beat = 0; beat < 9; beat += 1) await h.advance(3334);
    const joiner = h.beside().call("t");
    await settled();
    release.resolve();
    expect(text(await joiner)).toBe("whole");
    expect(text(await reply)).toBe("whole");
    expect(effects).toEqual(["first", "second"]);
  });

  // promise P4.2.11
  test("state is what it was when the last round ended, and a started step's inputs are the same", async () => {
    const inputs: string[] = [];
    let drawn = 0;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          const before = ctx.state.get("n") ?? "-";
          drawn += 1;
          ctx.state.set("n", `${before}${drawn}`);
          await ctx.confirm("?");
          const seen = ctx.state.get("n") ?? "";
          await ctx.step("use", async () => {
            inputs.push(seen);
            if (inputs.length === 1) await new Promise(() => undefined);
          });
          return seen;
        }),
      ],
    });
    const { requestState } = question(await h.call("t"));
    const retry = { requestState, inputResponses: { confirm: yes } };
    void h.call("t", retry);
    await settled();
    const other = h.beside();
    h.store.kill();
    expect(text(await other.call("t", retry))).toBe("-12");
    expect(inputs).toEqual(["-12", "-12"]);
  });

  // promise P3.6.1
  test("answers that it was claimed with stand for whoever takes over, also without being sent again", async () => {
    let holds = true;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          const sure = await ctx.confirm("?");
          if (holds) await new Promise(() => undefined);
          return String(sure);
        }),
      ],
    });
    const { requestState } = question(await h.call("t"));
    void h.call("t", { requestState, inputResponses: { confirm: yes } });
    await settled();
    const other = h.beside();
    h.store.kill();
    holds = false;
    expect(text(await other.call("t", { requestState, inputResponses: {} }))).toBe("true");
  });
});

describe("a store that fails", () => {
  const unavailable = (): never => {
    throw new RepriseError("STORE_UNAVAILABLE", "the disk is away");
  };

  // promise P4.2.14
  test("O2: before the first live step, fails the call with a retryable error and runs nothing", async () => {
    const effects: string[] = [];
    const h = startHarness({
      tools: [named(async (ctx) => String(await ctx.step("s", () => effects.push("s"))), false)],
    });
    h.traffic.before = unavailable;
    const reply = await h.call("t");
    expect(code(reply)).toBe("STORE_UNAVAILABLE");
    expect(reply).toMatchObject({ error: { spec: { retryable: true } } });
    expect(effects).toEqual([]);
  });

  // promise P4.2.7
  test("O2: after an effect, holds the result: the handler does not get it, no step starts, and it is recorded when the store is back", async () => {
    const effects: string[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("first", () => effects.push("first"));
          effects.push("handler goes on");
          await ctx.step("second", () => effects.push("second"));
          return "whole";
        }),
      ],
    });
    let isDown = false;
    h.traffic.before = (method) => {
      if (method === "append" && effects.includes("first") && effects.length === 1) isDown = true;
      if (isDown) unavailable();
    };
    const reply = h.call("t");
    await settled();
    for (let beat = 0; beat < 20; beat += 1) await h.advance(100);
    expect(effects).toEqual(["first"]);
    isDown = false;
    h.traffic.before = () => undefined;
    await h.advance(100);
    expect(text(await reply)).toBe("whole");
    expect(effects).toEqual(["first", "handler goes on", "second"]);
  });

  test("O2: for longer than the lease, the call fails, and the repeated call finds the step open and uses its key", async () => {
    const keys: string[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) =>
          String(await ctx.step("s", ({ idempotencyKey }) => keys.push(idempotencyKey))),
        ),
      ],
    });
    h.traffic.before = (method) => {
      if (keys.length > 0 && method !== "claimFirst") unavailable();
    };
    const reply = h.call("t");
    await settled();
    for (let beat = 0; beat < 102; beat += 1) await h.advance(100);
    expect(code(await reply)).toBe("STORE_UNAVAILABLE");
    h.traffic.before = () => undefined;
    expect(text(await h.call("t"))).toBe("2");
    expect(new Set(keys).size).toBe(1);
  });

  test.each(["claimFirst", "append", "endRound"] as const)(
    "O3: a reply to %s that is lost costs no second execution",
    async (method) => {
      const effects: string[] = [];
      const h = startHarness({
        tools: [named(async (ctx) => String(await ctx.step("s", () => effects.push("s"))))],
      });
      let lost = 0;
      h.traffic.after = (made) => {
        // The write before the step may fail the call; those behind the effect are sent again.
        if (made !== method || lost > 0 || (method === "append" && effects.length === 0)) return;
        lost += 1;
        unavailable();
      };
      const reply = h.call("t");
      await settled();
      await h.advance(100);
      const first = await reply;
      if (first.kind === "error") await h.advance(10_001);
      expect(text(await h.call("t"))).toBe("1");
      expect(effects).toEqual(["s"]);
      expect(lost).toBe(1);
    },
  );

  test("O3: a lost reply to the creation with the first question gives one run and one question", async () => {
    const h = startHarness({
      tools: [named(async (ctx) => String(await ctx.confirm("?")), false)],
    });
    let lost = 0;
    h.traffic.after = (made) => {
      if (made === "createRun" && lost++ === 0) unavailable();
    };
    const reply = h.call("t");
    await settled();
    await h.advance(100);
    const { requestState } = question(await reply);
    expect(h.store.snapshot().runs).toHaveLength(1);
    expect(text(await h.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
  });
});

describe("the sweep", () => {
  // promise P4.2.17
  test("goes on at start with a keyed run whose process died, and nobody has to come", async () => {
    const { h, effects } = await dying();
    h.store.kill();
    const swept = h.beside({}, { sweep: true });
    await settled();
    expect(effects).toEqual(["first", "second", "second"]);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
    await swept.store.close();
  });

  // promise P4.2.17
  test("goes on once every lease time with a run that has given out a state", async () => {
    const holds = deferred();
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.confirm("?");
          await ctx.step("s", () => holds.promise);
          return "whole";
        }, false),
      ],
    });
    const { requestState } = question(await h.call("t"));
    const swept = h.beside({}, { sweep: true });
    await settled();
    void h.call("t", { requestState, inputResponses: { confirm: yes } });
    await settled();
    h.store.kill();
    holds.resolve();
    await h.advance(10_000);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
    expect(text(await swept.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "whole",
    );
  });

  // promise P4.2.19
  test("does not drive a run that nobody can come back for: it becomes interrupted", async () => {
    const { h, effects } = await dying(false);
    h.store.kill();
    h.beside({}, { sweep: true });
    await settled();
    expect(effects).toEqual(["first", "second"]);
    expect(h.store.snapshot().runs[0]?.head).toMatchObject({
      status: "interrupted",
      openStepPossible: true,
    });
  });

  // promise P4.2.18, P4.2.21
  test("gives a round 5 takeovers, then parks it for an operator; a waiting run is left alone", async () => {
    let entered = 0;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          entered += 1;
          await ctx.step("s", () => new Promise(() => undefined));
          return "x";
        }),
        tool({
          name: "asks",
          description,
          handler: async (_a, ctx) => String(await ctx.confirm("?")),
        }),
      ],
    });
    question(await h.call("asks"));
    let current = h;
    void current.call("t");
    await settled();
    for (let death = 0; death < 8; death += 1) {
      const next = h.beside({}, { sweep: true });
      await settled();
      current.store.kill();
      current = next;
      await h.advance(10_000);
    }
    expect(entered).toBe(6);
    const statuses = h.store.snapshot().runs.map((run) => run.head.status);
    expect(statuses).toEqual(["waiting", "parked"]);
    expect(code(await current.call("t"))).toBe("RUN_PARKED");
  });
});
