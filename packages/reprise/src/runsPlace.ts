/**
 * Where the runs are that an operator's command is about: the data directory of a `reprise dev`, or the Redis of a deployment.
 *
 * Called by the commands for operators. A directory is shared with the process that serves it; a Redis is found as `reprise keys` finds
 * it. Nothing is executed here, and nothing sweeps.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { RepriseError } from "@reprise/errors";
import {
  checkedHistory,
  type HistoryStore,
  type RunOperator,
  storeOperator,
} from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import { connectRedis, openRedisStore } from "@reprise/store-redis";
import { readOperatorSettings } from "./config.ts";
import { clockOf } from "./roleRuntime.ts";
import { redisOptions, storeOptions } from "./shared.ts";

/** How a command is told where. */
export interface PlaceFlags {
  /** The data directory of `reprise dev` or `serve`. */
  readonly data?: string;
  /** As for `connectRedis`. */
  readonly redis?: string;
  /** The configuration file; else `REPRISE_CONFIG`. */
  readonly config?: string;
  /** Default: that of the settings, else `reprise`. */
  readonly namespace?: string;
  /** Name of the served definition: idempotency keys are found with it. */
  readonly server?: string;
}

/** An open place. */
export interface RunsPlace {
  readonly operator: RunOperator;
  readonly history: HistoryStore;
  /** Epoch milliseconds, by the clock that judges deadlines there. */
  now(): number;
  close(): Promise<void>;
}

/**
 * Opens it.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE
 */
export async function openPlace(flags: PlaceFlags): Promise<RunsPlace> {
  if (flags.data !== undefined && flags.redis !== undefined) {
    throw new RepriseError("CONFIG_INVALID", "give --data or --redis, not both");
  }
  return flags.data === undefined ? openRedisPlace(flags) : openDirectory(flags.data, flags);
}

/**
 * Where the store of a data directory lies.
 * @throws RepriseError CONFIG_INVALID when there is none: opening would make an empty one, in which nothing is found
 */
export function storeDirectory(data: string): string {
  const directory = join(resolve(data), "store");
  if (existsSync(directory)) return directory;
  throw new RepriseError("CONFIG_INVALID", `--data: there is no store in ${resolve(data)}`);
}

async function openDirectory(data: string, { namespace, server }: PlaceFlags): Promise<RunsPlace> {
  const store = await openLmdbStore({ directory: storeDirectory(data) });
  return {
    operator: storeOperator({ store, history: store.history, namespace, server }),
    history: checkedHistory(store.history, store, Date.now),
    now: Date.now,
    close: () => store.close(),
  };
}

async function openRedisPlace(flags: PlaceFlags): Promise<RunsPlace> {
  const settings = readOperatorSettings(flags);
  const redis = flags.redis === undefined ? redisOptions(settings) : { url: flags.redis };
  const namespace = flags.namespace ?? settings.namespace;
  const connection = await connectRedis(redis);
  try {
    const store = await openRedisStore({ connection, ...storeOptions(settings), namespace });
    return {
      operator: storeOperator({
        store,
        history: store.history,
        namespace,
        server: flags.server,
        clock: clockOf(store),
      }),
      history: checkedHistory(store.history, store, () => store.now()),
      now: () => store.now(),
      close: async () => {
        await store.close();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
