/**
 * How a Redis is reached, checked once, and as ioredis wants it.
 */
import type { ClusterOptions, RedisOptions } from "ioredis";

/** Without what would change the types of replies. */
type ServerOptions = Omit<RedisOptions, "replyMapping">;
/** ioredis wants no undefined in it. */
type NodeOptions = Omit<NonNullable<ClusterOptions["redisOptions"]>, "replyMapping">;
type NodesOptions = Omit<ClusterOptions, "redisOptions"> & { readonly redisOptions: NodeOptions };

/** Where one server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** How a Redis is reached: exactly one of `url`, `sentinel` and `cluster`. */
export interface RedisConnectionOptions {
  /** `redis://[user:password@]host:port[/db]`, `rediss://` for TLS, or the path of a Unix socket. */
  readonly url?: string;
  readonly sentinel?: {
    /** Name of the master, as the Sentinels know it. */
    readonly name: string;
    readonly nodes: readonly RedisAddress[];
    readonly username?: string;
    readonly password?: string;
    /** Of the Sentinels themselves. */
    readonly sentinelPassword?: string;
    /** TLS to Redis and Sentinels. Default false. */
    readonly tls?: boolean;
  };
  readonly cluster?: {
    /** Some of the nodes; the others are learned from them. */
    readonly nodes: readonly RedisAddress[];
    readonly username?: string;
    readonly password?: string;
    /** Default false. */
    readonly tls?: boolean;
  };
  /** Longest wait for one command, reconnects included; then STORE_UNAVAILABLE. Milliseconds, default 5,000. */
  readonly commandTimeoutMs?: number;
  /** Longest wait for the first connection. Milliseconds, default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * A client of `duplicate` that has asked and hears nothing for so long gives its connection up and makes a new one. Milliseconds,
   * default 30,000: longer than any command blocks here (10 s), or those would be cut off.
   */
  readonly silenceMs?: number;
}

/** The options with defaults. */
export interface CheckedConnectionOptions extends RedisConnectionOptions {
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly silenceMs: number;
}

/** Longest pause between two attempts to reconnect: an outage that is over must be noticed soon. */
const LONGEST_PAUSE_MS = 1_000;

/** Fills in defaults; a value that can't be meant is a TypeError or RangeError that names the option. */
export function checkConnectionOptions(options: RedisConnectionOptions): CheckedConnectionOptions {
  const { url, sentinel, cluster } = options;
  const ways = [url, sentinel, cluster].filter((way) => way !== undefined).length;
  if (ways !== 1) throw new TypeError("give exactly one of url, sentinel and cluster");
  if (url !== undefined && !/^(rediss?:\/\/.|\/.)/.test(url)) {
    throw new TypeError("url must be redis://host:port, rediss://host:port or a socket's path");
  }
  if (sentinel !== undefined && (sentinel.name === "" || sentinel.nodes.length === 0)) {
    throw new TypeError("sentinel needs a name and at least one node");
  }
  if (cluster !== undefined && cluster.nodes.length === 0) {
    throw new TypeError("cluster needs at least one node");
  }
  return {
    ...options,
    commandTimeoutMs: positive("commandTimeoutMs", options.commandTimeoutMs ?? 5_000),
    connectTimeoutMs: positive("connectTimeoutMs", options.connectTimeoutMs ?? 10_000),
    silenceMs: positive("silenceMs", options.silenceMs ?? 30_000),
  };
}

/** What ioredis is given for one server, of a Cluster too. */
export function serverOptions(options: CheckedConnectionOptions): ServerOptions {
  return {
    commandTimeout: options.commandTimeoutMs,
    connectTimeout: options.connectTimeoutMs,
    // A way that was lost without a word (a NAT entry, a machine without power) would take commands for a quarter of an hour.
    socketTimeout: options.commandTimeoutMs,
    // The time limit of the command decides, not a count of reconnects.
    maxRetriesPerRequest: null,
    retryStrategy: pauseBefore,
    // A master that became a replica: find the new one. Its refusal reaches the caller, who may repeat.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
    lazyConnect: true,
    enableReadyCheck: true,
    // Nothing here needs RESP3, and proxies speak 2.
    protocol: 2,
  };
}

/** What ioredis is given for a Cluster. */
export function clusterOptions(options: CheckedConnectionOptions): NodesOptions {
  const { commandTimeout, connectTimeout, socketTimeout } = serverOptions(options);
  const { username, password, tls } = options.cluster ?? {};
  return {
    lazyConnect: true,
    clusterRetryStrategy: pauseBefore,
    redisOptions: {
      ...(commandTimeout === undefined ? {} : { commandTimeout }),
      ...(connectTimeout === undefined ? {} : { connectTimeout }),
      ...(socketTimeout === undefined ? {} : { socketTimeout }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls === true ? { tls: {} } : {}),
    },
  };
}

/** What ioredis is given to find a master through Sentinels. */
export function sentinelOptions(options: CheckedConnectionOptions): ServerOptions {
  const { sentinel } = options;
  if (sentinel === undefined) return {};
  const { name, nodes, username, password, sentinelPassword, tls } = sentinel;
  return {
    name,
    sentinels: nodes.map(({ host, port }) => ({ host, port })),
    sentinelRetryStrategy: pauseBefore,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls === true ? { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  };
}

function pauseBefore(attempt: number): number {
  return Math.min(attempt * 50, LONGEST_PAUSE_MS);
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value <= 0) {
    throw new RangeError(`${name} must be a whole number above 0, got ${value}`);
  }
  return value;
}
