/**
 * Shared records when something goes wrong between a store and its Redis: lost replies, lost connections, lost data, no room.
 */
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connectRedis, type RedisConnection, type RedisStore } from "@reprise/store-redis";
import { describe, onTestFinished, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { createRun } from "./support/inputs.ts";
import { lossyWay } from "./support/lossyWay.ts";
import { freshNamespace, openStore } from "./support/stores.ts";

const session = { kind: "session", id: "a" };
const stream = { kind: "stream", id: "a" };
const late = (): number => Date.now() + 3_600_000;

async function server(): Promise<RedisServer> {
  const started = await startRedis();
  onTestFinished(() => started.stop());
  return started;
}

async function connected(url: string): Promise<RedisConnection> {
  const connection = await connectRedis({ url });
  onTestFinished(() => connection.close());
  return connection;
}

async function storeOn(url: string, namespace: string = freshNamespace()): Promise<RedisStore> {
  return openStore({ connection: await connected(url), namespace });
}

/** Publishes until the listening client is back and somebody hears: nobody tells when that is. */
async function publishUntilHeard(store: RedisStore, heard: readonly string[]): Promise<void> {
  const before = heard.length;
  while (heard.length === before) {
    await store.shared.publish("changes", "again");
    await nextTurn();
  }
}

describe("a lost reply", () => {
  test("to a put, a removal and an append is asked for again, and each counts once", async () => {
    const redis = await server();
    const way = await lossyWay(redis.socket);
    const { shared } = await storeOn(way.url);
    way.loseReplyTo("value-1");
    const first = await shared.put(session, "value-1", undefined, late());
    assert.ok(first);
    way.loseReplyTo("value-2");
    const second = await shared.put(session, "value-2", first, late());
    assert.deepEqual(await shared.get(session), { value: "value-2", revision: second });
    way.loseReplyTo(second ?? "");
    assert.equal(await shared.remove(session, second ?? ""), true);
    assert.equal(await shared.get(session), undefined);
    way.loseReplyTo("item-2");
    assert.equal(
      await shared.append(stream, ["item-1", "item-2"], { expiresAt: late(), keep: 9 }),
      2,
    );
    assert.equal((await shared.read(stream, 0, 9)).last, 2);
    assert.equal(way.lost(), 4);
  });

  test("to a put is taken for written also after others have written over it", async () => {
    const redis = await server();
    const way = await lossyWay(redis.socket);
    const namespace = freshNamespace();
    const { shared } = await storeOn(way.url, namespace);
    const other = await storeOn(redis.url, namespace);
    way.loseReplyTo("mine");
    const putting = shared.put(session, "mine", undefined, late());
    let stands = await other.shared.get(session);
    while (stands === undefined) stands = await other.shared.get(session);
    let revision: string | undefined = stands.revision;
    for (let write = 0; write < 5; write += 1) {
      revision = await other.shared.put(session, `theirs-${write}`, revision, late());
    }
    assert.equal(await putting, stands.revision);
    assert.deepEqual(await shared.get(session), { value: "theirs-4", revision });
  });

  test("to many appends at once leaves each item there once, in order", async () => {
    const redis = await server();
    const way = await lossyWay(redis.socket);
    const { shared } = await storeOn(way.url);
    await shared.append(stream, ["0"], { expiresAt: late(), keep: 99 });
    way.loseReplyTo("seventh");
    const texts = ["1", "2", "3", "4", "5", "6", "seventh", "8", "9", "10"];
    const numbers = await Promise.all(
      texts.map((text) => shared.append(stream, [text], { expiresAt: late(), keep: 99 })),
    );
    assert.deepEqual(numbers, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const { items } = await shared.read(stream, 1, 99);
    assert.deepEqual(
      items.map(({ text }) => text),
      texts,
    );
    assert.equal(way.lost(), 1);
  });
});

describe("a lost connection", () => {
  test("of the listening client is made again, and listening goes on", async () => {
    const redis = await server();
    const store = await storeOn(redis.url);
    const heard: string[] = [];
    await store.shared.listen("changes", (notice) => heard.push(notice));
    const other = await storeOn(redis.url);
    await other.shared.listen("changes", () => assert.fail("of another namespace"));
    const { client } = await connected(redis.url);
    for (let time = 0; time < 3; time += 1) {
      assert.ok(Number(await client.call("CLIENT", "KILL", "TYPE", "pubsub")) > 0);
      await publishUntilHeard(store, heard);
    }
    // Its own news comes over the same client: a stop is heard at once, as before.
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
  });

  test("leaves listeners that ended meanwhile ended", async () => {
    const redis = await server();
    const store = await storeOn(redis.url);
    const heard: string[] = [];
    const end = await store.shared.listen("ended", () => assert.fail("it has ended"));
    await store.shared.listen("changes", (notice) => heard.push(notice));
    const { client } = await connected(redis.url);
    await client.call("CLIENT", "KILL", "TYPE", "pubsub");
    end();
    await publishUntilHeard(store, heard);
    await store.shared.publish("ended", "a");
    await publishUntilHeard(store, heard);
    const channels = (await client.call("PUBSUB", "CHANNELS", "*:notices:*")) as readonly string[];
    assert.equal(channels.length, 1);
  });

  test("for good makes listening fail in time, and leaves nothing of it", async () => {
    const redis = await server();
    const connection = await connected(redis.url);
    const timers = new Set<() => void>();
    const clock = {
      monotonicNow: () => 0,
      setTimer: (_delayMs: number, run: () => void) => {
        timers.add(run);
        return () => timers.delete(run);
      },
    };
    const store = await openStore({ connection, namespace: freshNamespace(), clock });
    await redis.stop();
    const listening = store.shared.listen("changes", () => undefined);
    await nextTurn();
    for (const run of [...timers]) run();
    await assert.rejects(listening, { code: "STORE_UNAVAILABLE" });
    assert.equal(timers.size, 0);
  });
});

describe("a Redis that forgets", () => {
  test("everything never takes a write that was decided on what it had", async () => {
    const redis = await server();
    const { client } = await connected(redis.url);
    const { shared } = await storeOn(redis.url);
    const gone = await shared.put(session, 1, undefined, late());
    await client.flushall();
    assert.equal(await shared.put(session, 2, gone, late()), undefined);
    const made = await shared.put(session, 3, undefined, late());
    assert.equal(await shared.put(session, 2, gone, late()), undefined);
    assert.equal(await shared.remove(session, gone ?? ""), false);
    assert.deepEqual(await shared.get(session), { value: 3, revision: made });
  });

  test("for want of memory is STORE_FULL, with new records refused before changes of those that exist", async () => {
    const redis = await server();
    const { client } = await connected(redis.url);
    const store = await storeOn(redis.url);
    const made = await store.shared.put(session, "small", undefined, late());
    const used = /used_memory:(\d+)/.exec(await client.info("memory"))?.[1];
    await client.config("SET", "maxmemory", String(Math.floor(Number(used) * 1.05)));
    assert.equal((await store.health()).ok, false);
    const another = store.shared.put({ kind: "session", id: "b" }, "new", undefined, late());
    await assert.rejects(another, { code: "STORE_FULL" });
    assert.ok(await store.shared.put(session, "changed", made, late()));
    await client.config("SET", "maxmemory", "1");
    const full = { code: "STORE_FULL" };
    await assert.rejects(store.shared.append(stream, ["a"], { expiresAt: late(), keep: 1 }), full);
    assert.equal((await store.shared.get(session))?.value, "changed");
  });
});
