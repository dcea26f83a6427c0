/**
 * The floor of a recorded step: a bare fastify route that makes a number of durable LMDB commits, one after the
 * other, and answers. The first argument is its data directory.
 *
 * `/commits/N` makes N. Same library, same machine, same request path as the other servers, so the difference
 * of two counts is the cost of a commit as a step would see it.
 */
import { randomBytes } from "node:crypto";
import { fastify } from "fastify";
import { open } from "lmdb";
import { commitBytes, stepCounts, stepsText } from "../workload.ts";
import { announce } from "./serverProcess.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new RangeError("the first argument must be the data directory");

// As the embedded store opens it: a commit is flushed before it is acknowledged.
const db = open<Buffer, number>({ path: dataDir, encoding: "binary", overlappingSync: false });
const value = randomBytes(commitBytes);
let nextKey = 0;

async function commitDurably(): Promise<void> {
  nextKey += 1;
  await db.put(nextKey, value);
}

const app = fastify();
for (const count of stepCounts) {
  app.post(`/commits/${count}`, async () => {
    for (let index = 0; index < count; index += 1) await commitDurably();
    return stepsText(count);
  });
}

const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({
  url: `${origin}/commits/0`,
  close: async () => {
    await app.close();
    await db.close();
  },
});
