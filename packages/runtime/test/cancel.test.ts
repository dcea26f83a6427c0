/**
 * Runs that are no longer wanted: what is aborted, what is recorded, and what those get who ask later (docs/design.md 4.5).
 */
import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  person,
  question,
  settled,
  startHarness,
  yes,
} from "./support/harness.ts";

const description = "d";

function serving(
  handler: (ctx: Context) => Promise<string>,
  over: { readonly key?: string; readonly effects?: "once" | "repeatable" } = {},
): Harness {
  const { key, effects = "once" } = over;
  const keyed = key === undefined ? {} : { idempotency: { key: () => key } };
  return startHarness({
    tools: [tool({ name: "t", description, effects, ...keyed, handler: (_, ctx) => handler(ctx) })],
  });
}

/** A handler whose first step runs until it is aborted, and what came of it. */
function stuck(): {
  readonly handler: (ctx: Context) => Promise<string>;
  readonly seen: string[];
} {
  const seen: string[] = [];
  const handler = async (ctx: Context): Promise<string> => {
    await ctx.step("first", ({ signal }) => {
      seen.push("first");
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          seen.push("aborted");
          reject(new Error("aborted"));
        });
      });
    });
    await ctx.step("second", () => seen.push("second"));
    return "done";
  };
  return { handler, seen };
}

const runIdOf = (h: Harness): string => h.store.snapshot().runs[0]?.origin.runId ?? "";

describe("Runtime.cancel", () => {
  // promise P4.5.9
  test("from another process aborts the running step, starts no further one, and the caller is told", async () => {
    const { handler, seen } = stuck();
    const h = serving(handler);
    const other = h.beside();
    const reply = h.call("t");
    await settled();
    const runId = runIdOf(h);
    expect(await other.runtime.cancel(runId, { reason: "changed my mind" })).toEqual({
      kind: "cancelled",
      round: 0,
    });
    await settled();
    expect(seen).toEqual(["first", "aborted"]);
    const told = await reply;
    expect(code(told)).toBe("RUN_CANCELLED");
    expect(told).toMatchObject({
      error: { data: { runId, round: 0, status: "cancelled", reason: "changed my mind" } },
    });
    expect(h.store.snapshot().runs[0]?.head.status).toBe("cancelled");
  });

  // promise P4.5.11, P4.5.15
  test("ends a run that waits for an answer: later rounds are told its id, round and status", async () => {
    const effects: string[] = [];
    const h = serving(async (ctx) => {
      await ctx.confirm("Sure?");
      await ctx.step("s", () => effects.push("s"));
      return "done";
    });
    const { requestState, runId = "" } = question(await h.call("t"));
    expect(await h.runtime.cancel(runId)).toEqual({ kind: "cancelled", round: 1 });
    expect(await h.runtime.cancel(runId)).toEqual({ kind: "cancelled", round: 1 });
    const late = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(code(late)).toBe("RUN_CANCELLED");
    expect(late).toMatchObject({ error: { data: { runId, round: 1, status: "cancelled" } } });
    expect(effects).toEqual([]);
  });

  test("leaves a run that has ended as it is", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("s", () => undefined);
      return "done";
    });
    await h.call("t");
    expect(await h.runtime.cancel(runIdOf(h))).toEqual({
      kind: "ended",
      round: 0,
      status: "completed",
    });
    expect(await h.runtime.cancel("no-such-run")).toEqual({ kind: "unknown" });
  });

  test("of another person's run finds none", async () => {
    const h = serving(async (ctx) => ((await ctx.confirm("Sure?")) ? "yes" : "no"));
    const alice = person("alice");
    const { requestState, runId = "" } = question(await h.call("t", { caller: alice }));
    expect(await h.runtime.cancel(runId, { principal: "mallory" })).toEqual({ kind: "unknown" });
    const reply = await h.call("t", {
      caller: alice,
      requestState,
      inputResponses: { confirm: yes },
    });
    expect(reply.kind).toBe("complete");
  });

  // promise P4.5.13
  test("frees the key when no step was started, and keeps it when one was", async () => {
    let asks = true;
    const { handler } = stuck();
    const h = serving((ctx) => (asks ? ctx.confirm("Sure?").then(String) : handler(ctx)), {
      key: "k",
    });
    const first = question(await h.call("t"));
    await h.runtime.cancel(first.runId ?? "");
    asks = false;
    const second = h.call("t");
    await settled();
    const runs = h.store.snapshot().runs.map(({ origin }) => origin.runId);
    expect(runs).toHaveLength(2);
    await h.runtime.cancel(runs[1] ?? "");
    expect(code(await second)).toBe("RUN_CANCELLED");
    expect(code(await h.call("t"))).toBe("RUN_CANCELLED");
    expect(h.store.snapshot().runs).toHaveLength(2);
  });

  // promise P4.5.15
  test("is heard by a joiner in another process", async () => {
    const { handler } = stuck();
    const h = serving(handler, { key: "k" });
    const other = h.beside();
    const replies = [h.call("t"), other.call("t")];
    await settled();
    await other.runtime.cancel(runIdOf(h));
    for (const reply of replies) expect(code(await reply)).toBe("RUN_CANCELLED");
  });

  test("is known at the next renewal when the message is lost", async () => {
    const { handler, seen } = stuck();
    const h = serving(handler);
    const deaf = h.beside({}, { store: { ...h.store, onStopping: () => () => undefined } });
    const reply = deaf.call("t");
    await settled();
    await h.runtime.cancel(runIdOf(h));
    await settled();
    expect(seen).toEqual(["first"]);
    await h.advance(h.store.leaseMs / 3);
    expect(seen).toEqual(["first", "aborted"]);
    expect(code(await reply)).toBe("RUN_CANCELLED");
  });
});

describe("a request that is cancelled", () => {
  // promise P4.5.14
  test("aborts its step and leaves the record cancelled, with what may have happened in it", async () => {
    const { handler, seen } = stuck();
    const h = serving(handler);
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["first", "aborted"]);
    const [run] = h.store.snapshot().runs;
    expect(run?.head.status).toBe("cancelled");
    expect(Object.keys(run?.head.marks ?? {})).toEqual(["first"]);
    expect(run?.head.keyFree).toBe(false);
  });

  // promise P4.5.16
  test("leaves no record where none was made", async () => {
    const release = deferred();
    const effects: string[] = [];
    const h = serving(async (ctx) => {
      await release.promise;
      await ctx.step("s", () => effects.push("s"));
      return "done";
    });
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    release.resolve();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(effects).toEqual([]);
    expect(h.store.snapshot().runs).toEqual([]);
  });

  test("of a repeatable handler ends with its step aborted, without a store", async () => {
    const { handler, seen } = stuck();
    const h = serving(handler, { effects: "repeatable" });
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["first", "aborted"]);
    expect(h.traffic.calls).toEqual([]);
  });

  test("that joined another's attempt ends the run for both", async () => {
    const { handler, seen } = stuck();
    const h = serving(handler, { key: "k" });
    const other = h.beside();
    const cancelling = new AbortController();
    const first = h.call("t");
    await settled();
    const joiner = other.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    expect(code(await joiner)).toBe("RUN_CANCELLED");
    expect(code(await first)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["first", "aborted"]);
  });

  test("before it began runs nothing, and ends the run that its state names", async () => {
    let entered = 0;
    const h = serving(async (ctx) => {
      entered += 1;
      return (await ctx.confirm("Sure?")) ? "yes" : "no";
    });
    const { requestState } = question(await h.call("t"));
    const cancelled = AbortSignal.abort();
    expect(code(await h.call("t", { cancelled }))).toBe("RUN_CANCELLED");
    const answered = { requestState, inputResponses: { confirm: yes } };
    expect(code(await h.call("t", { ...answered, cancelled }))).toBe("RUN_CANCELLED");
    expect(entered).toBe(1);
    expect(code(await h.call("t", answered))).toBe("RUN_CANCELLED");
    expect(entered).toBe(1);
  });
});
