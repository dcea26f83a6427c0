/**
 * Private Redis servers for tests and benches: started on a socket or a free loopback port of their own, in a folder of
 * their own, and gone with it.
 *
 * 1. Never the default port or socket; nothing listens off loopback.
 * 2. A start resolves when the server takes commands, and rejects with what it printed when it can't.
 * 3. `kill` is a crash (SIGKILL); `restart` starts the same server again on the same folder and address, so it
 *    knows what its persistence kept. `stop` removes the folder and is for the end of a test.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Child, startCommand } from "./childProcess.ts";

/** How a private server is started. */
export interface RedisServerOptions {
  /** Absent: a Unix socket only. 0: a free loopback port. */
  readonly port?: number;
  /** Append-only file. Default false: nothing is written to the disk. */
  readonly appendonly?: boolean;
  /** Default `always` when there is an append-only file. */
  readonly appendfsync?: "always" | "everysec" | "no";
  /** As in redis.conf, `64mb`. Default: no limit. */
  readonly maxmemory?: string;
  /** Default `noeviction`. */
  readonly maxmemoryPolicy?: string;
  /** Further lines of redis.conf. */
  readonly config?: readonly string[];
}

/** A server that was started. */
export interface RedisServer {
  /** 0 when it listens on its socket only. */
  readonly port: number;
  readonly socket: string;
  /** `redis://127.0.0.1:PORT`, or the path of the socket, as ioredis takes it. */
  readonly url: string;
  readonly directory: string;
  /** Of the process that runs now. */
  pid(): number;
  /** Ends it and removes what it wrote. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL: what was not persisted is lost. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, or kills it first. */
  restart(): Promise<void>;
}

const readyLine = /ready to accept connections/i;
/** Another process may take the port between the choice and the start. */
const attempts = 5;

/** Starts a private Redis. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const directory = await mkdtemp(path.join(tmpdir(), "reprise-redis-"));
  const socket = path.join(directory, "redis.sock");
  const file = path.join(directory, "redis.conf");
  const start = async (port: number): Promise<Child> => {
    await writeFile(file, configuration(directory, socket, port, options));
    const child = startCommand("redis-server", [file], {}, directory);
    await child.line(readyLine);
    return child;
  };
  let port = 0;
  let child: Child | undefined;
  for (let left = attempts; child === undefined; left -= 1) {
    port = options.port === 0 ? await freePort() : (options.port ?? 0);
    try {
      child = await start(port);
    } catch (failure) {
      if (left > 1 && options.port === 0) continue;
      await rm(directory, { recursive: true, force: true });
      throw failure;
    }
  }
  let running: Child = child;
  return {
    port,
    socket,
    url: port === 0 ? socket : `redis://127.0.0.1:${port}`,
    directory,
    pid: () => running.pid,
    async stop() {
      await running.stop("SIGKILL");
      await rm(directory, { recursive: true, force: true });
    },
    async kill() {
      await running.stop("SIGKILL");
    },
    async restart() {
      await running.stop("SIGKILL");
      running = await start(port);
    },
  };
}

/** A loopback port that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function configuration(
  directory: string,
  socket: string,
  port: number,
  options: RedisServerOptions,
): string {
  const lines = [
    `dir ${directory}`,
    "daemonize no",
    "bind 127.0.0.1",
    `port ${port}`,
    `unixsocket ${socket}`,
    "unixsocketperm 700",
    'save ""',
    `appendonly ${options.appendonly === true ? "yes" : "no"}`,
    `appendfsync ${options.appendfsync ?? "always"}`,
    `maxmemory-policy ${options.maxmemoryPolicy ?? "noeviction"}`,
    ...(options.maxmemory === undefined ? [] : [`maxmemory ${options.maxmemory}`]),
    ...(options.config ?? []),
  ];
  return `${lines.join("\n")}\n`;
}
