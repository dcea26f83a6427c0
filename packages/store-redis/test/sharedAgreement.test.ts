/**
 * Shared records in Redis and those of one process are the same: every sequence of calls, by two processes, gets the same
 * replies. Revisions are compared by which write gave them.
 */
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { afterAll, beforeAll, test } from "vitest";
import { longRun, seed } from "../../../test/support/config.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { agreeOnSharedRecords } from "../../../test/support/sharedAgreement.ts";
import { sharedHarness } from "./support/stores.ts";

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

test("shared records in Redis agree with those of one process", { timeout: 120_000 }, async () => {
  const numRuns = longRun ? 2_000 : 100;
  await agreeOnSharedRecords(() => sharedHarness(connection).harness, { numRuns, seed });
});
