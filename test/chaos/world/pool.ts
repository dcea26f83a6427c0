/**
 * The deployment that most faults are played on: Redis, nginx in turns over fronts, workers, and the outside world, which
 * nothing hits. Between any two of them stands a fault proxy where the plan says so.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { RedisConnection } from "@reprise/store-redis";
import { connectRedis } from "@reprise/store-redis";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import type { Member } from "../../support/cluster/member.ts";
import { unusedPorts } from "../../support/cluster/ports.ts";
import { type FaultProxy, startFaultProxy } from "../../support/faultProxy.ts";
import type { RedisServer } from "../../support/redisServer.ts";
import type { Stage } from "../fault.ts";
import type { Evidence } from "../judge/excuse.ts";
import type { LookedAtStore } from "../judge/stuckRuns.ts";
import type { Revision } from "../role/loadShop.ts";
import { lookIntoRedis } from "./lookIntoRedis.ts";

/** A Redis of another topology, which the pool uses in place of its own. */
export interface OtherRedis {
  readonly settings: Readonly<Record<string, string>>;
  readonly address: Parameters<typeof connectRedis>[0];
  /** Its data nodes. */
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

/** What differs from two fronts and three workers on one Redis that flushes each write. */
export interface PoolPlan {
  readonly appendfsync?: "always" | "everysec";
  readonly leaseMs?: number;
  /** A proxy of its own between each process and Redis. */
  readonly redisWays?: boolean;
  /** A proxy between clients and nginx. */
  readonly clientWay?: boolean;
  readonly otherRedis?: () => Promise<OtherRedis>;
  /** More settings of fronts and workers. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A running pool. */
export interface Pool {
  readonly cluster: Cluster;
  readonly url: string;
  readonly leaseMs: number;
  readonly fronts: readonly Member[];
  readonly workers: readonly Member[];
  /** By process. */
  readonly redisWays: readonly FaultProxy[];
  readonly clientWay: FaultProxy | undefined;
  readonly redisDirectory: string;
  /** Data nodes of another topology; none without one. */
  readonly otherServers: readonly RedisServer[];
  /** In words. */
  readonly deaths: string[];
  readonly ends: Evidence["ends"];
  readonly trailFolder: string;
  /** Which handlers processes have that start from now on. */
  deploy(revision: Revision): Promise<void>;
  /** A connection of the caller's, past all proxies. */
  connect(): Promise<RedisConnection>;
  look(): Promise<LookedAtStore>;
  close(): Promise<void>;
}

/**
 * Short, so that minutes hold many take-overs. A process that gets no processor for so long has lost its lease like one that was
 * stopped, and may double the mail that it was about to send; on a busy machine that is a matter of a second or two.
 */
const usualLeaseMs = 5_000;
const frontCount = 2;
const workerCount = 3;

/** Opens it; a failed start leaves nothing running. */
export async function openPool({ folder, roleArgs }: Stage, plan: PoolPlan = {}): Promise<Pool> {
  const { leaseMs = usualLeaseMs, appendfsync = "always" } = plan;
  const undo: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of undo.splice(0).reverse()) await each();
  };
  try {
    const other = await plan.otherRedis?.();
    if (other !== undefined) undo.push(() => other.stop());
    const [redisPort = 0] = await unusedPorts(1);
    const ways = new Map<string, FaultProxy>();
    if (plan.redisWays === true) {
      for (const name of memberNames()) {
        const way = await startFaultProxy(redisPort);
        ways.set(name, way);
        undo.push(() => way.close());
      }
    }
    const revisionFile = path.join(folder, "revision");
    const deaths: string[] = [];
    const ends: { readonly pid: number; readonly atMs: number }[] = [];
    const trailFolder = path.join(folder, "trail");
    await mkdir(trailFolder);
    let isOpen = true;
    const cluster = await startCluster({
      dataDir: folder,
      fronts: frontCount,
      workers: workerCount,
      redisPort,
      appendfsync,
      front: { args: roleArgs("front") },
      worker: { args: roleArgs("worker"), ipc: true },
      settings: {
        REPRISE_LEASE_MS: String(leaseMs),
        REPRISE_LOG_LEVEL: "error",
        REPRISE_RATE_LIMIT_PER_MINUTE: "0",
        CHAOS_REVISION_FILE: revisionFile,
        CHAOS_TRAIL: trailFolder,
        ...plan.settings,
        ...other?.settings,
      },
      settingsOf(name): Readonly<Record<string, string>> {
        const way = ways.get(name);
        return way === undefined ? {} : { REPRISE_REDIS_URL: `redis://127.0.0.1:${way.port}` };
      },
      onEnd: (_member, pid) => void ends.push({ pid, atMs: performance.now() }),
      onDeath(member, how) {
        deaths.push(`${member.name} ended (${how})\n${member.printed()}`);
        // As an orchestrator does. A start that fails is a death again.
        if (isOpen) void member.start().catch(() => undefined);
      },
    });
    undo.push(() => {
      isOpen = false;
      return cluster.stop();
    });
    const clientWay =
      plan.clientWay === true ? await startFaultProxy(portIn(cluster.url)) : undefined;
    if (clientWay !== undefined) undo.push(() => clientWay.close());
    const address = other?.address ?? { url: cluster.redisUrl };
    return {
      ...{ cluster, leaseMs, deaths, ends, trailFolder, clientWay, close },
      url: clientWay === undefined ? cluster.url : `http://127.0.0.1:${clientWay.port}/mcp`,
      fronts: cluster.fronts.map(({ member }) => member),
      workers: cluster.workers,
      redisWays: [...ways.values()],
      redisDirectory: path.join(folder, "redis"),
      otherServers: other?.servers ?? [],
      deploy: (revision) => writeFile(revisionFile, revision),
      connect: () => connectRedis(address),
      look: () => lookIntoRedis(address, leaseMs),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function memberNames(): readonly string[] {
  const numbered = (role: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, place) => `${role} ${place + 1}`);
  return [...numbered("front", frontCount), ...numbered("worker", workerCount)];
}

function portIn(url: string): number {
  return Number(new URL(url).port);
}
