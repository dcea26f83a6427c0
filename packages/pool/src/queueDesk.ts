/**
 * What operators see and do of the queues: how they stand, and pausing, resuming and resizing them.
 *
 * Made by the dashboard's composition root. It adds no job and takes none.
 *
 * D1 BullMQ's own marks of a queue are used (`paused`, its concurrency), which every worker reads before it takes a job: nothing has to
 *    reach a worker, and one that starts later heeds them too.
 * D2 How a queue stands costs a bounded number of commands, whatever waits in it.
 */
import { RepriseError } from "@reprise/errors";
import { type Logger, silentLogger } from "@reprise/runtime";
import { Queue } from "bullmq";
import { checkName, type QueueKeys, queueKeys } from "./keys.ts";
import { beat } from "./members.ts";
import { queueWaits } from "./queueWaits.ts";
import type { PoolConnection } from "./redisPort.ts";

/** Options of `openQueueDesk`. */
export interface QueueDeskOptions {
  readonly connection: PoolConnection;
  /** As the fronts'. Default `"reprise"`. */
  readonly namespace?: string;
  /** The queues to show, by the name that handlers give as `queue`. */
  readonly queues: readonly string[];
  readonly logger?: Logger;
}

/** How a queue stands. */
export interface PoolQueueStanding {
  readonly queue: string;
  /** Jobs that workers could take now, and jobs that they execute. */
  readonly waiting: number;
  readonly active: number;
  /** How long the oldest of the waiting ones has waited, in milliseconds; 0 when none does. */
  readonly oldestMs: number;
  /** Jobs that all workers together execute at a time by their own settings; 0 when there is none. */
  readonly capacity: number;
  readonly paused: boolean;
  /** The most that all workers together execute, as an operator set it; undefined: no limit. */
  readonly limit: number | undefined;
}

/** Queues under an operator's hands. Methods reject with RepriseError STORE_UNAVAILABLE, and RangeError for an unknown queue. */
export interface PoolQueueDesk {
  readonly queues: readonly string[];
  standing(): Promise<readonly PoolQueueStanding[]>;
  /** Workers take no more jobs of it; those that they execute end. Jobs go on waiting. */
  pause(queue: string): Promise<void>;
  resume(queue: string): Promise<void>;
  /** Most jobs that all workers together execute at a time; undefined takes the limit away. */
  resize(queue: string, limit: number | undefined): Promise<void>;
  /** BullMQ's own objects, for a board that only reads. */
  raw(): readonly object[];
  /** Idempotent. The connection stays the caller's. */
  close(): Promise<void>;
}

interface Held {
  readonly keys: QueueKeys;
  readonly queue: Queue;
}

/**
 * Opens it.
 * @throws RepriseError CONFIG_INVALID for a name that can't be part of a key
 */
export function openQueueDesk(options: QueueDeskOptions): PoolQueueDesk {
  const { connection, namespace = "reprise", logger = silentLogger } = options;
  checkName("namespace", namespace);
  const held = new Map<string, Held>();
  for (const name of options.queues) {
    const keys = queueKeys(namespace, checkName("queue", name));
    const queue = new Queue(name, {
      connection: connection.client,
      prefix: keys.prefix,
      // The fronts write what is known of the queue; who only looks leaves no trace.
      skipMetasUpdate: true,
    });
    queue.on("error", (error) => {
      logger.warn({ err: error, queue: name }, "the queue has lost its connection; it comes back");
    });
    held.set(name, { keys, queue });
  }
  const named = (name: string): Queue => {
    const found = held.get(name);
    if (found === undefined) throw new RangeError(`there is no queue ${JSON.stringify(name)}`);
    return found.queue;
  };
  const standingOf = async ([name, { keys, queue }]: readonly [
    string,
    Held,
  ]): Promise<PoolQueueStanding> => {
    const [waits, active, paused, limit, members] = await Promise.all([
      queueWaits(connection, namespace, [name]),
      queue.getActiveCount(),
      queue.isPaused(),
      queue.getGlobalConcurrency(),
      beat(connection.client, keys, 0, undefined),
    ]);
    return {
      queue: name,
      waiting: waits[0]?.waiting ?? 0,
      oldestMs: waits[0]?.oldestMs ?? 0,
      active,
      capacity: members.concurrency,
      paused,
      limit: limit ?? undefined,
    };
  };
  let closing: Promise<void> | undefined;
  return {
    queues: [...held.keys()],
    standing: () => reached(Promise.all([...held].map(standingOf))),
    pause: async (name) => await reached(named(name).pause()),
    resume: async (name) => await reached(named(name).resume()),
    async resize(name, limit) {
      const queue = named(name);
      if (limit === undefined) await reached(queue.removeGlobalConcurrency());
      else await reached(queue.setGlobalConcurrency(limit));
    },
    raw: () => [...held.values()].map(({ queue }) => queue),
    close() {
      closing ??= Promise.all([...held.values()].map(({ queue }) => queue.close())).then(
        () => undefined,
      );
      return closing;
    },
  };
}

async function reached<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (cause) {
    throw new RepriseError("STORE_UNAVAILABLE", "the queues can't be reached; repeat the request", {
      data: { retryAfterMs: 1000 },
      cause,
    });
  }
}
