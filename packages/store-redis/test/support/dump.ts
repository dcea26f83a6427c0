/**
 * What a Redis holds, as text: for tests that pin formats. Only of a server that nothing else uses.
 */
import assert from "node:assert/strict";
import type { RedisConnection } from "@reprise/store-redis";

type Client = RedisConnection["client"];

/** What one key holds; members of hashes and scores as Redis says them. */
export type Held =
  | { readonly string: string }
  | { readonly list: readonly string[] }
  | { readonly hash: Readonly<Record<string, string>> }
  | { readonly scores: Readonly<Record<string, string>> };

/** Every key with what it holds, in order of the keys' names. */
export async function dump(client: Client): Promise<Record<string, Held>> {
  const keys = (await client.keys("*")).toSorted();
  const held: [string, Held][] = [];
  for (const key of keys) held.push([key, await readKey(client, key)]);
  return Object.fromEntries(held);
}

/** Puts a dump into an empty server; everything expires in an hour. */
export async function restore(client: Client, golden: Record<string, Held>): Promise<void> {
  for (const [key, held] of Object.entries(golden)) {
    if ("string" in held) await client.set(key, held.string);
    else if ("list" in held) await client.rpush(key, ...held.list);
    else if ("hash" in held) await client.hset(key, held.hash);
    else {
      for (const [member, score] of Object.entries(held.scores))
        await client.zadd(key, score, member);
    }
    await client.pexpire(key, 3_600_000);
  }
}

async function readKey(client: Client, key: string): Promise<Held> {
  const type = await client.type(key);
  switch (type) {
    case "string":
      return { string: (await client.get(key)) ?? assert.fail(key) };
    case "list":
      return { list: await client.lrange(key, 0, -1) };
    case "hash":
      return { hash: await client.hgetall(key) };
    case "zset": {
      const flat = await client.zrange(key, "0", "-1", "WITHSCORES");
      const scores: Record<string, string> = {};
      for (let at = 0; at < flat.length; at += 2) scores[flat[at] ?? ""] = flat[at + 1] ?? "";
      return { scores };
    }
    default:
      return assert.fail(`${key} is a ${type}`);
  }
}

/** Names of members, whatever their values, also of JSON within texts: the shape of what is held. */
export function shape(held: unknown): unknown {
  if (typeof held === "string") return /^[[{]/.test(held) ? shape(JSON.parse(held)) : "text";
  if (Array.isArray(held)) return held.map(shape);
  if (typeof held !== "object" || held === null) return typeof held;
  return Object.fromEntries(
    Object.entries(held)
      .map(([name, member]): [string, unknown] => [name, shape(member)])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}
