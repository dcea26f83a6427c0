/**
 * Faults of other Redis topologies: a Sentinel failover, and slots of a Cluster that move under load.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import type { RedisServer } from "../../support/redisServer.ts";
import { startRedisCluster, startRedisSentinels } from "../../support/redisTopologies.ts";
import type { Draw } from "../draw.ts";
import type { Fault, Struck } from "../fault.ts";
import type { OtherRedis, Pool } from "../world/pool.ts";
import { onPool } from "./onPool.ts";

type Address = { readonly host: string; readonly port: number };

const host = "127.0.0.1";
const lookAgainMs = 100;
/** A Sentinel on a machine that is out of breath stands back for half a minute (TILT). */
const failoverPatienceMs = 120_000;
/** A replica that is further behind is no heir. */
const mostReplicaLagMs = 5_000;
const mostSlots = 12;
const migrateTimeoutMs = 5_000;

const listed = (addresses: readonly Address[]): string =>
  addresses.map((each) => `${each.host}:${each.port}`).join(",");

async function sentinels(): Promise<OtherRedis> {
  const { name, addresses, master, replica, stop } = await startRedisSentinels();
  return {
    settings: {
      REPRISE_REDIS_SENTINELS: listed(addresses),
      REPRISE_REDIS_SENTINEL_NAME: name,
    },
    address: { sentinel: { name, nodes: addresses } },
    servers: [master, replica],
    stop,
  };
}

async function redisCluster(): Promise<OtherRedis> {
  const { addresses, nodes, stop } = await startRedisCluster();
  return {
    settings: { REPRISE_REDIS_CLUSTER: listed(addresses) },
    address: { cluster: { nodes: addresses } },
    servers: nodes,
    stop,
  };
}

/** The master dies; it comes back when it has been replaced, and is whole when it follows its successor. */
async function failOver({ otherServers }: Pool, draw: Draw): Promise<Struck> {
  const roles = await Promise.all(otherServers.map(roleOf));
  const [master, heir] = [
    otherServers[roles.indexOf("master")],
    otherServers[roles.indexOf("slave")],
  ];
  if (master === undefined || heir === undefined) throw new Error(`roles are ${roles.join(", ")}`);
  const since = performance.now();
  await master.kill();
  await until(async () => (await roleOf(heir)) === "master");
  const tookMs = Math.round(performance.now() - since);
  await pause(draw.between(500, 2_000));
  await master.restart();
  // As an operator starts it; Sentinels would find out by themselves, after a while in which it answers as a master.
  await withClient(master.port, (client) => client.call("REPLICAOF", host, heir.port));
  await until(async () => /master_link_status:up/.test(await replicationOf(master)));
  // Replication is asynchronous: what the master acknowledged last may not have reached the replica.
  const forgotten = { fromMs: since - mostReplicaLagMs, untilMs: performance.now() };
  return { what: `failover took ${tookMs} ms`, forgotten };
}

async function roleOf(server: RedisServer): Promise<string> {
  return /^role:(\w+)/m.exec(await replicationOf(server))?.[1] ?? "";
}

function replicationOf({ port }: RedisServer): Promise<string> {
  return withClient(port, (client) => client.info("replication"));
}

/** Some slots that hold keys move from one master to the next, key by key, as `redis-cli --cluster reshard` does it. */
async function moveSlots({ otherServers }: Pool, draw: Draw): Promise<string> {
  const place = draw.between(0, otherServers.length - 1);
  const [from, to] = [otherServers[place], otherServers[(place + 1) % otherServers.length]];
  if (from === undefined || to === undefined) throw new Error("the Cluster has no nodes");
  const slots = (await usedSlots(from)).toSorted(() => draw.next() - 0.5).slice(0, mostSlots);
  let keys = 0;
  for (const slot of slots) {
    keys += await moveSlot(slot, from, to, otherServers);
    await pause(draw.between(20, 200));
  }
  return `${slots.length} slots with ${keys} keys moved`;
}

async function moveSlot(
  slot: number,
  from: RedisServer,
  to: RedisServer,
  all: readonly RedisServer[],
): Promise<number> {
  const [fromId, toId] = await Promise.all([from, to].map(idOf));
  await withClient(to.port, (client) =>
    client.call("CLUSTER", "SETSLOT", slot, "IMPORTING", String(fromId)),
  );
  return withClient(from.port, async (client) => {
    await client.call("CLUSTER", "SETSLOT", slot, "MIGRATING", String(toId));
    let moved = 0;
    for (;;) {
      const keys = (await client.call("CLUSTER", "GETKEYSINSLOT", slot, 20)) as readonly string[];
      if (keys.length === 0) break;
      await client.call("MIGRATE", host, to.port, "", 0, migrateTimeoutMs, "KEYS", ...keys);
      moved += keys.length;
    }
    // The new owner first: between the two nobody may think that the old one still has it.
    for (const { port } of [to, ...all.filter((each) => each !== to)]) {
      await withClient(port, (each) => each.call("CLUSTER", "SETSLOT", slot, "NODE", String(toId)));
    }
    return moved;
  });
}

/** Slots with keys, of those that a node owns. */
async function usedSlots({ port }: RedisServer): Promise<readonly number[]> {
  return withClient(port, async (client) => {
    const keys = await client.keys("*");
    const slots = await Promise.all(keys.map((key) => client.call("CLUSTER", "KEYSLOT", key)));
    return [...new Set(slots.map(Number))];
  });
}

async function idOf({ port }: RedisServer): Promise<unknown> {
  return withClient(port, (client) => client.call("CLUSTER", "MYID"));
}

async function withClient<Value>(
  port: number,
  work: (client: Redis) => Promise<Value>,
): Promise<Value> {
  const client = new Redis(port, host);
  client.on("error", () => undefined);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** Nobody tells when servers have found each other. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + failoverPatienceMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error("the failover did not end");
    await pause(lookAgainMs);
  }
}

/** In the order of docs/reliability.md. */
export const topologyFaults: readonly Fault[] = [
  onPool({
    name: "sentinel-failover",
    about:
      "SIGKILL of a Sentinel-watched master; its replica is promoted, and it comes back as a replica",
    plan: { otherRedis: sentinels },
    hurtsStore: true,
    strike: failOver,
  }),
  onPool({
    name: "cluster-migration",
    about: "slots of a Cluster of three masters move from node to node, with MIGRATE",
    plan: { otherRedis: redisCluster },
    hurtsStore: true,
    strike: moveSlots,
  }),
];
