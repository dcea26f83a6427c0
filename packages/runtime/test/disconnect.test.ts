import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  sender,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const keyed = (body: (ctx: Context) => Promise<string>): Harness =>
  startHarness({
    tools: [
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler: (_args, ctx) => body(ctx),
      }),
    ],
  });

describe("when the last request that waits is gone", () => {
  // promise P4.5.1, P4.5.4
  test("A4: a running step is finished and recorded, no further step starts, and the run is interrupted", async () => {
    const release = deferred<number>();
    const effects: string[] = [];
    let aborted = false;
    const h = keyed(async (ctx) => {
      ctx.signal.addEventListener("abort", () => {
        aborted = true;
      });
      await ctx.step("first", async ({ signal }) => {
        await release.promise;
        effects.push(`first ${signal.aborted ? "aborted" : "whole"}`);
      });
      await ctx.step("second", () => effects.push("second"));
      return "x";
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    await settled();
    expect(aborted).toBe(true);
    release.resolve(1);
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(effects).toEqual(["first whole"]);
    expect(h.store.snapshot().runs[0]).toMatchObject({
      head: { status: "interrupted", stopping: false },
      entries: [{ kind: "step_completed", name: "first" }],
    });
    expect(text(await h.call("t"))).toBe("x");
    expect(effects).toEqual(["first whole", "second"]);
  });

  test("A4: a read whose value is on its way to the handler does not keep the step behind it, and the attempt ends", async () => {
    const release = deferred();
    const entered = deferred();
    const turns: (() => void)[] = [];
    let isHeld = false;
    const turn = (work: () => void): (() => void) => {
      if (isHeld) turns.push(work);
      else setImmediate(work);
      return () => void turns.splice(0, turns.length, ...turns.filter((one) => one !== work));
    };
    const handler = async (_: unknown, ctx: Context): Promise<string> => {
      await Promise.allSettled([
        ctx.step("step", () => {
          entered.resolve();
          return release.promise;
        }),
        ctx.read("read", async () => {
          await entered.promise;
          // What it gives is an entry in this turn, and delivered in the next.
          isHeld = true;
          return 1;
        }),
      ]);
      return "x";
    };
    const idempotency = { key: () => "k" };
    const h = startHarness(
      { tools: [tool({ name: "t", description, idempotency, handler })] },
      { turn },
    );
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    expect(isHeld).toBe(true);
    gone.leave();
    await settled();
    isHeld = false;
    for (const work of turns.splice(0)) work();
    release.resolve();
    await settled();
    await h.advance(5_000);
    // Nothing was taken from the handler, so its result stands.
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
    expect(text(await reply)).toBe("x");
    expect(
      h.store
        .snapshot()
        .runs[0]?.entries.map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(["read_completed", "step_completed"]);
    expect(text(await h.call("t"))).toBe("x");
  });

  // promise P4.5.3
  test("A4: a returned value is recorded, and the repeated call gets it", async () => {
    const release = deferred();
    let entered = 0;
    const h = keyed(async (ctx) => {
      entered += 1;
      await ctx.step("s", () => release.promise);
      return "whole";
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    await settled();
    release.resolve();
    expect(text(await reply)).toBe("whole");
    expect(text(await h.call("t"))).toBe("whole");
    expect(entered).toBe(1);
  });

  // promise P4.5.2
  test("A4: what the handler throws afterwards is interruption, never failure", async () => {
    const h = keyed(async (ctx) => {
      const aborted = deferred();
      ctx.signal.addEventListener("abort", () => aborted.reject(new Error("fetch aborted")));
      await aborted.promise;
      return "x";
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(h.store.snapshot().runs[0]?.head.status).toBe("interrupted");
  });

  test("A4: a read that the stop aborted is forgotten, and read again by the next attempt", async () => {
    let reads = 0;
    const h = keyed((ctx) =>
      ctx.read("fetch", async () => {
        reads += 1;
        if (reads > 1) return "fetched";
        const aborted = deferred<string>();
        ctx.signal.addEventListener("abort", () => aborted.reject(new Error("aborted")));
        return aborted.promise;
      }),
    );
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    await reply;
    expect(h.store.snapshot().runs[0]?.entries).toEqual([]);
    expect(text(await h.call("t"))).toBe("fetched");
  });

  // promise P3.2.5
  test("A4: an answer that was just taken is neither lost nor a mismatch", async () => {
    const h = keyed(async (ctx) => {
      try {
        return String(await ctx.confirm("?"));
      } catch {
        return "stopped";
      }
    });
    const { requestState } = question(await h.call("t"));
    for (let turn = 0; turn < 6; turn += 1) {
      const gone = sender();
      const reply = h.call("t", { requestState, inputResponses: { confirm: yes }, gone });
      for (let waited = 0; waited < turn; waited += 1)
        await new Promise((resolve) => setImmediate(resolve));
      gone.leave();
      await settled();
      await h.advance(1000);
      expect(["complete", "error"]).toContain((await reply).kind);
      expect(h.store.snapshot().runs[0]?.head.status).not.toBe("mismatched");
    }
    const last = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(["true", "stopped"]).toContain(text(last));
  });

  test("A4: a step that waits between two tries is given up and its doubt recorded", async () => {
    const h = keyed((ctx) =>
      ctx.step("s", () => {
        throw new Error("connection dropped");
      }),
    );
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(h.store.snapshot().runs[0]?.head.marks).toHaveProperty("s");
  });

  test("A4: a step that was announced and not entered leaves no doubt behind, under fail as well", async () => {
    const held = deferred();
    let effects = 0;
    const h = keyed(async (ctx) => {
      await ctx.step("s", () => (effects += 1), { onUncertain: "fail" });
      return "whole";
    });
    h.traffic.after = async (method) => {
      if (method === "append") await held.promise;
    };
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    expect(h.store.snapshot().runs[0]?.head.marks).toHaveProperty("s");
    gone.leave();
    await settled();
    held.resolve();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(h.store.snapshot().runs[0]?.head.marks).toEqual({});
    expect(text(await h.call("t"))).toBe("whole");
    expect(effects).toBe(1);
  });

  test("a handler that ignores its signal has the grace; what it does later is not part of the run", async () => {
    const release = deferred();
    const h = keyed(async (ctx) => {
      await release.promise;
      await ctx.step("late", () => 1);
      return "late";
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    await settled();
    await h.advance(1000);
    await h.advance(1000);
    expect(code(await reply)).toBe("INTERRUPTED");
    release.resolve();
    await settled();
    expect(h.store.snapshot().runs[0]).toMatchObject({
      head: { status: "interrupted" },
      entries: [],
    });
  });

  test("a handler that never looks at the stop and returns at once counts", async () => {
    const gone = sender();
    gone.leave();
    const h = keyed(async () => "quick");
    expect(text(await h.call("t", { gone }))).toBe("quick");
  });
});

describe("while somebody still waits", () => {
  // promise P4.5.5
  test("L2: a joiner keeps the attempt alive when the first caller is gone, and gets the result", async () => {
    const release = deferred();
    const h = keyed(async (ctx) => {
      await ctx.step("s", () => release.promise);
      await ctx.step("more", () => 1);
      return "whole";
    });
    const gone = sender();
    const first = h.call("t", { gone });
    await settled();
    const joiner = h.beside().call("t");
    await settled();
    gone.leave();
    await settled();
    release.resolve();
    expect(text(await joiner)).toBe("whole");
    expect(text(await first)).toBe("whole");
  });

  test("L2: 49 of 50 are cut, and the fiftieth gets it", async () => {
    const release = deferred();
    const effects: string[] = [];
    const h = keyed(async (ctx) => {
      await ctx.step("s", async () => {
        await release.promise;
        effects.push("s");
      });
      return "whole";
    });
    const senders = Array.from({ length: 50 }, sender);
    const replies = senders.map((gone) => h.call("t", { gone }));
    await settled();
    for (const gone of senders.slice(0, 49)) gone.leave();
    await settled();
    release.resolve();
    expect(text((await replies[49]) ?? { kind: "complete", result: {} })).toBe("whole");
    expect(effects).toEqual(["s"]);
  });

  // promise P4.5.6
  test("a repetition that comes while the attempt is being stopped waits for the end, then goes on", async () => {
    const release = deferred();
    const effects: string[] = [];
    const h = keyed(async (ctx) => {
      await ctx.step("first", async () => {
        await release.promise;
        effects.push("first");
      });
      await ctx.step("second", () => effects.push("second"));
      return "whole";
    });
    const gone = sender();
    const first = h.call("t", { gone });
    await settled();
    gone.leave();
    await settled();
    const calls = h.traffic.calls.length;
    const again = h.call("t");
    await settled();
    expect(h.traffic.calls.length - calls).toBeLessThan(3);
    release.resolve();
    await settled();
    await h.advance(25);
    expect(text(await again)).toBe("whole");
    expect(code(await first)).toBe("INTERRUPTED");
    expect(effects).toEqual(["first", "second"]);
  });
});

describe("a repeatable call whose request is gone", () => {
  test("aborts its running step too, and leaves nothing behind", async () => {
    let aborted = false;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          effects: "repeatable",
          handler: (_args, ctx) =>
            ctx.step("s", ({ signal }) => {
              signal.addEventListener("abort", () => {
                aborted = true;
              });
              return new Promise<string>(() => undefined);
            }),
        }),
      ],
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(aborted).toBe(true);
    expect(h.clock.pendingTimers()).toBe(0);
  });
});

describe("a handler that takes too long", () => {
  test("is stopped with RUN_TIMEOUT after its step has ended, and the next call goes on", async () => {
    const release = deferred();
    const effects: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          timeoutMs: 5000,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("first", async () => {
              await release.promise;
              effects.push("first");
            });
            await ctx.step("second", () => effects.push("second"));
            return "whole";
          },
        }),
      ],
    });
    const reply = h.call("t");
    await settled();
    await h.advance(5000);
    release.resolve();
    expect(code(await reply)).toBe("RUN_TIMEOUT");
    expect(text(await h.call("t"))).toBe("whole");
    expect(effects).toEqual(["first", "second"]);
  });
});
