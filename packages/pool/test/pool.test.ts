/**
 * Calls through the pool on a real Redis.
 */
import { type Context, tool } from "@reprise/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { deferred, person, startPool, type TestPool, text, until } from "./support/pools.ts";

const description = "d";
let pool: TestPool | undefined;

afterEach(async () => {
  await pool?.end();
  pool = undefined;
});

const repeatable = (name: string, handler: (args: unknown, ctx: Context) => unknown) =>
  tool({
    name,
    description,
    annotations: { readOnlyHint: true },
    handler: handler as () => Promise<string>,
  });

describe("a call through the pool", { timeout: 30_000 }, () => {
  test("is answered by a worker, and its job is gone afterwards", async () => {
    pool = await startPool({
      tools: [
        repeatable("add", (args) => `${(args as { n: number }).n + 1}`),
        tool({ name: "once", description, handler: () => "once" }),
      ],
    });
    const front = await pool.front();
    await pool.worker();
    expect(text(await front.call("add", { args: { n: 41 } }))).toBe("42");
    expect(text(await front.call("once"))).toBe("once");
    const { client } = pool;
    await until(async () => (await client.keys("*:default:*-*-*")).length === 0);
  });

  test("asks through one front and goes on through another, its steps run once, on any worker", async () => {
    const effects: string[] = [];
    pool = await startPool({
      tools: [
        tool({
          name: "refund",
          description,
          idempotency: { key: () => "o-1" },
          async handler(_args, ctx) {
            await ctx.step("look", () => effects.push("look"));
            if (!(await ctx.confirm("Sure?"))) return "no";
            await ctx.step("pay", () => effects.push("pay"));
            return "paid";
          },
        }),
      ],
    });
    const fronts = [await pool.front(), await pool.front()] as const;
    await pool.worker();
    await pool.worker();
    const asked = await fronts[0].call("refund");
    if (asked.kind !== "input_required") throw new Error(text(asked));
    const answer = {
      requestState: asked.requestState,
      inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
    };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const front = index % 2 === 0 ? fronts[0] : fronts[1];
        return front.call("refund", answer);
      }),
    );
    expect(new Set(replies.map(text))).toEqual(new Set(["paid"]));
    expect(effects).toEqual(["look", "pay"]);
  });

  test("brings progress and log messages in their order, before the result", async () => {
    pool = await startPool({
      tools: [
        repeatable("t", (_args, ctx) => {
          ctx.progress(1, 3, "one");
          ctx.log("warning", { a: 1 }, "me");
          ctx.progress(2);
          return "x";
        }),
      ],
    });
    const front = await pool.front();
    await pool.worker();
    const seen: unknown[] = [];
    const reply = await front.call("t", {
      logLevel: "info",
      notifications: {
        progress: (...values) => seen.push(values),
        log: (...values) => seen.push(values),
      },
    });
    seen.push(text(reply));
    expect(seen).toEqual([
      [1, 3, "one"],
      ["warning", { a: 1 }, "me"],
      [2, undefined, undefined],
      "x",
    ]);
  });

  test("stops when its caller is gone, wherever it is, and not only when a lease is over", async () => {
    const entered = deferred();
    pool = await startPool({
      tools: [
        repeatable(
          "t",
          (_args, ctx) =>
            new Promise((resolve) => {
              ctx.signal.addEventListener("abort", () => resolve("stopped"));
              entered.resolve();
            }),
        ),
      ],
    });
    // Nothing but the message itself could come in the time of this test.
    const front = await pool.front({ leaseMs: 600_000 });
    await pool.worker({ leaseMs: 600_000 });
    const who = person("ann");
    const reply = front.call("t", { person: who });
    await entered.promise;
    who.leave();
    expect(["stopped", "INTERRUPTED"]).toContain(text(await reply));
  });

  // promise P4.5.9
  test.each(["repeatable", "once"] as const)(
    "of a %s handler that is cancelled has its step aborted in the worker within a second, and no further one",
    async (effects) => {
      const entered = deferred();
      const seen: string[] = [];
      const handler = async (_args: unknown, ctx: Context): Promise<string> => {
        await ctx.step("first", ({ signal }) => {
          entered.resolve();
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
      pool = await startPool({ tools: [tool({ name: "t", description, effects, handler })] });
      // Nothing but the message itself could come in the time of this test.
      const front = await pool.front({ leaseMs: 600_000 });
      await pool.worker({ leaseMs: 600_000 });
      const cancelling = new AbortController();
      const reply = front.call("t", { cancelled: cancelling.signal });
      await entered.promise;
      cancelling.abort();
      const cancelledAt = performance.now();
      expect(text(await reply)).toBe("RUN_CANCELLED");
      await until(() => seen.length > 0);
      expect(performance.now() - cancelledAt).toBeLessThan(1_000);
      expect(seen).toEqual(["aborted"]);
    },
  );

  test("that is cancelled while no worker has it is never given to one", async () => {
    let entered = 0;
    pool = await startPool({
      tools: [
        repeatable("t", () => {
          entered += 1;
          return "x";
        }),
      ],
    });
    const front = await pool.front();
    const cancelling = new AbortController();
    const reply = front.call("t", { cancelled: cancelling.signal });
    cancelling.abort();
    expect(text(await reply)).toBe("RUN_CANCELLED");
    await pool.worker();
    expect(text(await front.call("t"))).toBe("x");
    expect(entered).toBe(1);
  });

  test("is refused at once with BUSY when as many wait as may, for its caller and for all", async () => {
    pool = await startPool({ tools: [repeatable("t", () => "x")] });
    const front = await pool.front({
      queues: { default: { maxWaiting: 7, maxWaitingPerCaller: 4 } },
    });
    // Without a worker everything waits: what BullMQ is given first is no more than twice the guess of its workers.
    const ann = Array.from({ length: 40 }, () => front.call("t", { person: person("ann") }));
    const refusal = await Promise.race(ann);
    expect(text(refusal)).toBe("BUSY");
    const bob = Array.from({ length: 40 }, () => front.call("t", { person: person("bob") }));
    expect(text(await Promise.race(bob))).toBe("BUSY");
    await pool.worker();
    const texts = (await Promise.all([...ann, ...bob])).map(text);
    expect(new Set(texts)).toEqual(new Set(["x", "BUSY"]));
  });

  test("keeps the payload unreadable for whoever reads Redis, when there is a key for it", async () => {
    const entered = deferred();
    const release = deferred();
    pool = await startPool({
      tools: [
        repeatable("t", async () => {
          entered.resolve();
          await release.promise;
          return "a secret result";
        }),
      ],
    });
    const jobEncryptionKey = "a key for jobs, of 32 bytes or more";
    const front = await pool.front({ jobEncryptionKey });
    await pool.worker({ jobEncryptionKey: [jobEncryptionKey, "a key that is on its way out, 32"] });
    const reply = front.call("t", { args: { card: "a secret argument" } });
    await entered.promise;
    const held: string[] = [];
    for (const key of await pool.client.keys("*")) {
      if ((await pool.client.type(key)) === "hash") {
        held.push(...Object.values(await pool.client.hgetall(key)));
      }
    }
    expect(held.some((value) => value.includes("sealed"))).toBe(true);
    expect(held.filter((value) => value.includes("secret"))).toEqual([]);
    release.resolve();
    expect(text(await reply)).toBe("a secret result");
  });

  test("runs on the queue that its tool names, and only there", async () => {
    pool = await startPool({
      tools: [
        tool({ name: "slow", description, queue: "slow", handler: () => "slow" }),
        repeatable("t", () => "quick"),
      ],
    });
    const front = await pool.front();
    const worker = await pool.worker({ queues: ["default"] });
    expect(worker.pool.queues).toEqual(["default"]);
    const slow = front.call("slow");
    expect(text(await front.call("t"))).toBe("quick");
    const both = await pool.worker();
    expect(both.pool.queues).toEqual(["default", "slow"]);
    expect(text(await slow)).toBe("slow");
  });
});
