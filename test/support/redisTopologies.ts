/**
 * A Redis Cluster and a Sentinel-watched pair as private processes on loopback.
 *
 * 1. Each node is a private server (`test/support/redisServer.ts`); only its configuration makes it part of something.
 * 2. Both resolve when every node agrees on who leads.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Redis } from "ioredis";
import { type Child, startCommand } from "./childProcess.ts";
import { freePort, type RedisServer, startRedis } from "./redisServer.ts";

/** Three masters. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  stop(): Promise<void>;
}

/** A master, its replica, and the Sentinels that choose between them. */
export interface RedisSentinels {
  readonly name: string;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly master: RedisServer;
  readonly replica: RedisServer;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const host = "127.0.0.1";

/** Starts a Cluster of three masters without replicas. */
export async function startRedisCluster(): Promise<RedisCluster> {
  // The Cluster's own bus is 10,000 above the port by default, where no port need be.
  const buses = await Promise.all([0, 1, 2].map(() => freePort()));
  const nodes = await Promise.all(buses.map((bus) => startClusterNode(bus)));
  const clients = nodes.map(({ port }) => new Redis(port, host));
  try {
    const share = Math.ceil(SLOTS / nodes.length);
    await Promise.all(
      clients.map((client, index) =>
        client.cluster("ADDSLOTSRANGE", index * share, Math.min(SLOTS, (index + 1) * share) - 1),
      ),
    );
    // Different epochs from the start, or the nodes quarrel about them first.
    await Promise.all(
      clients.map((client, index) => client.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1)),
    );
    const [first] = clients;
    for (const [index, { port }] of nodes.entries()) {
      await first?.call("CLUSTER", "MEET", host, port, buses[index] ?? 0);
    }
    await Promise.all(
      clients.map((client) =>
        until(async () => {
          const info = String(await client.call("CLUSTER", "INFO"));
          return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
        }),
      ),
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    nodes,
    addresses: nodes.map(({ port }) => ({ host, port })),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

/** Starts a master with one replica, and three Sentinels that promote it when the master is gone for a second. */
export async function startRedisSentinels(): Promise<RedisSentinels> {
  const name = "reprise";
  const master = await startRedis({ port: 0, appendonly: true });
  const replica = await startRedis({
    port: 0,
    appendonly: true,
    config: [`replicaof ${host} ${master.port}`],
  });
  const follower = new Redis(replica.port, host);
  await until(async () => (await follower.info("replication")).includes("master_link_status:up"));
  follower.disconnect();
  const directory = await mkdtemp(path.join(tmpdir(), "reprise-sentinel-"));
  const ports = await Promise.all([0, 1, 2].map(() => freePort()));
  const sentinels = await Promise.all(
    ports.map(async (port) => {
      const file = path.join(directory, `${port}.conf`);
      const lines = [
        `port ${port}`,
        `bind ${host}`,
        `dir ${directory}`,
        `sentinel monitor ${name} ${host} ${master.port} 2`,
        `sentinel down-after-milliseconds ${name} 1000`,
        `sentinel failover-timeout ${name} 3000`,
      ];
      await writeFile(file, `${lines.join("\n")}\n`);
      const child: Child = startCommand("redis-sentinel", [file], {}, directory);
      await child.line(/\+monitor master/);
      return child;
    }),
  );
  const clients = ports.map((port) => new Redis(port, host));
  try {
    await Promise.all(
      clients.map((client) =>
        until(async () => {
          const facts = (await client.call("SENTINEL", "MASTER", name)) as readonly string[];
          const fact = (key: string): string | undefined => facts[facts.indexOf(key) + 1];
          return fact("num-slaves") === "1" && fact("num-other-sentinels") === "2";
        }),
      ),
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    name,
    addresses: ports.map((port) => ({ host, port })),
    master,
    replica,
    stop: async () => {
      await Promise.all(sentinels.map((child) => child.stop("SIGKILL")));
      await Promise.all([master.stop(), replica.stop()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Resolves once `holds`; asks again every 50 ms, as nobody tells when servers have found each other. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

function startClusterNode(bus: number): Promise<RedisServer> {
  return startRedis({
    port: 0,
    config: [
      "cluster-enabled yes",
      "cluster-config-file nodes.conf",
      "cluster-node-timeout 2000",
      `cluster-port ${bus}`,
    ],
  });
}
