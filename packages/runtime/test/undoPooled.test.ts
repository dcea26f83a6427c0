/**
 * Undo where workers execute: an attempt that undoes is queued like any other, and its front answers from the record (docs/design.md
 * 4.5, 7).
 */
import { type Context, tool } from "@reprise/runtime";
import { expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  sender,
  settled,
  startHarness,
} from "./support/harness.ts";
import { createMemoryDispatcher } from "./support/memoryDispatcher.ts";

/** A front that executes nothing, and workers by version. */
function pool(
  handler: (ctx: Context) => Promise<string>,
  isKeyed: boolean,
): {
  readonly front: Harness;
  readonly worker: Harness;
  readonly dispatcher: ReturnType<typeof createMemoryDispatcher>;
} {
  const dispatcher = createMemoryDispatcher();
  const key = isKeyed ? { idempotency: { key: () => "k" } } : {};
  const run = (_: unknown, ctx: Context): Promise<string> => handler(ctx);
  const tools = [tool({ name: "t", description: "d", answerWithin: "1m", ...key, handler: run })];
  const front = startHarness({ tools }, { dispatcher, sweep: true });
  const worker = front.beside({}, { dispatcher: undefined, sweep: false });
  dispatcher.workers = [worker.runtime];
  return { front, worker, dispatcher };
}

test.each([true, false])(
  "a failed call (with a key: %s) is undone by a worker, in an attempt of its own, and its front has the failure",
  async (isKeyed) => {
    const seen: string[] = [];
    const { front, dispatcher } = pool(async (ctx) => {
      await ctx.step("flight", () => seen.push("flight"), { undo: () => seen.push("undo flight") });
      throw new Error("full");
    }, isKeyed);
    const reply = await front.call("t");
    expect(reply).toMatchObject({
      result: { isError: true, _meta: { "reprise/undone": ["flight"] } },
    });
    expect(seen).toEqual(["flight", "undo flight"]);
    expect(dispatcher.taken.length).toBe(2);
    const { runs } = front.store.snapshot();
    expect(runs.map(({ head }) => head.status)).toEqual(["undone"]);
  },
);

test("a cancelled run is undone by a worker whom the front that cancelled tells at once; a dead one's work by another", async () => {
  const seen: string[] = [];
  const { front, dispatcher } = pool(async (ctx) => {
    await ctx.step("flight", () => seen.push("flight"), { undo: () => seen.push("undo flight") });
    await ctx.confirm("Hotel as well?");
    return "booked";
  }, true);
  question(await front.call("t"));
  const runId = front.store.snapshot().runs[0]?.origin.runId ?? "";
  dispatcher.size = 0;
  await front.runtime.cancel(runId);
  await settled();
  expect(seen).toEqual(["flight"]);
  expect(front.store.snapshot().runs[0]?.head).toMatchObject({ status: "running", queued: true });
  // The job is lost; what was recorded is found by the sweep.
  dispatcher.lose();
  dispatcher.size = 10;
  await front.advance(10_001);
  await front.advance(10_001);
  expect(seen).toEqual(["flight", "undo flight"]);
  // Its key is free.
  question(await front.call("t"));
  expect(seen.at(-1)).toBe("flight");
});

test("a run that is cancelled while a worker is in a step of it is undone by that worker when the step has ended, whether its front waits or not", async () => {
  for (const waits of [true, false]) {
    const seen: string[] = [];
    const end = deferred();
    const dispatcher = createMemoryDispatcher();
    const handler = async (_: unknown, ctx: Context): Promise<string> => {
      await ctx.step("flight", () => end.promise.then(() => void seen.push("flight")), {
        undo: () => seen.push("undo flight"),
      });
      return "booked";
    };
    const key = { idempotency: { key: () => "k" } };
    const tools = [tool({ name: "t", description: "d", ...key, handler })];
    const front = startHarness({ tools }, { dispatcher });
    const worker = front.beside({}, { dispatcher: undefined, sweep: true });
    dispatcher.workers = [worker.runtime];
    const gone = sender();
    const reply = front.call("t", { gone });
    await settled();
    const runId = front.store.snapshot().runs[0]?.origin.runId ?? "";
    await front.runtime.cancel(runId);
    if (!waits) gone.leave();
    await settled();
    expect(seen).toEqual([]);
    const cancelledAt = front.clock.now();
    end.resolve();
    expect(code(await reply)).toBe(waits ? "RUN_CANCELLED" : "INTERRUPTED");
    await settled();
    expect(seen).toEqual(["flight", "undo flight"]);
    expect(front.store.snapshot().runs[0]?.head.status).toBe("undone");
    expect(front.clock.now()).toBe(cancelledAt);
  }
});
