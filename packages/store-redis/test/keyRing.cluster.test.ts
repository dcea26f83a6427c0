/**
 * The key ring on a Redis Cluster: all its keys lie in one slot, and notices come over a node of it. One master is enough
 * to tell: it owns all slots, and refuses a script whose keys lie in two.
 */
import { connectRedis, createRedisKeyRingStore, openKeyRing } from "@reprise/store-redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { testKeyRingStore } from "../../../test/support/keyRingStoreSuite.ts";
import { freePort, type RedisServer, startRedis } from "../../../test/support/redisServer.ts";

let server: RedisServer;
beforeAll(async () => {
  // The bus has a port of its own: the usual one, 10,000 above, may lie beyond the last port.
  const bus = `cluster-port ${await freePort()}`;
  const config = ["cluster-enabled yes", "cluster-announce-ip 127.0.0.1", bus];
  server = await startRedis({ port: 0, config });
  const { client, close } = await connectRedis({ url: server.url });
  await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok")) {
    await client.ping();
  }
  await close();
});
afterAll(() => server.stop());

const connect = (): ReturnType<typeof connectRedis> =>
  connectRedis({ cluster: { nodes: [{ host: "127.0.0.1", port: server.port }] } });

testKeyRingStore("a Redis Cluster", async () => {
  const connections = [await connect(), await connect()] as const;
  const [one, other] = connections;
  await one.client.flushall();
  return {
    stores: [createRedisKeyRingStore(one, "suite"), createRedisKeyRingStore(other, "suite")],
    close: async () => {
      for (const connection of connections) await connection.close();
    },
  };
});

test("Two instances on a Cluster hold each other's keys", async () => {
  const [one, other] = [await connect(), await connect()];
  const rings = [await openKeyRing({ connection: one }), await openKeyRing({ connection: other })];
  onTestFinished(async () => {
    for (const ring of rings) await ring.close();
    for (const connection of [one, other]) await connection.close();
  });
  const [first, second] = rings;
  const kid = second?.sealing().kid ?? "";
  expect(await first?.find(kid)).toMatchObject({ kid });
});
