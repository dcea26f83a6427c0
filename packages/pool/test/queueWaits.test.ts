/**
 * What is told to those who add workers.
 */
import { queueWaits } from "@reprise/pool";
import { tool } from "@reprise/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { startPool, type TestPool, text, until } from "./support/pools.ts";

const minute = 60_000;
let pool: TestPool | undefined;

afterEach(async () => {
  await pool?.end();
  pool = undefined;
});

describe("a queue", { timeout: 30_000 }, () => {
  test("tells how many calls workers could take and since when the oldest waits, and nothing once they ran", async () => {
    const readOnly = { readOnlyHint: true };
    const say = tool({
      name: "say",
      description: "d",
      annotations: readOnly,
      handler: () => "said",
    });
    pool = await startPool({ tools: [say] });
    const front = await pool.front();
    const connection = await pool.connection();
    const wait = async (now?: number) =>
      (await queueWaits(connection, "reprise", ["default"], now))[0];
    expect(await wait()).toEqual({ queue: "default", waiting: 0, oldestMs: 0 });

    const before = Date.now();
    const calls = [front.call("say"), front.call("say")];
    await until(async () => (await wait())?.waiting === 2);
    const age = (await wait(before + minute))?.oldestMs ?? 0;
    // It began to wait after `before`, and not later than now.
    expect(age).toBeLessThanOrEqual(minute);
    expect(age).toBeGreaterThanOrEqual(minute - (Date.now() - before));

    await pool.worker();
    expect((await Promise.all(calls)).map(text)).toEqual(["said", "said"]);
    expect(await wait(before + minute)).toEqual({ queue: "default", waiting: 0, oldestMs: 0 });
  });

  test("that is named as no queue can be is refused", async () => {
    pool = await startPool({ tools: [] });
    await expect(queueWaits(await pool.connection(), "reprise", ["a:b"])).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});
