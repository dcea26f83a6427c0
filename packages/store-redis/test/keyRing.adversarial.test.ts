/**
 * What can be wrong with the Redis behind a ring: nonsense in its keys, no room, no right to write, an older state after
 * a failover, commands whose replies are lost.
 */
import type { KeyRingStore, RingContents, RingEntry } from "@reprise/request-state";
import {
  connectRedis,
  createRedisKeyRingStore,
  openKeyRing,
  openKeyRingAdmin,
  type RedisConnection,
} from "@reprise/store-redis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";

let server: RedisServer;
let connection: RedisConnection;
let store: KeyRingStore;
beforeAll(async () => {
  server = await startRedis({ maxmemory: "200mb" });
  connection = await connectRedis({ url: server.url, commandTimeoutMs: 1000 });
  store = createRedisKeyRingStore(connection, "reprise");
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});
beforeEach(async () => {
  await connection.client.flushall();
});

const name = (noun: string): string => `reprise1:{reprise:keyring}:${noun}`;
const DAY = 86_400_000;
const entry = (letter: string, text = letter): RingEntry => ({
  kid: letter.repeat(22),
  text,
  endsAtMs: Date.now() + DAY,
});
const contents = async (): Promise<RingContents | undefined> =>
  (await store.read(undefined)).contents;

describe("Nonsense in the ring's keys", () => {
  test("of another type makes the ring unreachable, and nobody joins half of it", async () => {
    for (const noun of ["keys", "tombstones", "ends", "facts"]) {
      await connection.client.set(name(noun), "nonsense");
      await expect(openKeyRing({ connection })).rejects.toMatchObject({
        code: "REQUEST_STATE_UNAVAILABLE",
      });
      await connection.client.del(name(noun));
    }
  });

  test("in the facts gives a reply that nobody acts on", async () => {
    await store.publish([entry("a")]);
    for (const [field, value] of [
      ["born", "yesterday"],
      ["rotateBefore", "1e999"],
    ] as const) {
      const before = await connection.client.hget(name("facts"), field);
      await connection.client.hset(name("facts"), field, value);
      await expect(store.read(undefined)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      if (before === null) await connection.client.hdel(name("facts"), field);
      else await connection.client.hset(name("facts"), field, before);
    }
    expect(await contents()).toMatchObject({ keys: [{ kid: entry("a").kid }] });
  });

  test("under kids that are none hurts neither members nor operators", async () => {
    for (const kid of ["", "short", `${"A".repeat(21)}"`, "__proto__"]) {
      await connection.client.hset(name("keys"), kid, '{"v":1}');
    }
    const ring = await openKeyRing({ connection });
    onTestFinished(() => ring.close());
    expect(ring.sealing().kid).toHaveLength(22);
    const listed = await openKeyRingAdmin({ connection }).list();
    expect(listed.filter(({ status }) => status === "unreadable")).toHaveLength(4);
  });

  test("does not make a tombstone without an end one that has ended", async () => {
    await store.revoke([entry("a")]);
    await connection.client.zrem(name("ends"), entry("a").kid);
    expect((await contents())?.tombstones).toEqual([
      { ...entry("a"), endsAtMs: Number.MAX_SAFE_INTEGER },
    ]);
    expect(await store.publish([entry("a")])).toEqual([entry("a").kid]);
  });
});

describe("A key that someone put back beside its tombstone", () => {
  test("is removed by the next member that revokes it, and used by none", async () => {
    await store.revoke([entry("a")]);
    await connection.client.hset(name("keys"), entry("a").kid, "a");
    await store.revoke([entry("a")]);
    expect(await connection.client.hexists(name("keys"), entry("a").kid)).toBe(0);
  });
});

describe("A Redis that refuses writes", () => {
  test("because it is full refuses a publication whole, and still takes a revocation", async () => {
    await store.publish([entry("a")]);
    const before = await contents();
    await connection.client.config("SET", "maxmemory", "1mb");
    onTestFinished(async () => {
      await connection.client.config("SET", "maxmemory", "200mb");
    });
    await expect(store.publish([entry("b"), entry("c")])).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    expect(await contents()).toEqual(before);
    await store.revoke([entry("a")]);
    expect(await contents()).toMatchObject({ keys: [], tombstones: [{ kid: entry("a").kid }] });
  });

  test("because it is a replica is no ring to join", async () => {
    const replica = await startRedis({
      config: [`replicaof 127.0.0.1 1`, "min-replicas-to-write 0"],
    });
    onTestFinished(() => replica.stop());
    const other = await connectRedis({ url: replica.url, commandTimeoutMs: 500 }).catch(
      (error: unknown) => error as { code: string },
    );
    if ("client" in other) {
      onTestFinished(() => other.close());
      await expect(openKeyRing({ connection: other })).rejects.toMatchObject({
        code: "REQUEST_STATE_UNAVAILABLE",
      });
    } else expect(other.code).toBe("STORE_UNAVAILABLE");
  });
});

describe("A failover to a replica that lacked the last change", () => {
  test("never gives the lost change's version to the next one", async () => {
    await store.publish([entry("a")]);
    const saved = await Promise.all(
      ["keys", "ends", "facts"].map(async (noun) => {
        const key = name(noun);
        return { key, dump: await connection.client.dumpBuffer(key) };
      }),
    );
    await store.publish([entry("b")]);
    const lost = await contents();
    for (const { key, dump } of saved) {
      if (dump !== null) await connection.client.restore(key, DAY, dump, "REPLACE");
    }
    expect((await contents())?.keys).toEqual(
      [entry("a")].map((one) => expect.objectContaining({ kid: one.kid })),
    );
    await store.revoke([entry("a")]);
    const reading = await store.read(lost?.version);
    expect(reading.contents?.tombstones).toHaveLength(1);
  });
});

describe("A large ring", () => {
  test("of 2,000 keys is published at once, read whole, and costs nothing while it is unchanged", async () => {
    const keys = Array.from({ length: 2000 }, (_, index) => ({
      ...entry("a", "x".repeat(400)),
      kid: String(index).padStart(22, "0"),
    }));
    await store.publish(keys);
    const ring = await contents();
    expect(ring?.keys).toHaveLength(2000);
    expect(await store.read(ring?.version)).toEqual({
      nowMs: expect.any(Number),
      contents: undefined,
    });
  });
});
