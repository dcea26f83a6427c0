/**
 * What goes wrong between a store and its Redis: lost replies, lost scripts, lost data, refusals; and crowds.
 */
import assert from "node:assert/strict";
import { isRepriseError } from "@reprise/errors";
import { connectRedis, type RedisConnection, type RedisStore } from "@reprise/store-redis";
import { describe, onTestFinished, test } from "vitest";
import {
  type RedisServer,
  type RedisServerOptions,
  startRedis,
} from "../../../test/support/redisServer.ts";
import { claimFirst, createRun, progress, stepDone } from "./support/inputs.ts";
import { lossyWay } from "./support/lossyWay.ts";
import { freshNamespace, openStore } from "./support/stores.ts";

async function server(options: RedisServerOptions = {}): Promise<RedisServer> {
  const started = await startRedis(options);
  onTestFinished(() => started.stop());
  return started;
}

async function connected(url: string, commandTimeoutMs = 5_000): Promise<RedisConnection> {
  const connection = await connectRedis({ url, commandTimeoutMs });
  onTestFinished(() => connection.close());
  return connection;
}

async function storeOn(url: string, commandTimeoutMs?: number): Promise<RedisStore> {
  const connection = await connected(url, commandTimeoutMs);
  return openStore({ connection, namespace: freshNamespace() });
}

function firstCall(waiterId: string, over: { readonly token?: string } = {}) {
  return claimFirst({
    version: "1",
    token: over.token ?? `token-${waiterId}`,
    stateExpiresAt: 1,
    scope: "scope",
    perCaller: true,
    argsDigest: "a",
    principal: "alice",
    idSuffix: `x${waiterId}`,
    waiterId,
  });
}

/** Lets the event loop turn, so that what follows meets what others do at another moment. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

describe("a lost reply", () => {
  test("to progress is asked for again by itself, and the entry is there once", async () => {
    const redis = await server();
    const way = await lossyWay(redis.socket);
    const store = await storeOn(way.url);
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    way.loseReplyTo("first-entry");
    const step = progress(2, { entries: [stepDone("first-entry")], stepStarts: true });
    assert.deepEqual(await store.append(created.ref, step), { tag: "OK", stopping: false });
    const next = progress(3, { entries: [stepDone("second")] });
    assert.deepEqual(await store.append(created.ref, next), { tag: "OK", stopping: false });
    const names = (await store.load("run1"))?.entries.map((entry) => "name" in entry && entry.name);
    assert.deepEqual(names, ["first-entry", "second"]);
    assert.equal(way.lost(), 1);
  });

  test("to a creation, a first call and an end gives what the first sending was given", async () => {
    const redis = await server();
    const way = await lossyWay(redis.socket);
    const store = await storeOn(way.url);
    way.loseReplyTo("token-run1");
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    way.loseReplyTo("token-w1");
    const claimed = await store.claimFirst(firstCall("w1"));
    assert.ok(claimed.tag === "CLAIMED");
    assert.equal(claimed.ref.epoch, 1);
    assert.equal(claimed.takeover, false);
    way.loseReplyTo("the result");
    const end = {
      to: "completed",
      response: { kind: "complete", result: { text: "the result" } },
      state: {},
      keyFree: false,
    } as const;
    assert.equal((await store.endRound(claimed.ref, progress(1), end)).tag, "OK");
    const again = await store.claimFirst(firstCall("w2"));
    assert.ok(again.tag === "RECORDED");
    assert.equal(again.head.status, "completed");
    assert.equal(way.lost(), 3);
  });
});

describe("a Redis that forgets", () => {
  test("its scripts is sent them again", async () => {
    const { url } = await server();
    const store = await storeOn(url);
    const { client } = await connected(url);
    await store.createRun(createRun("run1"));
    await client.script("FLUSH");
    assert.equal((await store.createRun(createRun("run2"))).tag, "OK");
  });

  test("everything makes attempts lose their lease and known runs LOST, and takes new ones", async () => {
    const { url } = await server();
    const store = await storeOn(url);
    const { client } = await connected(url);
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    await client.flushall();
    assert.deepEqual(await store.append(created.ref, progress(2)), { tag: "LEASE_LOST" });
    assert.deepEqual(await store.renew(created.ref), { tag: "LEASE_LOST" });
    const known = { version: "1", token: "t", stateExpiresAt: 1, runId: "run1", waiterId: "w" };
    assert.deepEqual(await store.claimKnown(known), { tag: "LOST", reason: "missing" });
    assert.equal((await store.createRun(createRun("run2"))).tag, "OK");
  });

  test("the run but not its key never has the call executed anew", async () => {
    const { url } = await server();
    const store = await storeOn(url);
    const { client } = await connected(url);
    const claimed = await store.claimFirst(firstCall("w1"));
    assert.ok(claimed.tag === "CLAIMED");
    const [run] = await client.keys(`*:run:${claimed.ref.runId}`);
    await client.del(run ?? "");
    assert.deepEqual(await store.claimFirst(firstCall("w2")), { tag: "LOST", reason: "missing" });
  });
});

describe("a Redis that refuses", () => {
  test("for want of memory is STORE_FULL, and health is red before that", async () => {
    const { url } = await server();
    const store = await storeOn(url);
    const { client } = await connected(url);
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    const used = Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
    await client.config("SET", "maxmemory", Math.ceil(used * 1.05));
    const red = await store.health();
    assert.equal(red.ok, false);
    assert.match(red.reason ?? "", /CONFIG SET maxmemory/);
    await assert.rejects(store.createRun(createRun("run2")), { code: "STORE_FULL" });
    // The rest is for runs that exist.
    assert.equal((await store.append(created.ref, progress(2))).tag, "OK");
    await client.config("SET", "maxmemory", 1);
    await assert.rejects(store.append(created.ref, progress(3)), { code: "STORE_FULL" });
    await client.config("SET", "maxmemory", 0);
    assert.equal((await store.append(created.ref, progress(3))).tag, "OK");
    assert.equal((await store.health()).ok, true);
  });

  test("as a replica is STORE_UNAVAILABLE in plain words, and taken again once it leads", async () => {
    const { url } = await server({ port: 0 });
    const store = await storeOn(url);
    const { client } = await connected(url);
    await client.replicaof("127.0.0.1", 1);
    await assert.rejects(store.createRun(createRun("run1")), (failure: unknown) => {
      assert.ok(isRepriseError(failure, "STORE_UNAVAILABLE"));
      assert.match(failure.message, /replica/);
      return true;
    });
    await client.replicaof("NO", "ONE");
    assert.equal((await store.createRun(createRun("run1"))).tag, "OK");
  });

  test("by silence fails in time, and its late execution harms nothing", async () => {
    const redis = await server();
    const store = await storeOn(redis.url, 300);
    const created = await store.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    process.kill(redis.pid(), "SIGSTOP");
    const step = progress(2, { entries: [stepDone("late")], stepStarts: true });
    await assert.rejects(store.append(created.ref, step), { code: "STORE_UNAVAILABLE" });
    process.kill(redis.pid(), "SIGCONT");
    assert.deepEqual(await store.append(created.ref, step), { tag: "OK", stopping: false });
    assert.equal((await store.load("run1"))?.entries.length, 1);
  });
});

describe("a crowd", () => {
  test("of 50 first calls through two processes makes one run, and all wait for it", async () => {
    const { url } = await server();
    const connection = await connected(url);
    const namespace = freshNamespace();
    const stores = [
      await openStore({ connection, namespace }),
      await openStore({ connection: await connected(url), namespace }),
    ] as const;
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        stores[index % 2 === 0 ? 0 : 1].claimFirst(firstCall(`w${index}`)),
      ),
    );
    const owners = replies.filter((reply) => reply.tag === "CLAIMED");
    assert.equal(owners.length, 1);
    assert.equal(replies.filter((reply) => reply.tag === "RUNNING" && reply.joined).length, 49);
    const { ref } = owners[0] ?? assert.fail();
    assert.equal((await stores[0].load(ref.runId))?.head.waiters.length, 50);
    // Leaving of all but one in parallel stops nothing, the last one does.
    const leaving = await Promise.all(
      Array.from({ length: 49 }, (_, index) => stores[1].leave(ref.runId, 1, `w${index}`)),
    );
    assert.ok(leaving.every(({ stopping }) => !stopping));
    assert.deepEqual(await stores[1].leave(ref.runId, 1, "w49"), { stopping: true });
  });

  test("of joins and leaves never makes the attempt's own progress conflict", async () => {
    const { url } = await server();
    const connection = await connected(url);
    const namespace = freshNamespace();
    const owner = await openStore({ connection, namespace });
    const other = await openStore({ connection: await connected(url), namespace });
    const created = await owner.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    const known = { version: "1", stateExpiresAt: 1, runId: "run1" };
    const crowd = Array.from({ length: 40 }, async (_, index) => {
      const waiterId = `w${index}`;
      const join = await other.claimKnown({ ...known, token: waiterId, waiterId });
      assert.equal(join.tag, "RUNNING");
      await other.leave("run1", 1, waiterId);
    });
    const own = (async () => {
      for (let sequence = 2; sequence < 42; sequence += 1) {
        const step = progress(sequence, { entries: [stepDone(`s${sequence}`)] });
        assert.equal((await owner.append(created.ref, step)).tag, "OK");
        if (sequence % 10 === 0) assert.equal((await owner.renew(created.ref)).tag, "OK");
      }
    })();
    await Promise.all([...crowd, own]);
    const record = await owner.load("run1");
    assert.equal(record?.entries.length, 40);
    assert.deepEqual(
      record?.head.waiters.map(({ id }) => id),
      ["creator"],
    );
  });
});

describe("a leave from a queued attempt", () => {
  test("that meets a worker and a second request says stopping only where it stops", async () => {
    const { url } = await server();
    const namespace = freshNamespace();
    const open = async () => openStore({ connection: await connected(url), namespace });
    const [leaving, working, coming] = [await open(), await open(), await open()];
    for (let index = 0; index < 180; index += 1) {
      const call = (waiterId: string) => ({
        ...firstCall(waiterId),
        scope: `scope${index}`,
        queue: true,
      });
      const queued = await leaving.claimFirst(call(`a${index}`));
      assert.ok(queued.tag === "QUEUED");
      const { runId, epoch } = queued;
      const work = { runId, epoch, version: "1", token: `work${index}`, stateExpiresAt: 1 };
      // The three meet at other moments each time.
      const [, second, left] = await Promise.all([
        turns(index % 3).then(() => working.claimQueued(work)),
        turns(index % 12).then(() => coming.claimFirst(call(`b${index}`))),
        turns(index % 5).then(() => leaving.leave(runId, epoch, `a${index}`)),
      ]);
      const head = (await leaving.load(runId))?.head;
      const ended = second.tag === "QUEUED" && second.epoch > epoch;
      const stops = ended || head?.status === "interrupted" || head?.stopping === true;
      assert.equal(left.stopping, stops);
    }
  });
});

describe("a stop by another process", () => {
  test("is told to the attempt's process at once, and an end to whoever watches", async () => {
    const { url } = await server();
    const connection = await connected(url);
    const namespace = freshNamespace();
    const owner = await openStore({ connection, namespace });
    const other = await openStore({ connection: await connected(url), namespace });
    const created = await owner.createRun(createRun("run1"));
    assert.ok(created.tag === "OK");
    const heard = new Promise((resolve) => owner.onStopping("run1", 1, resolve));
    assert.deepEqual(await other.leave("run1", 1, "creator"), { stopping: true });
    assert.equal(await heard, "left");
    assert.deepEqual(await owner.renew(created.ref), { tag: "OK", stopping: true });
    const again = new Promise((resolve) => owner.onStopping("run1", 1, resolve));
    const wanted = { runId: "run1", principal: undefined, reason: undefined };
    assert.equal((await other.cancel(wanted)).tag, "CANCELLED");
    assert.equal(await again, "cancelled");
    assert.deepEqual(await owner.renew(created.ref), { tag: "CANCELLED" });
  });
});
