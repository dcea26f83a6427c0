/**
 * The worker of jobs.ts. Arguments: a data directory (unused), the URL of Redis, how many jobs it executes at a time.
 */
import { Worker } from "bullmq";
import { jobsQueue } from "../workload.ts";
import { announce } from "./serverProcess.ts";

const [, url, concurrency] = process.argv.slice(2);
if (url === undefined) throw new RangeError("the second argument must be the URL of Redis");

const worker = new Worker<{ text: string }, string>(
  jobsQueue,
  (job) => Promise.resolve(job.data.text),
  { connection: { url, maxRetriesPerRequest: null }, concurrency: Number(concurrency) },
);
await worker.waitUntilReady();
announce({ url: "worker:", close: () => worker.close() });
