/**
 * The Redis store keeps the promises of every run store, of shared records and of history, on a Cluster of three masters.
 */
import assert from "node:assert/strict";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { historySuite, sharedSuite, storeSuite } from "@reprise/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisCluster, startRedisCluster } from "../../../test/support/redisTopologies.ts";
import { createRun } from "./support/inputs.ts";
import {
  freshNamespace,
  historyHarness,
  openStore,
  sharedHarness,
  suiteHarness,
} from "./support/stores.ts";

let cluster: RedisCluster;
let connection: RedisConnection;

beforeAll(async () => {
  cluster = await startRedisCluster();
  connection = await connectRedis({ cluster: { nodes: cluster.addresses } });
});

afterAll(async () => {
  await connection?.close();
  await cluster?.stop();
});

describe("the store conformance suite on a Redis Cluster", () => {
  test.each(storeSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    await one.run(suiteHarness(connection).harness);
  });
});

describe("the suite of shared records on a Redis Cluster", () => {
  test.each(sharedSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    await one.run(sharedHarness(connection).harness);
  });
});

describe("the history suite on a Redis Cluster", () => {
  test.each(historySuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    await one.run(historyHarness(connection));
  });
});

test("runs spread over all masters, and every node is checked", async () => {
  const store = await openStore({ connection, namespace: freshNamespace() });
  for (let index = 0; index < 64; index += 1) {
    assert.equal((await store.createRun(createRun(`spread${index}x`))).tag, "OK");
  }
  const { client } = connection;
  assert.ok("nodes" in client);
  const sizes = await Promise.all(client.nodes("master").map((node) => node.dbsize()));
  assert.equal(sizes.length, 3);
  assert.ok(sizes.every((size) => size > 0));
  assert.equal(connection.durability, "none");
});
