/**
 * Who takes part in a queue: fronts that have jobs, and workers with what they can do at a time. By the time of the server, so
 * clocks of machines don't matter; who does not beat any more counts no more.
 */
import type { QueueKeys } from "./keys.ts";
import type { PoolRedis } from "./redisPort.ts";

/** What a beat found. */
export interface Members {
  /** At least 1: the one who asks. */
  readonly fronts: number;
  /** Jobs that all workers together execute at a time; 0 when there is none. */
  readonly concurrency: number;
}

/** A member of a queue; `weight` is a worker's concurrency. */
export interface Membership {
  readonly role: "front" | "worker";
  readonly id: string;
  readonly weight: number;
}

/** How long BullMQ's structures outlive the last member. */
const STRUCTURE_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Says that the member is there, for `lifeMs` from now; undefined only looks.
 * @throws what the client throws
 */
export async function beat(
  client: PoolRedis,
  keys: QueueKeys,
  lifeMs: number,
  member: Membership | undefined,
): Promise<Members> {
  const [seconds, micros] = (await client.call("TIME")) as [string, string];
  const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  const commands: Promise<unknown>[] = [];
  const send = (command: string, ...args: (string | number)[]): Promise<unknown> => {
    const reply = client.call(command, ...args);
    commands.push(reply);
    return reply;
  };
  if (member !== undefined) {
    const key = member.role === "front" ? keys.fronts : keys.workers;
    void send("ZADD", key, now + lifeMs, `${member.id}|${member.weight}`);
    void send("ZREMRANGEBYSCORE", key, "-inf", now);
    void send("PEXPIRE", key, lifeMs * 2);
    for (const part of keys.structure) void send("PEXPIRE", part, STRUCTURE_MS);
  }
  const fronts = send("ZRANGEBYSCORE", keys.fronts, now, "+inf");
  const workers = send("ZRANGEBYSCORE", keys.workers, now, "+inf");
  await Promise.all(commands);
  const weights = ((await workers) as readonly string[]).map((text) => Number(text.split("|")[1]));
  return {
    fronts: Math.max(1, ((await fronts) as readonly string[]).length),
    concurrency: weights.reduce((sum, weight) => sum + weight, 0),
  };
}

/** Takes a worker out at once, so that fronts need not wait for its time to be over. */
export async function retire(
  client: PoolRedis,
  keys: QueueKeys,
  member: Membership,
): Promise<void> {
  const key = member.role === "front" ? keys.fronts : keys.workers;
  await client.call("ZREM", key, `${member.id}|${member.weight}`);
}
