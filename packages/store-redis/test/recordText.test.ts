/**
 * Records under `recordEncryptionKey`: the store keeps all its promises, and nothing that author, caller or client wrote can be
 * read in Redis.
 */
import assert from "node:assert/strict";
import { connectRedis, openRedisStore, type RedisConnection } from "@reprise/store-redis";
import { historySuite, sharedSuite, storeSuite } from "@reprise/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { createRun, progress, stepDone } from "./support/inputs.ts";
import {
  freshNamespace,
  historyHarness,
  openStore,
  sharedHarness,
  suiteHarness,
} from "./support/stores.ts";

const secret = "a secret of the tests, 32 bytes long";
const another = "another secret of the tests, as long";

let server: RedisServer;
let connection: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

describe("the store conformance suite on encrypted records", () => {
  for (const { title, run } of storeSuite) {
    test(title, () => run(suiteHarness(connection, { recordEncryptionKey: secret }).harness));
  }
});

describe("the suite of shared records on encrypted ones", () => {
  for (const { title, run } of sharedSuite) {
    test(title, () => run(sharedHarness(connection, { recordEncryptionKey: secret }).harness));
  }
});

describe("the history suite on encrypted rows", () => {
  for (const { title, run } of historySuite) {
    test(title, () => run(historyHarness(connection, { recordEncryptionKey: secret })));
  }
});

/** Everything that stands under a namespace, as text. */
async function contents(namespace: string): Promise<string> {
  const { client } = connection;
  const texts: string[] = [];
  for (const key of await client.keys(`*${namespace}*`)) {
    const type = await client.type(key);
    if (type === "hash") texts.push(JSON.stringify(await client.hgetall(key)));
    else if (type === "list") texts.push(JSON.stringify(await client.lrange(key, 0, -1)));
    else if (type === "string") texts.push((await client.get(key)) ?? "");
    else if (type === "zset") texts.push(JSON.stringify(await client.zrange(key, "0", "-1")));
    else texts.push(JSON.stringify(await client.smembers(key)));
  }
  return texts.join("\n");
}

/** A run whose step gave the marker. */
async function recordMarker(namespace: string, recordEncryptionKey?: string): Promise<void> {
  const key = recordEncryptionKey === undefined ? {} : { recordEncryptionKey };
  const store = await openStore({ connection, namespace, ...key });
  const reply = await store.createRun(createRun("run1"));
  assert.ok(reply.tag === "OK");
  const entries = [stepDone("s", JSON.stringify("planted-marker"))];
  expect(await store.append(reply.ref, progress(2, { entries }))).toMatchObject({ tag: "OK" });
}

describe("an encrypted record", () => {
  test("shows nothing of what a step gave, where an open one does", async () => {
    const open = freshNamespace();
    await recordMarker(open);
    expect(await contents(open)).toContain("planted-marker");
    const wrapped = freshNamespace();
    await recordMarker(wrapped, secret);
    expect(await contents(wrapped)).not.toMatch(/planted-marker|"args|refund/);
  });

  test("is read by every process that lists its key, wherever in the list", async () => {
    const namespace = freshNamespace();
    await recordMarker(namespace, secret);
    const store = await openStore({
      connection,
      namespace,
      recordEncryptionKey: [another, secret],
    });
    expect(JSON.stringify(await store.load("run1"))).toContain("planted-marker");
  });

  test.each([
    ["another key", another],
    ["no key", undefined],
  ])("is CONFIG_INVALID for a process with %s, and stays as it is", async (_with, key) => {
    const namespace = freshNamespace();
    await recordMarker(namespace, secret);
    const before = await contents(namespace);
    const given = key === undefined ? {} : { recordEncryptionKey: key };
    const store = await openStore({ connection, namespace, ...given });
    await expect(store.load("run1")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await contents(namespace)).toBe(before);
  });

  test("that was altered is told apart from one under another key", async () => {
    const namespace = freshNamespace();
    await recordMarker(namespace, secret);
    const { client } = connection;
    const [key = ""] = await client.keys(`*${namespace}*journal*`);
    const [entry = ""] = await client.lrange(key, 0, 0);
    const end = entry.endsWith("A") ? "Q" : "A";
    await client.lset(key, 0, `${entry.slice(0, -1)}${end}`);
    const store = await openStore({ connection, namespace, recordEncryptionKey: secret });
    await expect(store.load("run1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("follows an open one: what was written before the key came goes on", async () => {
    const namespace = freshNamespace();
    await recordMarker(namespace);
    const store = await openStore({ connection, namespace, recordEncryptionKey: secret });
    const run = await store.load("run1");
    expect(run?.entries).toHaveLength(1);
  });

  test("that is shared shows nothing of values and items, and open ones are read on", async () => {
    const namespace = freshNamespace();
    const session = { kind: "session", id: "a" };
    const limits = { expiresAt: Date.now() + 60_000, keep: 9 };
    const open = await openStore({ connection, namespace });
    const before = await open.shared.put(session, "eyJ-marker", undefined, limits.expiresAt);
    await open.shared.append(session, ["eyJ-marker"], limits);
    expect(await contents(namespace)).toContain("eyJ-marker");
    const store = await openStore({ connection, namespace, recordEncryptionKey: secret });
    expect((await store.shared.get(session))?.value).toBe("eyJ-marker");
    await store.shared.append(session, ["second-marker"], { ...limits, keep: 2 });
    expect((await store.shared.read(session, 0, 9)).items).toHaveLength(2);
    await store.shared.append(session, ["third-marker"], { ...limits, keep: 1 });
    const after = await store.shared.put(session, "fourth-marker", before, limits.expiresAt);
    expect(after).toBeDefined();
    expect(await contents(namespace)).not.toContain("marker");
    await expect(open.shared.get(session)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("needs a key of 32 bytes", async () => {
    await expect(
      openRedisStore({ connection, recordEncryptionKey: "short" }),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});
