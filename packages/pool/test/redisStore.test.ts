/**
 * The pool together with the Redis store, as processes have it: each front and each worker with a connection of its own.
 */
import { createPoolDispatcher, startWorker } from "@reprise/pool";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  createRuntime,
  type Dispatcher,
  defineServer,
  type Executor,
  type Runtime,
  type ServerDefinition,
  tool,
} from "@reprise/runtime";
import { connectRedis, openRedisStore, type RedisConnectionOptions } from "@reprise/store-redis";
import { afterEach, describe, expect, test } from "vitest";
import { startRedis } from "../../../test/support/redisServer.ts";
import { callTool, deferred, person, text } from "./support/pools.ts";

const namespace = "tests";
const sealer = createStateSealer({
  keys: keysFromSecrets("a secret of the tests, 32 bytes or more"),
});
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function runtimeOn(
  options: RedisConnectionOptions,
  server: ServerDefinition,
  role: "front" | "worker",
): Promise<Runtime> {
  const connection = await connectRedis(options);
  const store = await openRedisStore({ connection, namespace });
  let dispatcher: Dispatcher | undefined;
  if (role === "front") dispatcher = await createPoolDispatcher({ connection, namespace });
  const runtime: Runtime & Executor = createRuntime({
    ...{ server, sealer, store, dispatcher },
    sweep: false,
  });
  const worker =
    role === "worker" ? await startWorker({ runtime, connection, namespace }) : undefined;
  const close = async (): Promise<void> => {
    await (worker ?? runtime).close();
    await dispatcher?.close();
    await connection.close();
  };
  closers.unshift(close);
  return runtime;
}

describe("the pool on the Redis store", { timeout: 60_000 }, () => {
  test("a dialogue goes over two fronts and two workers, and a caller who leaves stops its worker long before a lease is over", async () => {
    const effects: string[] = [];
    const entered = deferred();
    const aborted = deferred();
    const server = defineServer({
      name: "tests",
      tools: [
        tool({
          name: "refund",
          description: "d",
          idempotency: { key: () => "o-1" },
          async handler(_args, ctx) {
            await ctx.step("look", () => effects.push("look"));
            if (!(await ctx.confirm("Sure?"))) return "no";
            await ctx.step("pay", () => effects.push("pay"));
            return "paid";
          },
        }),
        tool({
          name: "hang",
          description: "d",
          idempotency: { key: () => "h" },
          async handler(_args, ctx) {
            ctx.signal.addEventListener("abort", () => aborted.resolve());
            entered.resolve();
            await aborted.promise;
            return "never";
          },
        }),
      ],
    });
    const redis = await startRedis({ port: 0 });
    closers.push(() => redis.stop());
    const options = { url: redis.url };
    const fronts = [
      await runtimeOn(options, server, "front"),
      await runtimeOn(options, server, "front"),
    ] as const;
    await runtimeOn(options, server, "worker");
    await runtimeOn(options, server, "worker");

    const asked = await callTool(fronts[0], "refund");
    if (asked.kind !== "input_required") throw new Error(text(asked));
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        callTool(fronts[index % 2 === 0 ? 0 : 1], "refund", {
          requestState: asked.requestState,
          inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
        }),
      ),
    );
    expect(new Set(replies.map(text))).toEqual(new Set(["paid"]));
    expect(effects).toEqual(["look", "pay"]);

    const who = person("ann");
    const hung = callTool(fronts[1], "hang", { person: who });
    await entered.promise;
    const leftAt = performance.now();
    who.leave();
    await aborted.promise;
    // A renewal would tell the worker as well, after a third of the lease of 10 s.
    expect(performance.now() - leftAt).toBeLessThan(3_000);
    expect(text(await hung)).toBe("INTERRUPTED");
  });
});
