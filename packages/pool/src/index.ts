/**
 * @reprise/pool: handlers on workers instead of in the front.
 */
export type { Waiting } from "./fairQueue.ts";
export { FairQueue } from "./fairQueue.ts";
export type { JobCodec, Packed } from "./jobCodec.ts";
export { createJobCodec } from "./jobCodec.ts";
export { JobWatch, type WatchedJobs } from "./jobWatch.ts";
export type { DispatcherQueueOptions, PoolDispatcherOptions } from "./poolDispatcher.ts";
export { createPoolDispatcher } from "./poolDispatcher.ts";
export type { PoolWorker, WorkerOptions, WorkerQueueOptions } from "./poolWorker.ts";
export { startWorker } from "./poolWorker.ts";
export type { PoolQueueDesk, PoolQueueStanding, QueueDeskOptions } from "./queueDesk.ts";
export { openQueueDesk } from "./queueDesk.ts";
export type { QueueWait } from "./queueWaits.ts";
export { queueWaits } from "./queueWaits.ts";
export type { PoolConnection, PoolRedis } from "./redisPort.ts";
