/**
 * All that a Redis holds, as text by key: for tests that look for what must not be there. Only of a server that nothing else uses.
 * What the store packs is told unpacked: nothing may hide in there.
 */

import { unpacked } from "@reprise/store-redis";
import { Redis } from "ioredis";

/** Keys with what they hold. */
export async function redisContents(url: string): Promise<ReadonlyMap<string, string>> {
  const reader = new Redis(url);
  try {
    const found = new Map<string, string>();
    for (const key of await reader.keys("*")) {
      const type = await reader.type(key);
      const read: (() => Promise<unknown>) | undefined = {
        string: () => reader.get(key),
        hash: async () => Object.entries(await reader.hgetall(key)),
        list: () => reader.lrange(key, 0, -1),
        set: () => reader.smembers(key),
        zset: () => reader.zrange(key, "0", "-1"),
        stream: () => reader.xrange(key, "-", "+"),
      }[type];
      // A key that has expired meanwhile holds nothing.
      found.set(key, [await read?.()].flat(3).map(plain).join("\n"));
    }
    return found;
  } finally {
    reader.disconnect();
  }
}

/** A packed text may stand behind the number of its item. */
function plain(value: unknown): string {
  const text = String(value);
  const start = /^(?:\d+ )?/.exec(text)?.[0] ?? "";
  try {
    return start + unpacked(text.slice(start.length));
  } catch {
    // It only begins like one.
    return text;
  }
}
