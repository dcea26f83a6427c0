/**
 * How much waits for workers, and how long: what somebody who adds workers looks at.
 *
 * Asked by those who publish metrics. It only reads, and what it says is old when it is read.
 */
import { checkName, queueKeys } from "./keys.ts";
import type { PoolConnection } from "./redisPort.ts";

/** What waits in one queue. */
export interface QueueWait {
  readonly queue: string;
  /** Jobs that workers could take now. More may wait in fronts, which keep a long line to themselves. */
  readonly waiting: number;
  /** Since when the longest of them waits, the time in its front included; 0 when none does. Milliseconds. */
  readonly oldestMs: number;
}

/** Jobs that are looked at: those that stand longest in the list, and those that were let ahead of them. */
const LOOKED_AT = 64;

/**
 * Looks at queues. Rejects when Redis can't be reached.
 * @param now epoch milliseconds; the fronts' clocks count
 */
export async function queueWaits(
  { client }: Pick<PoolConnection, "client">,
  namespace: string,
  queues: readonly string[],
  now: number = Date.now(),
): Promise<readonly QueueWait[]> {
  return await Promise.all(
    queues.map(async (queue) => {
      const keys = queueKeys(namespace, checkName("queue", queue));
      const list = keys.job("wait");
      // Workers take from the end.
      const ids = (await client.call("LRANGE", list, -LOOKED_AT, -1)) as readonly string[];
      const [waiting, ...since] = await Promise.all([
        client.call("LLEN", list),
        ...ids.map((id) => client.call("HGET", keys.job(id), "timestamp")),
      ]);
      // A job that was taken meanwhile has no time any more.
      const ages = since.map((time) => (time === null ? 0 : now - Number(time)));
      return { queue, waiting: Number(waiting), oldestMs: Math.max(0, ...ages) };
    }),
  );
}
