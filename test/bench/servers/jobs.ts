/**
 * The floor of a call through the pool: a bare fastify route that adds a BullMQ job, waits until it is completed and
 * answers with its result. Arguments: a data directory (unused), the URL of Redis.
 */

import { Queue, QueueEvents } from "bullmq";
import { fastify } from "fastify";
import { echoText, jobsQueue } from "../workload.ts";
import { announce } from "./serverProcess.ts";

const [, url] = process.argv.slice(2);
if (url === undefined) throw new RangeError("the second argument must be the URL of Redis");

const connection = { url, maxRetriesPerRequest: null };
const queue = new Queue<{ text: string }, string>(jobsQueue, {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
});
const events = new QueueEvents(jobsQueue, { connection });
await events.waitUntilReady();

// Not the job's `waitUntilFinished`: it asks Redis once more, and fails when the job is gone by then.
const waiting = new Map<string, (result: string) => void>();
events.on("completed", ({ jobId, returnvalue }) => {
  waiting.get(jobId)?.(returnvalue);
  waiting.delete(jobId);
});
let next = 0;

const app = fastify();
app.post("/jobs", async () => {
  next += 1;
  const jobId = `job-${next}`;
  const result = new Promise<string>((resolve) => waiting.set(jobId, resolve));
  await queue.add("echo", { text: echoText }, { jobId });
  return result;
});

const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({
  url: `${origin}/jobs`,
  close: async () => {
    await app.close();
    await events.close();
    await queue.close();
  },
});
