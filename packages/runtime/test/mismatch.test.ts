import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const release = (
  version: string,
  body: (ctx: Context) => Promise<string>,
  effects: "once" | "repeatable" = "once",
): { readonly version: string; readonly tools: readonly ToolDefinition[] } => ({
  version,
  tools: [tool({ name: "t", description, effects, handler: (_args, ctx) => body(ctx) })],
});

/** Recorded by version 1: step charge, then the question. */
async function asked(effects: "once" | "repeatable" = "once"): Promise<{
  readonly h: Harness;
  readonly retry: { readonly requestState: string; readonly inputResponses: object };
}> {
  const h = startHarness(
    release(
      "1",
      async (ctx) => {
        await ctx.step("charge", () => 1);
        return String(await ctx.confirm("Sure?"));
      },
      effects,
    ),
  );
  const { requestState } = question(await h.call("t"));
  return { h, retry: { requestState, inputResponses: { confirm: yes } } };
}

describe.each(["once", "repeatable"] as const)("a changed handler of a %s run", (effects) => {
  // promise P3.2.9
  test("a renamed step is not run: the mismatch names the entry, what was asked, both versions and a way out", async () => {
    let ran = 0;
    const { h, retry } = await asked(effects);
    const renamed = h.beside(
      release(
        "2",
        async (ctx) => {
          await ctx.step("charge card", () => {
            ran += 1;
          });
          return String(await ctx.confirm("Sure?"));
        },
        effects,
      ),
    );
    const reply = renamed.call("t", retry);
    await settled();
    await h.advance(29_999);
    expect(ran).toBe(0);
    await h.advance(1);
    const error = await reply;
    expect(code(error)).toBe("JOURNAL_MISMATCH");
    expect(error).toMatchObject({
      error: {
        message: expect.stringMatching(
          /tool "t".*step "charge".*entry 0.*step "charge card".*version 1.*by 2/,
        ) as string,
        data: {
          entry: { kind: "step", name: "charge", index: 0 },
          asked: [{ kind: "step", name: "charge card" }],
          versions: { recorded: "1", now: "2" },
        },
      },
    });
    expect(ran).toBe(0);
  });

  // promise P3.2.8
  test("a handler that returns with a recorded step undelivered is a mismatch at once", async () => {
    const { h, retry } = await asked(effects);
    const shorter = h.beside(release("2", async () => "done already", effects));
    expect(code(await shorter.call("t", retry))).toBe("JOURNAL_MISMATCH");
  });

  test("a handler that throws with a recorded step undelivered is a mismatch too, not a failure", async () => {
    const { h, retry } = await asked(effects);
    const broken = h.beside(release("2", async () => Promise.reject(new Error("bug")), effects));
    expect(code(await broken.call("t", retry))).toBe("JOURNAL_MISMATCH");
  });
});

describe("a handler that is waiting when its mismatch is found", () => {
  test("A1: gets the suspension signal, so that its cleanup runs and the response goes at once", async () => {
    const { h, retry } = await asked();
    let cleaned = false;
    const renamed = h.beside(
      release("2", async (ctx) => {
        try {
          return String(await ctx.step("renamed", () => 1));
        } finally {
          cleaned = true;
        }
      }),
    );
    const reply = renamed.call("t", retry);
    await settled();
    await h.advance(30_000);
    expect(cleaned).toBe(true);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    expect(h.clock.pendingTimers()).toBe(0);
  });
});

describe("the run behind a mismatch", () => {
  const broken = release("2", async () => "done already");

  // promise P3.9.2
  test("3.9: is given back: an instance that fits goes on with the answers it was claimed with", async () => {
    const { h, retry } = await asked();
    await h.beside(broken).call("t", retry);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("mismatched");
    expect(text(await h.call("t", { ...retry, inputResponses: {} }))).toBe("true");
  });

  // promise P3.9.3
  test("3.9: is parked after 10 minutes in which no instance went on with it", async () => {
    const { h, retry } = await asked();
    const other = h.beside(broken);
    await other.call("t", retry);
    h.clock.advance(9 * 60_000);
    expect(code(await other.call("t", retry))).toBe("JOURNAL_MISMATCH");
    h.clock.advance(60_001);
    expect(code(await other.call("t", retry))).toBe("RUN_PARKED");
    expect(code(await h.call("t", retry))).toBe("RUN_PARKED");
  });

  test("3.9: is parked by the sweep as well, when nobody comes", async () => {
    const { h, retry } = await asked();
    await h.beside(broken, { sweep: true }).call("t", retry);
    for (let beat = 0; beat < 62; beat += 1) await h.advance(10_000);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("parked");
  });

  // promise P3.5.3
  test("3.5: another question in the place of a taken answer is a mismatch", async () => {
    const ask =
      (second: string, first = "Sure?") =>
      async (ctx: Context): Promise<string> => {
        await ctx.confirm(first);
        return String(await ctx.confirm(second, { key: "second" }));
      };
    const h = startHarness(release("1", ask("And?")));
    const first = question(await h.call("t"));
    const next = question(
      await h.call("t", { requestState: first.requestState, inputResponses: { confirm: yes } }),
    );
    const changed = h.beside(release("2", ask("And?", "Really sure?")));
    const reply = await changed.call("t", {
      requestState: next.requestState,
      inputResponses: { second: yes },
    });
    expect(code(reply)).toBe("JOURNAL_MISMATCH");
    expect(reply).toMatchObject({
      error: { message: expect.stringContaining("another question under that key") as string },
    });
  });
});

describe("what is no mismatch", () => {
  // promise P3.2.13
  test("a read that is no longer asked for is dropped", async () => {
    const h = startHarness(
      release("1", async (ctx) => {
        await ctx.read("old", () => 1);
        return String(await ctx.confirm("?"));
      }),
    );
    const { requestState } = question(await h.call("t"));
    const without = h.beside(release("2", async (ctx) => String(await ctx.confirm("?"))));
    const reply = without.call("t", { requestState, inputResponses: { confirm: yes } });
    await settled();
    await h.advance(30_000);
    expect(text(await reply)).toBe("true");
  });

  test("a step that is new behind the journal runs once", async () => {
    let ran = 0;
    const { h, retry } = await asked();
    const longer = h.beside(
      release("2", async (ctx) => {
        await ctx.step("charge", () => 99);
        const sure = await ctx.confirm("Sure?");
        await ctx.step("new", () => {
          ran += 1;
        });
        return String(sure);
      }),
    );
    expect(text(await longer.call("t", retry))).toBe("true");
    expect(ran).toBe(1);
  });

  // promise P3.2.7
  test("each ctx call restarts the stall's time", async () => {
    const { h, retry } = await asked();
    const slow = h.beside(
      release("2", async (ctx) => {
        for (const name of ["a", "b"]) {
          void ctx.read(name, () => 1);
          await new Promise<void>((resolve) => h.clock.setTimer(20_000, resolve));
        }
        await ctx.step("charge", () => 99);
        return String(await ctx.confirm("Sure?"));
      }),
    );
    const reply = slow.call("t", retry);
    await settled();
    await h.advance(20_000);
    await h.advance(20_000);
    expect(text(await reply)).toBe("true");
  });
});

// promise P3.2.14
test("J5: a read that a step in doubt may have been started with is not passed over", async () => {
  const h = startHarness({
    version: "1",
    tools: [
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler: async (_args, ctx) => {
          const rate = await ctx.read("rate", () => 1);
          return String(await ctx.step("charge", () => new Promise(() => rate)));
        },
      }),
    ],
  });
  void h.call("t");
  await settled();
  h.store.kill();
  const charged: number[] = [];
  const next = h.beside({
    version: "2",
    tools: [
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler: async (_args, ctx) => {
          const rate = await ctx.read("exchange rate", () => 2);
          return String(await ctx.step("charge", () => charged.push(rate)));
        },
      }),
    ],
  });
  const reply = next.call("t");
  await settled();
  await next.advance(30_000);
  expect(code(await reply)).toBe("JOURNAL_MISMATCH");
  expect(charged).toEqual([]);
});
