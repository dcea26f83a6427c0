/**
 * All that a Redis holds, as text by key: for tests that look for what must not be there. Only of a server that nothing else uses.
 */
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
      found.set(key, [await read?.()].flat(3).join("\n"));
    }
    return found;
  } finally {
    reader.disconnect();
  }
}
