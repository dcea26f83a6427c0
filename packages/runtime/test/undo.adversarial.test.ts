/**
 * Undo in trouble: crashes at every point of it, processes that come back, deploys that forget how to undo, and time that passes
 * (docs/design.md 4.5).
 */
import { RepriseError } from "@reprise/errors";
import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
} from "./support/harness.ts";

const description = "d";
const named = (body: (ctx: Context) => Promise<string>): ToolDefinition =>
  tool({
    name: "t",
    description,
    idempotency: { key: () => "k" },
    answerWithin: "1m",
    handler: (_, ctx) => body(ctx),
  });

const headOf = (h: Harness) => h.store.snapshot().runs.at(-1)?.head;
const runIdOf = (h: Harness): string => h.store.snapshot().runs.at(-1)?.origin.runId ?? "";

describe("an attempt that undoes", () => {
  /** A run whose undo of "flight" is in progress for ever, in a process that can be killed or paused. */
  async function undoing() {
    const seen: string[] = [];
    const keys = new Set<string>();
    const release = deferred();
    let isFirst = true;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("train", () => seen.push("train"), {
            undo: () => seen.push("undo train"),
          });
          await ctx.step("flight", () => seen.push("flight"), {
            undo: async (_, { idempotencyKey }) => {
              keys.add(idempotencyKey);
              seen.push("undo flight");
              if (!isFirst) return;
              isFirst = false;
              await release.promise;
            },
          });
          throw new Error("full");
        }),
      ],
    });
    const reply = h.call("t");
    await settled();
    return { h, seen, keys, release, reply };
  }

  test("that died in an undo function is taken over, and that function is called again with its key", async () => {
    const { h, seen, keys } = await undoing();
    const other = h.beside();
    h.store.kill();
    expect(await other.call("t")).toMatchObject({ result: { isError: true } });
    expect(seen).toEqual(["train", "flight", "undo flight", "undo flight", "undo train"]);
    expect(keys.size).toBe(1);
    expect(headOf(other)).toMatchObject({
      status: "undone",
      keyFree: true,
      openStepPossible: false,
    });
  });

  test("that was paused records nothing once another went on, and calls no further undo function", async () => {
    const { h, seen, release, reply } = await undoing();
    h.traffic.before = (method) => {
      if (method === "renew") throw new RepriseError("STORE_UNAVAILABLE", "paused");
    };
    await h.advance(10_001);
    const other = await h.beside().call("t");
    h.traffic.before = () => undefined;
    const before = JSON.stringify(h.store.snapshot());
    const called = seen.length;
    release.resolve();
    expect(await reply).toEqual(other);
    expect(seen.length).toBe(called);
    expect(JSON.stringify(h.store.snapshot())).toBe(before);
  });

  // promise P4.5.28
  test("that dies too often is parked, and a release counts its deaths anew", async () => {
    const seen: string[] = [];
    let dies: Harness | undefined;
    const server = {
      tools: [
        named(async (ctx) => {
          await ctx.step("flight", () => seen.push("flight"), {
            undo: () => {
              seen.push("undo flight");
              const dying = dies;
              dying?.store.kill();
              return dying === undefined ? undefined : new Promise(() => undefined);
            },
          });
          throw new Error("full");
        }),
      ],
    };
    let h = startHarness(server);
    for (let deaths = 0; deaths <= 5; deaths += 1) {
      dies = h;
      void h.call("t");
      await settled();
      h = h.beside();
    }
    expect(code(await h.call("t"))).toBe("RUN_PARKED");
    dies = undefined;
    expect((await h.store.release(runIdOf(h))).tag).toBe("RELEASED");
    expect(await h.call("t")).toMatchObject({ result: { isError: true } });
    expect(headOf(h)).toMatchObject({ status: "undone", keyFree: true });
  });

  // promise P4.5.27
  test("hands over between two undo functions when its process drains, and a sweep goes on", async () => {
    const { h, seen, release } = await undoing();
    const closing = h.runtime.close();
    await h.advance(10_100);
    release.resolve();
    for (let beat = 0; beat < 400; beat += 1) await h.advance(10);
    await closing;
    expect(seen).toEqual(["train", "flight", "undo flight"]);
    expect(headOf(h)).toMatchObject({ status: "running", takeovers: 0 });
    expect(headOf(h)?.lease).toBeUndefined();
    const swept = h.beside({}, { sweep: true });
    await settled();
    expect(seen.at(-1)).toBe("undo train");
    expect(headOf(swept)?.status).toBe("undone");
  });

  // promise P4.5.34
  test("is not tried again once the remote may have forgotten its key, until somebody releases the run", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("flight", () => seen.push("flight"), {
            keyLifetimeMs: 3_600_000,
            undo: () => {
              seen.push("undo flight");
              return seen.length > 2 ? undefined : new Promise(() => undefined);
            },
          });
          throw new Error("full");
        }),
      ],
    });
    void h.call("t");
    await settled();
    const other = h.beside();
    h.store.kill();
    await other.advance(3_600_001);
    expect(code(await other.call("t"))).toBe("UNDO_FAILED");
    expect(seen).toEqual(["flight", "undo flight"]);
    await other.store.release(runIdOf(other));
    await other.call("t");
    expect(headOf(other)?.status).toBe("undone");
  });
});

describe("a deploy while something is to be undone", () => {
  const asking = (undo: boolean, step = "flight") =>
    named(async (ctx) => {
      await ctx.step(step, () => undefined, undo ? { undo: () => undefined } : {});
      await ctx.confirm("Hotel as well?");
      return "booked";
    });

  // promise P4.5.30
  test.each([
    [
      "renames the step",
      asking(true, "plane"),
      /step "flight" is recorded at entry 0, but the handler/,
    ],
    [
      "has no undo function any more",
      asking(false),
      /step "flight" is to be undone, but the handler has no undo/,
    ],
  ])(
    "that %s parks the run with what does not fit; nothing is skipped, and a release lets the fitting one go on",
    async (_, after, message) => {
      const h = startHarness({ tools: [asking(true)] });
      question(await h.call("t"));
      await h.runtime.cancel(runIdOf(h));
      const deployed = h.beside({ tools: [after], version: "2" });
      const reply = deployed.call("t");
      await settled();
      await h.advance(30_000);
      expect(code(await reply)).toBe("JOURNAL_MISMATCH");
      expect(headOf(h)).toMatchObject({ status: "mismatched", undo: { why: "cancelled" } });
      await h.advance(11 * 60_000);
      const parked = await deployed.call("t");
      expect(code(parked)).toBe("RUN_PARKED");
      expect(parked).toMatchObject({ error: { message: expect.stringMatching(message) } });
      await h.store.release(runIdOf(h));
      expect(code(await h.call("t"))).toBe("RUN_CANCELLED");
      expect(headOf(h)?.status).toBe("undone");
    },
  );

  // promise P4.5.30
  test("waits for a step in doubt that the handler comes to late, and undoes it", async () => {
    const seen: unknown[] = [];
    const late = deferred();
    let isFirst = true;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          if (!isFirst) await late.promise;
          await ctx.step("flight", () => new Promise(() => undefined), {
            undo: (result) => seen.push(["undo", result]),
          });
          return "booked";
        }),
      ],
    });
    void h.call("t");
    await settled();
    isFirst = false;
    const other = h.beside();
    h.store.kill();
    await other.runtime.cancel(runIdOf(other));
    const reply = other.call("t");
    await settled();
    expect(seen).toEqual([]);
    late.resolve();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual([["undo", undefined]]);
  });
});

describe("a handler that is replayed to be undone", () => {
  // promise P4.5.25
  test("starts nothing: no step, no read, no question, no answer, and what it returns does not count", async () => {
    const seen: string[] = [];
    let isReplayed = false;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("flight", () => seen.push("flight"), { undo: () => seen.push("undo") });
          if (!isReplayed) throw new Error("full");
          await Promise.allSettled([
            ctx.read("weather", () => seen.push("weather")),
            ctx.step("hotel", () => seen.push("hotel")),
            ctx.confirm("Sure?"),
          ]);
          return "went on";
        }),
      ],
    });
    h.traffic.before = (method) => {
      if (method === "claimKnown") isReplayed = true;
    };
    expect(await h.call("t")).toMatchObject({ result: { isError: true } });
    expect(seen).toEqual(["flight", "undo"]);
    expect(h.log.some(({ message }) => message.includes("is not used"))).toBe(true);
  });

  test("tells its caller nothing a second time", async () => {
    const told: number[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          ctx.progress(1);
          await ctx.step("flight", () => undefined, { undo: () => undefined });
          ctx.progress(2);
          throw new Error("full");
        }),
      ],
    });
    await h.call("t", { notifications: { progress: (value) => told.push(value) } });
    expect(told).toEqual([1, 2]);
  });
});

describe("a store that fails while something is undone", () => {
  // promise P4.5.26
  test("holds the record of an undo that was made; the next undo waits for it", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("train", () => undefined, { undo: () => seen.push("train") });
          await ctx.step("flight", () => undefined, { undo: () => seen.push("flight") });
          throw new Error("full");
        }),
      ],
    });
    let isAway = false;
    h.traffic.before = (method) => {
      if (method === "append" && seen.length === 1 && isAway) {
        throw new RepriseError("STORE_UNAVAILABLE", "away");
      }
    };
    isAway = true;
    const reply = h.call("t");
    await settled();
    await h.advance(500);
    expect(seen).toEqual(["flight"]);
    isAway = false;
    await h.advance(100);
    expect(await reply).toMatchObject({
      result: { _meta: { "reprise/undone": ["flight", "train"] } },
    });
    expect(seen).toEqual(["flight", "train"]);
  });

  test("that loses the reply of the failure's record gets it once, and undoes once", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          await ctx.step("flight", () => undefined, { undo: () => seen.push("flight") });
          throw new Error("full");
        }),
      ],
    });
    const lost = new Set<string>();
    h.traffic.after = (method) => {
      const isOurs = method === "endRound" || (method === "append" && seen.length > 0);
      if (!isOurs || lost.has(method)) return;
      lost.add(method);
      throw new RepriseError("STORE_UNAVAILABLE", "reply lost");
    };
    const reply = h.call("t");
    for (let beat = 0; beat < 10; beat += 1) await h.advance(100);
    expect(await reply).toMatchObject({ result: { _meta: { "reprise/undone": ["flight"] } } });
    expect(lost.size).toBe(2);
    expect(seen).toEqual(["flight"]);
  });
});
