/**
 * The floor of a recorded step on Redis: a bare fastify route that calls a number of scripts, one after the other, and
 * answers. Arguments: a data directory (unused), the URL of Redis, the bytes of each value.
 *
 * `/scripts/N` calls N. Each is one EVALSHA that writes one value under one of many keys in turn.
 */
import { randomBytes } from "node:crypto";
import { fastify } from "fastify";
import { Redis } from "ioredis";
import { redisStepCounts, stepsText } from "../workload.ts";
import { announce } from "./serverProcess.ts";

const [, url, bytes] = process.argv.slice(2);
if (url === undefined || !(Number(bytes) > 0)) {
  throw new RangeError("the arguments must be a data directory, the URL of Redis and a size");
}

/** What was written long ago is overwritten, so that the load's length does not decide the memory. */
const keyCount = 10_000;
const value = randomBytes(Math.ceil(Number(bytes) / 2))
  .toString("hex")
  .slice(0, Number(bytes));
const client = new Redis(url);
const sha = String(await client.script("LOAD", "return redis.call('SET', KEYS[1], ARGV[1])"));
let next = 0;

async function write(): Promise<void> {
  next = (next + 1) % keyCount;
  await client.evalsha(sha, 1, `bench:${next}`, value);
}

const app = fastify();
for (const count of redisStepCounts) {
  app.post(`/scripts/${count}`, async () => {
    for (let index = 0; index < count; index += 1) await write();
    return stepsText(count);
  });
}

const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({
  url: origin,
  close: async () => {
    await app.close();
    client.disconnect();
  },
});
