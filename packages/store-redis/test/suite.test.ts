/**
 * The Redis store keeps the promises of every run store, of shared records and of history, on one server.
 */
import assert from "node:assert/strict";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { historySuite, sharedSuite, storeSuite } from "@reprise/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { historyHarness, sharedHarness, suiteHarness } from "./support/stores.ts";

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

describe("the store conformance suite on Redis", () => {
  test.each(storeSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { harness, pendingTimers } = suiteHarness(connection);
    await one.run(harness);
    assert.equal(pendingTimers(), 0, "a timer was left behind");
  });
});

describe("the suite of shared records on Redis", () => {
  test.each(sharedSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { harness, pendingTimers } = sharedHarness(connection);
    await one.run(harness);
    assert.equal(pendingTimers(), 0, "a timer was left behind");
  });
});

describe("the history suite on Redis", () => {
  test.each(historySuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    await one.run(historyHarness(connection));
  });
});
