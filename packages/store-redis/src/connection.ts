/**
 * A connection to Redis that keeps itself: standalone, through Sentinels, or to a Cluster.
 *
 * Called by whoever composes a process; store, key ring and pool share one.
 *
 * N1 It reconnects for ever, with pauses of at most a second. A command waits through that for at most `commandTimeoutMs`.
 * N2 What was sent and not answered when a connection broke is sent again; scripts are written to bear it (P3).
 * N3 `duplicate` gives clients of their own to those that block or subscribe, without a time limit for commands.
 * N4 A connection over which nothing comes back is given up and made anew: the shared one after `commandTimeoutMs`, a duplicate
 *    after `silenceMs`; one that only listens asks now and then whether anybody is there. (Not a Cluster's subscriber, for which
 *    ioredis keeps a connection of its own.)
 */
import { RepriseError } from "@reprise/errors";
import { Cluster, Redis } from "ioredis";
import {
  type CheckedConnectionOptions,
  checkConnectionOptions,
  clusterOptions,
  type RedisConnectionOptions,
  sentinelOptions,
  serverOptions,
} from "./connectionOptions.ts";
import { corkWrites } from "./corkedWrites.ts";
import { asStoreError } from "./redisErrors.ts";
import { checkServer, type RedisDurability, type RedisFindings } from "./startChecks.ts";

/** An ioredis client. */
export type RedisClient = Redis | Cluster;

/** An open connection and what was found at its other end. */
export interface RedisConnection {
  readonly client: RedisClient;
  /** What an acknowledged write survives; of a Cluster, the weakest node's. */
  readonly durability: RedisDurability;
  /** What an operator should know; each sentence ends with what to do. */
  readonly warnings: readonly string[];
  /** A client of the caller's own, to be closed by it: for subscribing and blocking. Commands wait without limit. */
  duplicate(): RedisClient;
  /** Closes the shared client. Idempotent. */
  close(): Promise<void>;
}

/**
 * Connects and checks what is there.
 *
 * @throws TypeError, RangeError for options that can't be meant; STORE_UNAVAILABLE when nothing answers within
 *   `connectTimeoutMs`; STORE_UNUSABLE, with the command that mends it, for a Redis that would lose runs
 */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const checked = checkConnectionOptions(options);
  const client = makeClient(checked);
  // Broken connections are told by the commands that fail; without a listener ioredis prints them.
  client.on("error", () => undefined);
  corkEachStream(client);
  try {
    await connected(client, checked.connectTimeoutMs);
    const { durability, warnings } = weakest(
      await Promise.all(mastersOf(client).map((server) => checkServer(server, Date.now))),
    );
    return {
      client,
      durability,
      warnings,
      duplicate: () => duplicateOf(client, checked.silenceMs),
      close: async () => client.disconnect(),
    };
  } catch (failure) {
    client.disconnect();
    throw asStoreError(failure);
  }
}

/** The servers that take writes. */
export function mastersOf(client: RedisClient): readonly Redis[] {
  return client instanceof Cluster ? client.nodes("master") : [client];
}

function makeClient(options: CheckedConnectionOptions): RedisClient {
  const { url, cluster } = options;
  if (cluster !== undefined) {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
    return new Cluster(nodes, clusterOptions(options));
  }
  const server = serverOptions(options);
  return url === undefined
    ? new Redis({ ...server, ...sentinelOptions(options) })
    : new Redis(url, server);
}

/** Every reconnect, and in a Cluster every node, brings a stream of its own. */
function corkEachStream(client: RedisClient): void {
  if (client instanceof Cluster) client.on("+node", corkEachStream);
  else client.on("connect", () => corkWrites(client.stream, () => client.commandQueue.length));
}

async function connected(client: RedisClient, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `no Redis answered within ${timeoutMs} ms; is it running, and is the address right?`;
      reject(new RepriseError("STORE_UNAVAILABLE", message));
    }, timeoutMs);
  });
  try {
    // The first refusal of a connection is no verdict: the client tries on until the time is over.
    const ready = new Promise<void>((resolve) => client.once("ready", () => resolve()));
    client.connect().catch(() => undefined);
    await Promise.race([ready, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function duplicateOf(client: RedisClient, silenceMs: number): RedisClient {
  const copy =
    client instanceof Cluster
      ? client.duplicate([], {
          lazyConnect: false,
          redisOptions: { maxRetriesPerRequest: null, socketTimeout: silenceMs },
        })
      : subscribingQuietly(
          client.duplicate({
            lazyConnect: false,
            maxRetriesPerRequest: null,
            commandTimeout: undefined,
            socketTimeout: silenceMs,
          }),
        );
  copy.on("error", () => undefined);
  askWhileListening(copy, silenceMs);
  return copy;
}

/** Who only listens never waits for a reply, so that its silence would say nothing (N4). */
function askWhileListening(client: RedisClient, silenceMs: number): void {
  const timer = setInterval(() => {
    // While there is no connection, questions would only pile up.
    if (client.status === "ready") client.ping().catch(() => undefined);
  }, silenceMs / 2).unref();
  client.once("end", () => clearInterval(timer));
}

/**
 * ioredis subscribes again by itself after a reconnect and keeps no hold of the promise: a client closed meanwhile would be an
 * unhandled rejection, which ends the process. Whoever subscribes by a call of its own still gets the rejection.
 */
function subscribingQuietly(client: Redis): Redis {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (...call: Parameters<Redis["sendCommand"]>) => {
    const [command] = call;
    if (command.name === "subscribe") command.promise.catch(() => undefined);
    return send(...call);
  };
  return client;
}

function weakest(findings: readonly RedisFindings[]): RedisFindings {
  const order: readonly RedisDurability[] = ["none", "everysec", "always"];
  const ranks = findings.map(({ durability }) => order.indexOf(durability));
  const warnings = [...new Set(findings.flatMap((finding) => finding.warnings))];
  return { durability: order[Math.min(...ranks)] ?? "none", warnings };
}
