/**
 * What all processes of a deployment share: one Redis with run and shared records, and the keys for request states.
 *
 * Opened by the roles, in the order in which it is needed, and closed in the reverse one. What an operator should know
 * of the Redis is logged once, at the start.
 */
import { RepriseError } from "@reprise/errors";
import { type KeyRing, type KeySource, keysFromSecrets } from "@reprise/request-state";
import { durationMs, type Logger } from "@reprise/runtime";
import {
  connectRedis,
  openKeyRing,
  openRedisStore,
  type RedisAddress,
  type RedisConnection,
  type RedisConnectionOptions,
  type RedisStore,
  type RedisStoreOptions,
} from "@reprise/store-redis";
import { type Settings, variableOf } from "./settings.ts";
import { instanceName } from "./signals.ts";

/** What is shared, opened. */
export interface Shared {
  readonly connection: RedisConnection;
  /** The runtime closes it, and with it its shared records. */
  readonly store: RedisStore;
  readonly keys: KeySource;
  /** The ring that the keys are of; undefined with `requestStateKey`. */
  readonly ring: KeyRing | undefined;
  /** Closes keys and connection. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens it.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE
 */
export async function openShared(settings: Settings, logger: Logger): Promise<Shared> {
  const { maxWaitingRuns, maxBytesPerCaller } = settings;
  const connection = await connectRedis(redisOptions(settings));
  const opened: (() => Promise<void>)[] = [() => connection.close()];
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    for (const undo of opened.reverse()) await undo();
  };
  try {
    for (const warning of connection.warnings) logger.warn({ part: "redis" }, warning);
    logger.info({ durability: connection.durability }, "connected to Redis");
    const ring = await openRing(settings, connection, logger, opened);
    const keys = ring ?? keysFromSecrets(settings.requestStateKey);
    const limits = { maxWaitingRuns, maxBytesPerCaller };
    const store = await openRedisStore({
      connection,
      ...storeOptions(settings),
      ...limits,
      logger,
    });
    return {
      connection,
      store,
      keys,
      ring,
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What every process that reads or writes the runs of a deployment tells the store alike. */
export function storeOptions({
  namespace,
  leaseMs,
  retentionMs,
  recordEncryptionKey,
}: Settings): Omit<RedisStoreOptions, "connection"> {
  const wraps = recordEncryptionKey.length === 0 ? {} : { recordEncryptionKey };
  return { namespace, leaseMs, retentionMs, ...wraps };
}

/** The ring of keys that instances share where none are configured. */
async function openRing(
  settings: Settings,
  connection: RedisConnection,
  logger: Logger,
  opened: (() => Promise<void>)[],
): Promise<KeyRing | undefined> {
  const { requestStateKey, keyEncryptionKey, namespace } = settings;
  if (requestStateKey.length > 0) return undefined;
  const ring = await openKeyRing({
    connection,
    namespace,
    owner: instanceName,
    keyRotationInterval: settings.keyRotationInterval,
    // Session ids are sealed with the same keys.
    requestStateLifetime: longest(settings.requestStateLifetime, settings.sessionLifetime),
    ...(keyEncryptionKey.length === 0 ? {} : { keyEncryptionKey }),
    logger,
  });
  opened.push(() => ring.close());
  return ring;
}

function longest(one: string, other: string): string {
  return durationMs(one, "requestStateLifetime") < durationMs(other, "sessionLifetime")
    ? other
    : one;
}

/** How the Redis is reached. With Sentinels or a Cluster, the URL only says as whom. */
export function redisOptions(settings: Settings): RedisConnectionOptions {
  const { redisUrl, redisSentinels, redisSentinelName, redisCluster } = settings;
  const { redisSentinelPassword } = settings;
  if (redisSentinels.length > 0 && redisSentinelName !== undefined) {
    const nodes = addresses("redisSentinels", redisSentinels, 26_379);
    const password =
      redisSentinelPassword === undefined ? {} : { sentinelPassword: redisSentinelPassword };
    const as = { ...credentials(redisUrl), ...password };
    return { sentinel: { name: redisSentinelName, nodes, ...as } };
  }
  if (redisCluster.length > 0) {
    const nodes = addresses("redisCluster", redisCluster, 6379);
    return { cluster: { nodes, ...credentials(redisUrl) } };
  }
  return redisUrl === undefined ? {} : { url: redisUrl };
}

function addresses(
  name: "redisSentinels" | "redisCluster",
  entries: readonly string[],
  usualPort: number,
): readonly RedisAddress[] {
  return entries.map((entry) => {
    const [, host, port] = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(entry) ?? [];
    if (host === undefined) {
      const message = `${name} (${variableOf(name)}): "${entry}" is not host:port`;
      throw new RepriseError("CONFIG_INVALID", message);
    }
    return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port ?? usualPort) };
  });
}

function credentials(url: string | undefined): {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: true;
} {
  if (url === undefined) return {};
  if (!URL.canParse(url)) {
    throw new RepriseError("CONFIG_INVALID", `redisUrl (${variableOf("redisUrl")}) is no URL`);
  }
  const { username, password, protocol } = new URL(url);
  return {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: true } : {}),
  };
}
