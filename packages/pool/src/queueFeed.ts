/**
 * One queue as one front feeds it: jobs wait here in lists per caller and go into BullMQ when there is room.
 *
 * Q1 All fronts together keep at most twice as many jobs in BullMQ as its workers execute at a time, so that a job's place is
 *    decided late and by turns. A front's share follows the number of fronts that have jobs.
 * Q2 A caller with nothing in BullMQ goes ahead of those that wait there: one call of one person waits for a worker, not for
 *    another person's thousands. Between two that go ahead one that did not has ended, so nobody waits for ever.
 */
import { RepriseError } from "@reprise/errors";
import type { Logger } from "@reprise/runtime";
import { Queue } from "bullmq";
import { FairQueue, type Waiting } from "./fairQueue.ts";
import type { Packed } from "./jobCodec.ts";
import { type QueueKeys, queueKeys } from "./keys.ts";
import { beat, type Members, retire } from "./members.ts";
import type { PoolConnection } from "./redisPort.ts";

/** A job on its way. */
export interface FedJob extends Waiting {
  readonly name: "run" | "call";
  readonly data: Packed;
  /** Since when it waits, in epoch milliseconds. */
  readonly since: number;
  /** BullMQ has it. */
  added(): void;
  /** It could not be given to Redis. */
  failed(error: unknown): void;
}

/** Limits of one queue in one front. */
export interface QueueLimits {
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
}

/** Before anybody told how many workers there are. */
const UNKNOWN: Members = { fronts: 1, concurrency: 4 };
/** A job that nobody took for so long is dropped by the server; its front misses it and adds it again. */
const JOB_LIFE_MS = 24 * 60 * 60 * 1000;
const RETRY_AFTER_MS = 1000;

/** The feed of one queue. */
export class QueueFeed {
  readonly keys: QueueKeys;
  readonly #connection: PoolConnection;
  readonly #id: string;
  readonly #name: string;
  readonly #limits: QueueLimits;
  readonly #lifeMs: number;
  readonly #log: Logger;
  readonly #queue: Queue;
  readonly #waiting = new FairQueue<FedJob>();
  /** Jobs in BullMQ that have not ended: by id, their callers. */
  readonly #fed = new Map<string, { readonly principal: string; readonly isAhead: boolean }>();
  readonly #fedPerCaller = new Map<string, number>();
  #ahead = 0;
  /** Whether a job that did not go ahead has ended since the last one that did. */
  #othersWent = true;
  #members: Members = UNKNOWN;
  #isMember = false;

  constructor(
    connection: PoolConnection,
    namespace: string,
    front: string,
    name: string,
    limits: QueueLimits,
    lifeMs: number,
    log: Logger,
  ) {
    this.keys = queueKeys(namespace, name);
    this.#connection = connection;
    this.#id = front;
    this.#name = name;
    this.#limits = limits;
    this.#lifeMs = lifeMs;
    this.#log = log;
    this.#queue = new Queue(name, {
      connection: connection.client,
      prefix: this.keys.prefix,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    });
    this.#queue.on("error", (error) => {
      log.warn({ err: error, queue: name }, "the queue has lost its connection; it comes back");
    });
  }

  /** Jobs that wait here for room in BullMQ, and that are in it. */
  get counts(): { readonly waiting: number; readonly fed: number } {
    return { waiting: this.#waiting.size, fed: this.#fed.size };
  }

  /** @throws RepriseError BUSY */
  admit(principal: string): void {
    const { maxWaiting, maxWaitingPerCaller } = this.#limits;
    const isFull =
      this.#waiting.size >= maxWaiting || this.#waiting.sizeOf(principal) >= maxWaitingPerCaller;
    if (!isFull) return;
    throw new RepriseError("BUSY", "as many calls as the server may hold wait already", {
      data: { retryAfterMs: RETRY_AFTER_MS },
    });
  }

  add(job: FedJob): void {
    this.#waiting.add(job);
    if (!this.#isMember) {
      this.#isMember = true;
      // What is known of the others may be old; the first jobs go by it.
      void this.beat();
    }
    this.#pump();
  }

  /** Takes a job back that is not in BullMQ yet; false when it is. */
  withdraw(job: FedJob): boolean {
    return this.#waiting.withdraw(job);
  }

  /** Takes a job out of BullMQ that no worker has; false when one has it. Rejects when Redis can't be reached. */
  async remove(id: string): Promise<boolean> {
    return (await this.#queue.remove(id)) === 1;
  }

  /** A job that was fed has ended, whatever became of it. */
  ended(id: string): void {
    const fed = this.#fed.get(id);
    if (fed === undefined) return;
    this.#fed.delete(id);
    if (fed.isAhead) this.#ahead -= 1;
    else this.#othersWent = true;
    const left = (this.#fedPerCaller.get(fed.principal) ?? 1) - 1;
    if (left === 0) this.#fedPerCaller.delete(fed.principal);
    else this.#fedPerCaller.set(fed.principal, left);
    this.#pump();
  }

  /** Tells the others that this front has jobs, and learns of them. Never rejects. */
  async beat(): Promise<void> {
    const hasJobs = this.#waiting.size + this.#fed.size > 0;
    const member = { role: "front", id: this.#id, weight: 0 } as const;
    try {
      if (this.#isMember && !hasJobs) {
        this.#isMember = false;
        await retire(this.#connection.client, this.keys, member);
        return;
      }
      if (!hasJobs) return;
      this.#isMember = true;
      const found = await beat(this.#connection.client, this.keys, this.#lifeMs, member);
      // Workers that are all silent for a moment are busy sooner than gone: the feed must not dry up for that.
      const concurrency = found.concurrency || this.#members.concurrency;
      this.#members = { ...found, concurrency };
      this.#pump();
    } catch (error) {
      this.#log.warn({ err: error, queue: this.#name }, "Redis can't be asked who serves a queue");
    }
  }

  /**
   * Which of the jobs nobody has: not in BullMQ any more, or active without a lock. Those that are there expire from now on: not
   * from the beginning, which would cost each job a command. Rejects when Redis can't be reached.
   */
  async missing(ids: readonly string[]): Promise<readonly string[]> {
    const { client } = this.#connection;
    const found = await Promise.all(
      ids.map(async (id) => {
        const job = this.keys.job(id);
        const [[exists, startedAt], lock] = await Promise.all([
          client.call("HMGET", job, "timestamp", "processedOn") as Promise<
            readonly (string | null)[]
          >,
          client.call("EXISTS", this.keys.lock(id)),
          client.call("PEXPIRE", job, JOB_LIFE_MS),
        ]);
        return exists === null || (startedAt !== null && lock === 0);
      }),
    );
    return ids.filter((_id, index) => found[index]);
  }

  /** Jobs that are not in BullMQ; it takes no more. */
  async close(): Promise<readonly FedJob[]> {
    const left = this.#waiting.clear();
    await this.#queue.close();
    return left;
  }

  get #share(): number {
    const { fronts, concurrency } = this.#members;
    return Math.max(1, Math.floor((2 * Math.max(1, concurrency)) / fronts));
  }

  #pump(): void {
    for (;;) {
      const next = this.#waiting.peek();
      if (next === undefined) return;
      const isNew = !this.#fedPerCaller.has(next.principal);
      const isAhead = isNew && (this.#othersWent || this.#fed.size === this.#ahead);
      const room = this.#share - this.#fed.size;
      // The last place is kept for a caller who has none, where no worker idles for that.
      const keepsOne = this.#share > Math.max(1, this.#members.concurrency);
      if (room <= 0 || (room === 1 && keepsOne && !isNew)) return;
      this.#waiting.take();
      this.#feed(next, isAhead);
    }
  }

  #feed(job: FedJob, isAhead: boolean): void {
    const { id, principal } = job;
    this.#fed.set(id, { principal, isAhead });
    this.#fedPerCaller.set(principal, (this.#fedPerCaller.get(principal) ?? 0) + 1);
    if (isAhead) {
      this.#ahead += 1;
      this.#othersWent = false;
    }
    const added = this.#queue.add(job.name, job.data, {
      jobId: id,
      // The time in the lists of this front counts (queueWaits.ts).
      timestamp: job.since,
      ...(isAhead ? { lifo: true } : {}),
    });
    added.then(
      () => job.added(),
      (error: unknown) => {
        this.ended(id);
        job.failed(error);
      },
    );
  }
}
