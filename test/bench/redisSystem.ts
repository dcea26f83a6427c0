/**
 * A private Redis on the servers' core, as part of a system, and Reprise's processes on it.
 */
import { Redis } from "ioredis";
import { type RedisServer, startRedis } from "../support/redisServer.ts";
import type { CodeOrigin } from "./build.ts";
import { pinRunning } from "./pinning.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import type { System } from "./systems.ts";

/** When Redis flushes its append-only file. */
export type Fsync = "everysec" | "always";

/** A Redis that is part of a system. */
export interface RedisPart extends Omit<System, "url"> {
  readonly redisUrl: string;
  readonly version: string;
  /** A client of the caller's own, to be disconnected by it. */
  connect(): Redis;
}

/** Settings of a front or a worker beyond those that every one has here. */
export type MoreSettings = Readonly<Record<string, unknown>>;

/** Starts a Redis with an append-only file. */
export async function startPinnedRedis(fsync: Fsync): Promise<RedisPart> {
  const server: RedisServer = await startRedis({ port: 0, appendonly: true, appendfsync: fsync });
  let version = "unknown";
  try {
    pinRunning("server", server.pid());
    const client = new Redis(server.url);
    version = /^redis_version:(\S+)/m.exec(await client.info("server"))?.[1] ?? version;
    client.disconnect();
  } catch (failure) {
    await server.stop();
    throw failure;
  }
  return {
    redisUrl: server.url,
    version,
    pids: [server.pid()],
    connect: () => new Redis(server.url),
    stop: () => server.stop(),
  };
}

/** A number of `INFO section`. */
export async function infoNumber(client: Redis, section: string, name: string): Promise<number> {
  const text = await client.info(section);
  const value = Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(value)) throw new Error(`Redis tells no ${name}`);
  return value;
}

/** Starts a front of Reprise. */
export function startFront(
  code: CodeOrigin,
  redis: RedisPart,
  dispatch: "inline" | "pool",
  more: MoreSettings = {},
  nodeFlags: readonly string[] = [],
): Promise<ServerProcess> {
  const settings = { redisUrl: redis.redisUrl, port: 0, dispatch, ...more };
  return startRole(code, "front", settings, nodeFlags);
}

/** Starts a worker of Reprise. */
export function startPoolWorker(
  code: CodeOrigin,
  redis: RedisPart,
  concurrency: number,
  more: MoreSettings = {},
): Promise<ServerProcess> {
  const settings = { redisUrl: redis.redisUrl, probePort: 0, concurrency, ...more };
  return startRole(code, "worker", settings);
}

function startRole(
  code: CodeOrigin,
  role: "front" | "worker",
  settings: object,
  nodeFlags: readonly string[] = [],
): Promise<ServerProcess> {
  const args = [JSON.stringify(settings)];
  return startServer(code, role, { args, nodeFlags: ["--expose-gc", ...nodeFlags] });
}
