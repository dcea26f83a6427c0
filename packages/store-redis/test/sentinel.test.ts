/**
 * The Redis store behind Sentinels: a failover interrupts it for a moment, and what was replicated goes on.
 */
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isRepriseError } from "@reprise/errors";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { sharedSuite, storeSuite } from "@reprise/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisSentinels, startRedisSentinels } from "../../../test/support/redisTopologies.ts";
import { claimFirst, createRun, progress, stepDone } from "./support/inputs.ts";
import { freshNamespace, openStore, sharedHarness, suiteHarness } from "./support/stores.ts";

let sentinels: RedisSentinels;
let connection: RedisConnection;

beforeAll(async () => {
  sentinels = await startRedisSentinels();
  const { name, addresses } = sentinels;
  connection = await connectRedis({
    sentinel: { name, nodes: addresses },
    commandTimeoutMs: 1_000,
  });
});

afterAll(async () => {
  await connection?.close();
  await sentinels?.stop();
});

/** Sends again what the store could not take, as a caller does. */
async function untilTaken<Value>(call: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isRepriseError(error, "STORE_UNAVAILABLE")) throw error;
    }
  }
}

describe("a failover", () => {
  test("keeps runs, and an attempt goes on by re-sending", { timeout: 60_000 }, async () => {
    const store = await openStore({ connection, namespace: freshNamespace(), leaseMs: 60_000 });
    const first = claimFirst({
      version: "1",
      token: "t1",
      stateExpiresAt: 1,
      scope: "scope",
      perCaller: true,
      argsDigest: "a",
      principal: "alice",
      idSuffix: "x",
      waiterId: "w1",
    });
    const claimed = await store.claimFirst(first);
    assert.equal(claimed.tag, "CLAIMED");
    assert.ok(claimed.tag === "CLAIMED");
    const { ref } = claimed;
    const shared = { kind: "session", id: "a" };
    const heard: string[] = [];
    await store.shared.listen("changes", (notice) => heard.push(notice));
    const until = Date.now() + 3_600_000;
    const revision = await store.shared.put(shared, "kept", undefined, until);
    const one = progress(1, { entries: [stepDone("one")], stepStarts: true });
    assert.equal((await store.append(ref, one)).tag, "OK");
    await connection.client.call("WAIT", "1", "900");
    await sentinels.master.kill();
    // Sent before anybody knows of a new master.
    const two = progress(2, { entries: [stepDone("two")] });
    assert.deepEqual(await untilTaken(() => store.append(ref, two)), {
      tag: "OK",
      stopping: false,
    });
    const joined = await store.claimFirst({ ...first, token: "t2", waiterId: "w2" });
    assert.equal(joined.tag, "RUNNING");
    const record = await store.load(ref.runId);
    assert.equal(record?.entries.length, 2);
    assert.equal((await store.createRun(createRun("fresh"))).tag, "OK");
    assert.deepEqual(await store.shared.get(shared), { value: "kept", revision });
    // Nobody tells when the listening client has found the new master as well.
    while (heard.length === 0) {
      await untilTaken(() => store.shared.publish("changes", "after the failover"));
      await nextTurn();
    }
  });

  test.each(storeSuite.map((one) => [one.title, one] as const))(
    "leaves a store behind in which %s",
    async (_title, one) => {
      await one.run(suiteHarness(connection).harness);
    },
  );

  test.each(sharedSuite.map((one) => [one.title, one] as const))(
    "leaves shared records behind of which %s",
    async (_title, one) => {
      await one.run(sharedHarness(connection).harness);
    },
  );
});
