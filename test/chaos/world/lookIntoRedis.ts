/**
 * The stuck-run detector's eyes in a Redis, whatever its topology.
 */
import { connectRedis, openRedisStore, type RedisConnection } from "@reprise/store-redis";
import { Cluster } from "ioredis";
import type { LookedAtStore } from "../judge/stuckRuns.ts";

/** Opens the run store beside the processes that are judged. */
export async function lookIntoRedis(
  address: Parameters<typeof connectRedis>[0],
  leaseMs: number,
): Promise<LookedAtStore> {
  const connection = await connectRedis(address);
  const store = await openRedisStore({ connection, leaseMs });
  return {
    store,
    list: () => runIdsIn(connection),
    async close() {
      await store.close();
      await connection.close();
    },
  };
}

async function runIdsIn({ client }: RedisConnection): Promise<readonly string[]> {
  const servers = client instanceof Cluster ? client.nodes("master") : [client];
  const names = await Promise.all(servers.map((server) => server.keys("reprise1:*:run:*")));
  return names.flat().map((name) => name.slice(name.indexOf("}:run:") + "}:run:".length));
}
