/**
 * Cancels at the wrong moment: while a record is made, while the store is away, beside an end, through the pool.
 */
import { RepriseError } from "@reprise/errors";
import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, deferred, type Harness, settled, startHarness, text } from "./support/harness.ts";
import { createMemoryDispatcher } from "./support/memoryDispatcher.ts";

const description = "d";

function serving(
  handler: (ctx: Context) => Promise<string>,
  over: { readonly key?: string } = {},
  options: Parameters<typeof startHarness>[1] = {},
): Harness {
  const keyed = over.key === undefined ? {} : { idempotency: { key: () => over.key } };
  const one = tool({ name: "t", description, ...keyed, handler: (_, ctx) => handler(ctx) });
  return startHarness({ tools: [one] }, options);
}

const away = (): never => {
  throw new RepriseError("STORE_UNAVAILABLE", "away");
};

describe("a cancel", () => {
  test("while the record is being made ends that record, and its step is never entered", async () => {
    const effects: string[] = [];
    const h = serving(async (ctx) => {
      await ctx.step("s", () => effects.push("s"));
      return "done";
    });
    const release = deferred();
    h.traffic.before = (method) => (method === "createRun" ? release.promise : undefined);
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    release.resolve();
    await settled();
    await h.advance(1_000);
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(effects).toEqual([]);
    for (const { head } of h.store.snapshot().runs) expect(head.status).toBe("cancelled");
  });

  test("while the store is away is recorded once it is back", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("s", ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        });
      });
      return "done";
    });
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await settled();
    h.traffic.before = away;
    cancelling.abort();
    await settled();
    h.traffic.before = () => undefined;
    await h.advance(200);
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(h.store.snapshot().runs[0]?.head.status).toBe("cancelled");
  });

  test("that comes after the end was recorded changes neither reply nor record", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("s", () => undefined);
      return "done";
    });
    const release = deferred();
    const recorded = deferred();
    h.traffic.after = (method) => {
      if (method !== "endRound") return undefined;
      recorded.resolve();
      return release.promise;
    };
    const cancelling = new AbortController();
    const reply = h.call("t", { cancelled: cancelling.signal });
    await recorded.promise;
    cancelling.abort();
    const [run] = h.store.snapshot().runs;
    const { kind } = await h.runtime.cancel(run?.origin.runId ?? "");
    expect(kind).toBe("ended");
    release.resolve();
    expect(text(await reply)).toBe("done");
  });

  // promise P4.5.10
  test("whose attempt records its return first gives that return, and else the cancel", async () => {
    const h = serving(async (ctx) => {
      await ctx.step("s", () => undefined);
      return "done";
    });
    const release = deferred();
    h.traffic.before = (method) => (method === "endRound" ? release.promise : undefined);
    const reply = h.call("t");
    await settled();
    const [run] = h.store.snapshot().runs;
    await h.runtime.cancel(run?.origin.runId ?? "");
    release.resolve();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(h.store.snapshot().runs[0]?.head.status).toBe("cancelled");
  });

  test("reaches an attempt that a disconnect had stopped, and aborts the step it was letting end", async () => {
    const seen: string[] = [];
    const h = serving(async (ctx) => {
      await ctx.step("s", ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            seen.push("aborted");
            reject(new Error("aborted"));
          });
        });
      });
      return "done";
    });
    let leave = (): void => undefined;
    const gone = {
      isGone: false,
      onGone: (listener: () => void) => {
        leave = listener;
        return () => undefined;
      },
      leave: () => undefined,
    };
    const reply = h.call("t", { gone });
    await settled();
    leave();
    await settled();
    expect(seen).toEqual([]);
    await h.runtime.cancel(h.store.snapshot().runs[0]?.origin.runId ?? "");
    await settled();
    expect(seen).toEqual(["aborted"]);
    expect(code(await reply)).toBe("RUN_CANCELLED");
  });

  test("is not undone by a sweep, whatever time passes", async () => {
    const h = serving((ctx) => ctx.confirm("Sure?").then(String), { key: "k" });
    await h.call("t");
    await h.runtime.cancel(h.store.snapshot().runs[0]?.origin.runId ?? "");
    const sweeping = h.beside({}, { sweep: true });
    await settled();
    await h.advance(60_000);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("cancelled");
    await sweeping.runtime.close();
  });
});

describe("a cancel through the pool", () => {
  function pool(handler: (ctx: Context) => Promise<string>, key?: string) {
    const dispatcher = createMemoryDispatcher();
    const front = serving(handler, key === undefined ? {} : { key }, { dispatcher });
    const worker = front.beside({}, { dispatcher: undefined });
    dispatcher.workers = [worker.runtime];
    return { front, worker, dispatcher };
  }

  const stuck =
    (seen: string[]) =>
    async (ctx: Context): Promise<string> => {
      await ctx.step("s", ({ signal }) => {
        seen.push("entered");
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            seen.push("aborted");
            reject(new Error("aborted"));
          });
        });
      });
      return "done";
    };

  // promise P4.5.16
  test.each([
    ["with a key", "k"],
    ["without a key", undefined],
  ] as const)("%s aborts the worker's step and reaches the front", async (_title, key) => {
    const seen: string[] = [];
    const { front } = pool(stuck(seen), key);
    const cancelling = new AbortController();
    const reply = front.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(seen).toEqual(["entered", "aborted"]);
    expect(front.store.snapshot().runs[0]?.head.status).toBe("cancelled");
  });

  test("of a run that no worker has yet leaves a worker nothing to do", async () => {
    const seen: string[] = [];
    const { front, dispatcher } = pool(stuck(seen), "k");
    dispatcher.size = 0;
    const cancelling = new AbortController();
    const reply = front.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    dispatcher.size = 1;
    dispatcher.pump();
    await settled();
    expect(seen).toEqual([]);
  });

  test("of a call whose worker dies is not given to another", async () => {
    let entered = 0;
    const release = deferred();
    const { front, dispatcher } = pool(async () => {
      entered += 1;
      await release.promise;
      return "done";
    });
    const cancelling = new AbortController();
    dispatcher.dieIn = async (run) => {
      void run();
      await release.promise;
    };
    const reply = front.call("t", { cancelled: cancelling.signal });
    await settled();
    cancelling.abort();
    release.resolve();
    expect(code(await reply)).toBe("RUN_CANCELLED");
    expect(entered).toBe(1);
  });
});
