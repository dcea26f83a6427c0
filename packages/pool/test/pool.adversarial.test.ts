/**
 * What may go wrong in a pool: dead workers, a Redis that restarts or forgets, lost mails, floods of one caller, drains.
 */
import { type Context, tool } from "@reprise/runtime";
import { afterEach, describe, expect, test } from "vitest";
import {
  deferred,
  LEASE_MS,
  person,
  startPool,
  type TestPool,
  text,
  until,
} from "./support/pools.ts";

const description = "d";
let pool: TestPool | undefined;

afterEach(async () => {
  await pool?.end();
  pool = undefined;
});

const readOnly = (handler: (args: unknown, ctx: Context) => unknown) =>
  tool({
    name: "t",
    description,
    annotations: { readOnlyHint: true },
    handler: handler as () => Promise<string>,
  });

const keyed = (handler: (ctx: Context) => Promise<string>) =>
  tool({
    name: "k",
    description,
    input: { type: "object" },
    idempotency: { key: (args) => String((args as { id?: number }).id ?? "only") },
    handler: (_args, ctx) => handler(ctx),
  });

describe("a worker that dies", { timeout: 60_000 }, () => {
  test("costs a call without a record a while, not its answer", async () => {
    let entered = 0;
    pool = await startPool({
      tools: [readOnly(() => (++entered === 1 ? new Promise(() => undefined) : "second"))],
    });
    const front = await pool.front();
    const first = await pool.worker();
    const reply = front.call("t");
    await until(() => entered === 1);
    await pool.worker();
    first.die();
    expect(text(await reply)).toBe("second");
    // Its effects may repeat: on a slow machine a call may count as lost once more.
    expect(entered).toBeGreaterThanOrEqual(2);
  });

  test("costs a recorded run one take-over, and its recorded step is not repeated", async () => {
    const effects: string[] = [];
    let entered = 0;
    pool = await startPool({
      tools: [
        keyed(async (ctx) => {
          await ctx.step("pay", () => effects.push("pay"));
          entered += 1;
          if (entered === 1) await new Promise(() => undefined);
          return "paid";
        }),
      ],
    });
    const front = await pool.front();
    const first = await pool.worker();
    const reply = front.call("k");
    await until(() => entered === 1);
    await pool.worker();
    first.die();
    expect(text(await reply)).toBe("paid");
    expect(effects).toEqual(["pay"]);
    expect(pool.store.snapshot().runs[0]?.head).toMatchObject({ epoch: 2, takeovers: 0 });
  });

  test("between taking a run's job and claiming the run costs a lease and 5 s at most: the same attempt is queued again", async () => {
    pool = await startPool({ tools: [keyed(async () => "paid")] });
    const front = await pool.front();
    const first = await pool.worker();
    let hasTaken = false;
    const load = (): Promise<never> => {
      hasTaken = true;
      return new Promise(() => undefined);
    };
    Object.assign(first.store, { load });
    const reply = front.call("k");
    await until(() => hasTaken);
    await pool.worker();
    first.die();
    const diedAt = performance.now();
    expect(text(await reply)).toBe("paid");
    expect(performance.now() - diedAt).toBeLessThan(LEASE_MS + 5_000);
    expect(pool.store.snapshot().runs[0]?.head).toMatchObject({ epoch: 1, takeovers: 0 });
  });
});

describe("a Redis that goes away", { timeout: 60_000 }, () => {
  test("keeps no worker from closing", async () => {
    pool = await startPool({ tools: [readOnly(() => "x")] });
    const front = await pool.front();
    const worker = await pool.worker();
    expect(text(await front.call("t"))).toBe("x");
    await pool.redis.kill();
    // Resolves, or the runner ends the test: nobody starts this Redis again.
    await worker.pool.close();
  });

  test("is found again by workers that idled and by fronts, without a restart of theirs", async () => {
    pool = await startPool({ tools: [readOnly(() => "x"), keyed(async () => "y")] });
    const front = await pool.front();
    await pool.worker();
    expect(text(await front.call("t"))).toBe("x");
    await pool.redis.restart();
    const { client } = pool;
    await until(async () => (await client.ping()) === "PONG");
    expect(text(await front.call("t"))).toBe("x");
    expect(text(await front.call("k"))).toBe("y");
  });

  test("and has forgotten everything loses no call that was under way", async () => {
    let entered = 0;
    const release = deferred();
    pool = await startPool({
      tools: [
        readOnly(async () => {
          entered += 1;
          await release.promise;
          return "x";
        }),
        keyed(async () => {
          entered += 1;
          await release.promise;
          return "y";
        }),
      ],
    });
    const front = await pool.front();
    await pool.worker();
    const replies = [front.call("t"), front.call("k")];
    await until(() => entered === 2);
    await pool.redis.restart();
    release.resolve();
    expect((await Promise.all(replies)).map(text)).toEqual(["x", "y"]);
  });

  test("a mail that is lost is missed, and its call is made again", async () => {
    let entered = 0;
    const release = deferred();
    pool = await startPool({
      tools: [
        readOnly(async () => {
          entered += 1;
          if (entered === 1) await release.promise;
          return `${entered}`;
        }),
      ],
    });
    const front = await pool.front();
    await pool.worker();
    const reply = front.call("t");
    await until(() => entered === 1);
    const [mailbox = ""] = await pool.client.keys("*:mail");
    await pool.client.del(mailbox);
    release.resolve();
    expect(text(await reply)).toBe("2");
  });
});

describe("a caller with hundreds of calls", { timeout: 60_000 }, () => {
  test("keeps another's one call waiting for a worker only, and BullMQ holds few of them", async () => {
    const concurrency = 4;
    pool = await startPool({ tools: [readOnly(() => "x")] });
    const { client } = pool;
    const front = await pool.front();
    await pool.worker({ concurrency });
    let answered = 0;
    let most = 0;
    const flood = Array.from({ length: 400 }, async () => {
      const reply = await front.call("t", { person: person("ann") });
      answered += 1;
      return text(reply);
    });
    await until(() => answered > 20);
    const before = answered;
    const one = front.call("t", { person: person("bob") }).then((reply) => {
      // Those that were in BullMQ already, and those that a worker took while the one was on its way.
      expect(answered - before).toBeLessThan(100);
      return text(reply);
    });
    for (let look = 0; look < 5; look += 1) {
      const [wait, active] = await Promise.all([
        client.llen("{reprise:pool1:default}:default:wait"),
        client.llen("{reprise:pool1:default}:default:active"),
      ]);
      most = Math.max(most, wait, active);
    }
    expect(most).toBeLessThanOrEqual(2 * concurrency);
    expect(await one).toBe("x");
    expect(new Set(await Promise.all(flood))).toEqual(new Set(["x"]));
  });
});

describe("a caller that goes away before any worker has its call", { timeout: 60_000 }, () => {
  test("is not served: the worker that takes the job later does not enter the handler", async () => {
    let entered = 0;
    pool = await startPool({
      tools: [
        readOnly((_args, ctx) => {
          if (!ctx.signal.aborted) entered += 1;
          return "x";
        }),
      ],
    });
    const front = await pool.front();
    const who = person("ann");
    const replies = Array.from({ length: 20 }, () => front.call("t", { person: who }));
    const stays = front.call("t", { person: person("bob") });
    who.leave();
    await Promise.all(replies);
    await pool.worker();
    expect(text(await stays)).toBe("x");
    expect(entered).toBe(1);
  });
});

describe("a worker that drains", { timeout: 60_000 }, () => {
  test("hands its run and its call over to another worker, for the same callers", async () => {
    let entered = 0;
    const effects: string[] = [];
    const both = deferred();
    const hold = async (ctx: Context): Promise<string> => {
      entered += 1;
      if (entered === 2) both.resolve();
      if (entered <= 2) {
        await new Promise<void>((resolve) => {
          ctx.signal.addEventListener("abort", () => resolve());
        });
      }
      return "never";
    };
    pool = await startPool({
      tools: [
        readOnly((_args, ctx) => hold(ctx).then(() => (ctx.signal.aborted ? "stopped" : "x"))),
        keyed(async (ctx) => {
          await ctx.step("pay", () => effects.push("pay"));
          await hold(ctx);
          await ctx.step("after", () => effects.push("after"));
          return "y";
        }),
      ],
    });
    const front = await pool.front();
    const first = await pool.worker({}, { drainTimeoutMs: 1 });
    const replies = [front.call("t"), front.call("k")];
    await both.promise;
    await pool.worker();
    await first.close();
    const texts = (await Promise.all(replies)).map(text);
    expect(texts[1]).toBe("y");
    expect(["x", "stopped"]).toContain(texts[0]);
    expect(effects).toEqual(["pay", "after"]);
  });
});

describe("a pool of one", { timeout: 60_000 }, () => {
  test("never waits for itself: joiners, dialogues and take-overs all end", async () => {
    const effects: string[] = [];
    pool = await startPool({
      tools: [
        keyed(async (ctx) => {
          if (!(await ctx.confirm("Sure?"))) return "no";
          await ctx.step("pay", () => effects.push("pay"));
          return "paid";
        }),
      ],
    });
    const fronts = [await pool.front(), await pool.front()] as const;
    await pool.worker({ concurrency: 1 });
    const ask = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        fronts[index % 2 === 0 ? 0 : 1].call("k", { args: { id: index % 3 } }),
      ),
    );
    const replies = await Promise.all(
      ask.map((asked, index) => {
        if (asked.kind !== "input_required") throw new Error(text(asked));
        return fronts[index % 2 === 0 ? 1 : 0].call("k", {
          args: { id: index % 3 },
          requestState: asked.requestState,
          inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
        });
      }),
    );
    expect(new Set(replies.map(text))).toEqual(new Set(["paid"]));
    expect(effects).toEqual(["pay", "pay", "pay"]);
  });
});
