import {
  notDone,
  type StepContext,
  StepError,
  type StepOptions,
  tool,
  UncertainStepError,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { type Harness, settled, startHarness, text } from "./support/harness.ts";

const description = "d";
const DAY_MS = 24 * 3_600_000;

interface Probe {
  readonly h: Harness;
  readonly tries: StepContext[];
  /** What the handler caught, as class and recorded message. */
  readonly caught: string[];
  run(): Promise<string>;
}

/** A keyed tool with the one step "s"; each try does what `script` says for its number in the test. */
function probe(
  script: (attempt: number, step: StepContext) => unknown,
  options: StepOptions<unknown> = {},
): Probe {
  const tries: StepContext[] = [];
  const caught: string[] = [];
  const h = startHarness({
    tools: [
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        async handler(_args, ctx) {
          try {
            return `got ${String(await ctx.step("s", (step) => script(tries.push(step), step), options))}`;
          } catch (error) {
            if (error instanceof StepError) {
              const kind = error instanceof UncertainStepError ? "uncertain" : "not done";
              caught.push(`${kind}: ${error.recorded.message}`);
            }
            throw error;
          }
        },
      }),
    ],
  });
  return {
    h,
    tries,
    caught,
    run: async () => {
      const reply = h.call("t");
      let isOver = false;
      void reply.then(() => {
        isOver = true;
      });
      await settled();
      for (let beat = 0; beat < 400 && !isOver; beat += 1) await h.advance(1000);
      return text(await reply);
    },
  };
}

const dropped = (): never => {
  throw new Error("connection dropped");
};

describe("a step under retry, the default", () => {
  // promise P4.4.1
  test("is tried 3 times an attempt with the same key, and counts its tries", async () => {
    const { tries, caught, run } = probe(dropped);
    await run();
    expect(tries.map((step) => step.attempt)).toEqual([1, 2, 3]);
    expect(new Set(tries.map((step) => step.idempotencyKey)).size).toBe(1);
    expect(tries[0]?.idempotencyKey).toMatch(/^[\w-]{43}$/);
    expect(caught).toEqual(["uncertain: connection dropped"]);
  });

  // promise P4.4.3
  test("waits 200 ms, then 400 ms, between tries", async () => {
    const times: number[] = [];
    const { h } = probe(dropped);
    const waits = probe(() => {
      times.push(waits.h.clock.now());
      dropped();
    });
    const reply = waits.h.call("t");
    await settled();
    for (let beat = 0; beat < 10; beat += 1) await waits.h.advance(100);
    await reply;
    const [first = 0] = times;
    expect(times.map((time) => time - first)).toEqual([0, 200, 600]);
    expect(h.clock.pendingTimers()).toBe(0);
  });

  test("gives the result of a later try", async () => {
    const { run } = probe((attempt) => (attempt < 3 ? dropped() : "it"));
    expect(await run()).toBe("got it");
  });

  // promise P4.4.2
  test("U1: a later notDone does not make an earlier doubt certain", async () => {
    const { caught, run } = probe((attempt) => {
      if (attempt === 1) dropped();
      throw notDone(new Error("refused"));
    });
    await run();
    expect(caught).toEqual(["uncertain: refused"]);
  });

  // promise P4.4.2
  test("notDone at every try is a failure in which nothing happened", async () => {
    const { tries, caught, run } = probe(() => {
      throw notDone(new Error("refused"));
    });
    expect(await run()).toMatch(/nothing was done in it/);
    expect(tries).toHaveLength(3);
    expect(caught).toEqual(["not done: refused"]);
  });

  // promise P4.4.2
  test("a try that takes longer than timeoutMs is aborted and leaves the step uncertain", async () => {
    const { tries, caught, run } = probe(() => new Promise(() => undefined), {
      timeoutMs: 5000,
      retry: { tries: 2 },
    });
    await run();
    expect(tries.map((step) => step.signal.aborted)).toEqual([true, true]);
    expect(caught).toEqual(["uncertain: the step took longer than 5000 ms"]);
  });

  test("the key option replaces the name in what the key is derived from", async () => {
    const keys: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            await ctx.step("a", ({ idempotencyKey }) => keys.push(idempotencyKey));
            await ctx.step("b", ({ idempotencyKey }) => keys.push(idempotencyKey), { key: "a" });
            await ctx.step("c", ({ idempotencyKey }) => keys.push(idempotencyKey));
            return "x";
          },
        }),
      ],
    });
    await h.call("t");
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("a step under fail", () => {
  // promise P4.4.4
  test("U2: is not tried again once it is uncertain, and fails without a wait", async () => {
    const { h, tries, caught } = probe(dropped, { onUncertain: "fail" });
    expect(text(await h.call("t"))).toMatch(/may or may not have happened/);
    expect(tries).toHaveLength(1);
    expect(caught).toEqual(["uncertain: connection dropped"]);
  });

  test("is tried again after notDone", async () => {
    const { run } = probe(
      (attempt) => {
        if (attempt === 1) throw notDone(new Error("busy"));
        return "it";
      },
      { onUncertain: "fail" },
    );
    expect(await run()).toBe("got it");
  });

  test("U2: is not run by a repeated call either", async () => {
    const { tries, run } = probe(dropped, { onUncertain: "fail" });
    await run();
    await run();
    expect(tries).toHaveLength(1);
  });
});

describe("a step that asks the remote", () => {
  // promise P4.4.5
  test("takes what the function finds instead of trying again", async () => {
    const { tries, run } = probe(dropped, {
      onUncertain: ({ idempotencyKey }) => `found ${idempotencyKey.length}`,
    });
    expect(await run()).toBe("got found 43");
    expect(tries).toHaveLength(1);
  });

  // promise P4.4.5
  test("tries again when the function finds nothing", async () => {
    let asked = 0;
    const { run } = probe((attempt) => (attempt === 1 ? dropped() : "it"), {
      onUncertain: () => {
        asked += 1;
        return undefined;
      },
    });
    expect(await run()).toBe("got it");
    expect(asked).toBe(1);
  });

  test("stays uncertain while the function itself fails, and runs nothing meanwhile", async () => {
    const { tries, caught, run } = probe(dropped, {
      onUncertain: () => {
        throw new Error("log is away");
      },
    });
    await run();
    expect(tries).toHaveLength(1);
    expect(caught).toEqual([expect.stringMatching(/^uncertain: /)]);
  });
});

describe("a step whose attempt died", () => {
  async function afterDeath(
    options: StepOptions<unknown>,
    waitMs: number,
  ): Promise<{ readonly reply: string; readonly tries: number; readonly asked: number }> {
    let tries = 0;
    let asked = 0;
    const onUncertain =
      typeof options.onUncertain === "function"
        ? () => {
            asked += 1;
            return "found";
          }
        : options.onUncertain;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            const got = await ctx.step(
              "s",
              () => {
                tries += 1;
                return tries === 1 ? new Promise<string>(() => undefined) : "again";
              },
              { ...options, ...(onUncertain === undefined ? {} : { onUncertain }) },
            );
            return `got ${String(got)}`;
          },
        }),
      ],
    });
    void h.call("t");
    await settled();
    const other = h.beside();
    h.store.kill();
    h.clock.advance(waitMs);
    return { reply: text(await other.call("t")), tries, asked };
  }

  test("under retry is run again with its key", async () => {
    expect(await afterDeath({}, 0)).toEqual({ reply: "got again", tries: 2, asked: 0 });
  });

  // promise P4.4.3
  test("U2: under retry is not run again once its keyLifetimeMs is over", async () => {
    const { reply, tries } = await afterDeath({ keyLifetimeMs: 60_000 }, 60_001);
    expect(reply).toMatch(/"s" may or may not have happened/);
    expect(tries).toBe(1);
  });

  // promise P4.4.3
  test("U2: the key's lifetime is 24 h by default, counted from the first try", async () => {
    // Kept for less than the record lives: a day more and nobody could come back.
    const { tries } = await afterDeath({ keyLifetimeMs: DAY_MS - 1000 }, DAY_MS - 999);
    expect(tries).toBe(1);
  });

  test("under fail is not run again", async () => {
    const { reply, tries } = await afterDeath({ onUncertain: "fail" }, 0);
    expect(reply).toMatch(/"s" may or may not have happened/);
    expect(tries).toBe(1);
  });

  test("under a function asks the remote first", async () => {
    expect(await afterDeath({ onUncertain: () => undefined }, 0)).toEqual({
      reply: "got found",
      tries: 1,
      asked: 1,
    });
  });

  test("under fail runs normally when its attempt died before it", async () => {
    let isFirst = true;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("before", () => 1);
            if (isFirst) await new Promise(() => undefined);
            return String(await ctx.step("s", () => "ran", { onUncertain: "fail" }));
          },
        }),
      ],
    });
    void h.call("t");
    await settled();
    isFirst = false;
    const other = h.beside();
    h.store.kill();
    expect(text(await other.call("t"))).toBe("ran");
  });
});

describe("options that can't be used", () => {
  test.each([
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: Number.NaN }, "timeoutMs"],
    [{ keyLifetimeMs: -1 }, "keyLifetimeMs"],
    [{ retry: { tries: 0 } }, "retry.tries"],
    [{ retry: { tries: 1.5 } }, "retry.tries"],
    [{ retry: { backoffMs: Number.POSITIVE_INFINITY } }, "retry.backoffMs"],
    [{ key: "" }, "key"],
    [{ onUncertain: "ask" as "fail" }, "onUncertain"],
  ] as readonly (readonly [StepOptions<unknown>, string])[])(
    "%j is the author's mistake, names the option and runs nothing",
    async (options, option) => {
      let ran = false;
      const h = startHarness({
        tools: [
          tool({
            name: "t",
            description,
            handler: (_args, ctx) =>
              ctx
                .step(
                  "s",
                  () => {
                    ran = true;
                  },
                  options as StepOptions<void>,
                )
                .then(
                  () => "ran",
                  (error: unknown) => `${(error as Error).name} ${(error as Error).message}`,
                ),
          }),
        ],
      });
      expect(text(await h.call("t"))).toMatch(
        new RegExp(`^(Range|Type)Error step "s": ${option.replace(".", "\\.")}`),
      );
      expect(ran).toBe(false);
    },
  );
});
