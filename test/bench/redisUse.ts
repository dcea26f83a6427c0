/** What lies in a Redis: bytes of data, clients, jobs of BullMQ. */
import type { Redis } from "ioredis";
import { infoNumber } from "./redisSystem.ts";

/** Bytes of keys and values with all that Redis needs to find them, without what is under way; and the clients. */
export async function bytesInRedis(
  client: Redis,
): Promise<{ readonly bytes: number; readonly clients: number }> {
  const [used, clientBuffers, logBuffer, clients] = await Promise.all([
    infoNumber(client, "memory", "used_memory"),
    infoNumber(client, "memory", "mem_clients_normal"),
    infoNumber(client, "memory", "mem_aof_buffer"),
    infoNumber(client, "clients", "connected_clients"),
  ]);
  return { bytes: used - clientBuffers - logBuffer, clients };
}

/** `MEMORY USAGE` of all keys, summed up by the first word behind their hash tags. */
export async function bytesByNoun(client: Redis): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  const keys = await client.keys("*");
  for (let from = 0; from < keys.length; from += 1_000) {
    const some = keys.slice(from, from + 1_000);
    const found = await Promise.all(some.map((key) => client.memory("USAGE", key)));
    for (const [index, bytes] of found.entries()) {
      const noun = /^(?:.*\}:)?([^:]*)/.exec(some[index] ?? "")?.[1] ?? "";
      sums.set(noun, (sums.get(noun) ?? 0) + Number(bytes ?? 0));
    }
  }
  return sums;
}

/** The jobs of all BullMQ queues: those that workers hold, and those that nobody has taken. */
export async function jobsInQueues(
  client: Redis,
): Promise<{ readonly active: number; readonly waiting: number }> {
  let active = 0;
  let waiting = 0;
  for (const key of await client.keys("*")) {
    const noun = key.slice(key.lastIndexOf(":") + 1);
    if (noun === "active") active += await client.llen(key);
    else if (noun === "wait" || noun === "paused") waiting += await client.llen(key);
    else if (noun === "prioritized" || noun === "delayed") waiting += await client.zcard(key);
  }
  return { active, waiting };
}
