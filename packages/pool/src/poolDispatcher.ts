/**
 * The dispatcher of fronts whose handlers run on workers: jobs through BullMQ, replies through a stream per front.
 *
 * Called by a runtime through the `Dispatcher` port; workers are `startWorker`'s.
 *
 * P1 A job's outcome is never only in a mail: a queued run has its record, and a call that is missed is unanswered, upon which
 *    the runtime decides. What is missed is found by looking for jobs that nobody has.
 * P2 Nothing here outlives its front: what waits in it is found by the sweep of another one, or asked for again.
 */
import { randomUUID } from "node:crypto";
import { RepriseError } from "@reprise/errors";
import {
  type CallReply,
  type Dispatcher,
  type Logger,
  type NotificationSink,
  type QueuedJob,
  type RemoteCall,
  type RunJob,
  type Sender,
  silentLogger,
  systemClock,
} from "@reprise/runtime";
import { cancelNotice } from "./goneCalls.ts";
import { createJobCodec, type JobCodec } from "./jobCodec.ts";
import { JobWatch } from "./jobWatch.ts";
import { checkName, goneChannel, mailboxKey } from "./keys.ts";
import { type Mail, Mailbox } from "./mails.ts";
import { notify, wantsOf } from "./notices.ts";
import { type FedJob, QueueFeed, type QueueLimits } from "./queueFeed.ts";
import type { PoolConnection } from "./redisPort.ts";

/** How a front holds the jobs of one queue. */
export interface DispatcherQueueOptions {
  /** Jobs that wait in this front. More are BUSY. Default 20,000. */
  readonly maxWaiting?: number;
  /** Of those, jobs of one caller. Default 10,000. */
  readonly maxWaitingPerCaller?: number;
}

/** Options of `createPoolDispatcher`. */
export interface PoolDispatcherOptions {
  readonly connection: PoolConnection;
  /** First part of every key. Default `"reprise"`; the same as the workers'. */
  readonly namespace?: string;
  /** By the name that handlers give as `queue`. */
  readonly queues?: Readonly<Record<string, DispatcherQueueOptions>>;
  /** Which job goes first of those that wait here: 0 is normal, higher goes earlier. Default: all are 0. */
  readonly priority?: (job: RunJob | RemoteCall) => number;
  /** Encrypts what jobs and replies hold. The first encrypts, all decrypt. At least 32 bytes each. */
  readonly jobEncryptionKey?: string | readonly string[];
  /** How long a worker may be silent before its jobs count as lost; the same as the workers'. Default 10000. */
  readonly leaseMs?: number;
  readonly logger?: Logger;
}

interface Open {
  readonly feed: QueueFeed;
  readonly fed: FedJob;
  readonly notifications: NotificationSink | undefined;
  /** When BullMQ got it; undefined while it waits here. */
  addedAt: number | undefined;
  /** Requests of this front that wait for a run's job. */
  waiters: number;
  end(reply: CallReply | undefined): void;
}

const goneReply: CallReply = {
  kind: "error",
  code: "INTERRUPTED",
  message: "the request is gone",
};
const cancelledReply: CallReply = {
  kind: "error",
  code: "RUN_CANCELLED",
  message: "the run was cancelled",
  data: { round: 0, status: "cancelled" },
};
/** How often the workers are told that a caller is gone, until one of them has stopped its call. */
const GONE_AGAIN_MS = 500;

/**
 * Opens the front's side of the pool.
 * @throws RepriseError CONFIG_INVALID for a name that can't be part of a key, STORE_UNAVAILABLE when Redis does not answer;
 *   RangeError for a key that is too short
 */
export async function createPoolDispatcher(options: PoolDispatcherOptions): Promise<Dispatcher> {
  const dispatcher = new PoolDispatcher(options);
  await dispatcher.open();
  return dispatcher;
}

class PoolDispatcher implements Dispatcher {
  readonly #connection: PoolConnection;
  readonly #namespace: string;
  readonly #queues: Readonly<Record<string, DispatcherQueueOptions>>;
  readonly #priority: (job: RunJob | RemoteCall) => number;
  readonly #leaseMs: number;
  readonly #codec: JobCodec;
  readonly #log: Logger;
  readonly #id = randomUUID();
  readonly #mailbox: Mailbox;
  readonly #feeds = new Map<string, QueueFeed>();
  readonly #open = new Map<string, Open>();
  /** Of runs whose jobs are open: what resolves at their end. */
  readonly #runs = new Map<string, Promise<void>>();
  readonly #watch: JobWatch;
  #beatTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: PoolDispatcherOptions) {
    const { connection, namespace = "reprise", queues = {}, jobEncryptionKey = [] } = options;
    this.#connection = connection;
    this.#namespace = checkName("namespace", namespace);
    this.#queues = queues;
    this.#priority = options.priority ?? (() => 0);
    this.#leaseMs = options.leaseMs ?? 10_000;
    this.#log = options.logger ?? silentLogger;
    this.#codec = createJobCodec([jobEncryptionKey].flat());
    this.#mailbox = new Mailbox(
      connection.client,
      connection.duplicate(),
      mailboxKey(this.#namespace, this.#id),
      this.#codec,
      this.#log,
      (mail) => this.#receive(mail),
    );
    this.#watch = new JobWatch(systemClock, this.#leaseMs, {
      open: (forMs) => this.#openFor(forMs),
      missing: (ids) => this.#missing(ids),
      lost: (id) => this.#lost(id),
      failed: (error) => this.#unreachable(error),
    });
  }

  async open(): Promise<void> {
    try {
      await this.#mailbox.open();
    } catch (cause) {
      await this.#mailbox.close().catch(() => undefined);
      throw unavailable(cause);
    }
    this.#keepBeating();
    this.#watch.start();
  }

  admit(queue: string, principal: string): void {
    if (this.#closed) throw unavailable(undefined);
    this.#feed(queue).admit(principal);
  }

  enqueue(job: RunJob, notifications: NotificationSink | undefined): QueuedJob {
    // BullMQ separates with colons.
    const id = `${job.runId}-${job.round}-${job.epoch}`;
    const known = this.#runs.get(id);
    const ended = known ?? this.#enqueued(id, job, notifications);
    const open = this.#open.get(id);
    if (open !== undefined) open.waiters += 1;
    return {
      ended,
      release: () => {
        if (open === undefined || this.#open.get(id) !== open) return;
        open.waiters -= 1;
        // Its outcome is known, or nobody asks for it any more; what becomes of the job is the worker's.
        if (open.waiters === 0 && open.addedAt !== undefined) this.#end(id, open, undefined);
      },
    };
  }

  #enqueued(id: string, job: RunJob, notifications: NotificationSink | undefined): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const ended = new Promise<void>((resolve) => {
      const end = (): void => {
        this.#runs.delete(id);
        resolve();
      };
      this.#add(id, "run", job, notifications, end);
    });
    this.#runs.set(id, ended);
    return ended;
  }

  call(
    call: RemoteCall,
    notifications: NotificationSink | undefined,
    sender: Sender,
  ): Promise<CallReply> {
    if (this.#closed) return Promise.reject(unavailable(undefined));
    return new Promise((resolve, reject) => {
      // A call that is made again is another job: the first one's may still be there.
      const id = randomUUID();
      const stopTelling: (() => void)[] = [];
      const { cancelled } = sender;
      const end = (reply: CallReply | undefined, error?: unknown): void => {
        stopListening();
        cancelled?.removeEventListener("abort", onCancelled);
        for (const stop of stopTelling) stop();
        if (error !== undefined) reject(error);
        else resolve(reply ?? { kind: "unanswered", died: true });
      };
      const onGone = (): void => {
        stopTelling.push(this.#tell(id, id, goneReply));
      };
      const onCancelled = (): void => {
        stopTelling.push(this.#tell(id, cancelNotice(id), cancelledReply));
      };
      const stopListening = sender.onGone(onGone);
      cancelled?.addEventListener("abort", onCancelled, { once: true });
      this.#add(id, "call", call, notifications, end);
      if (sender.isGone) onGone();
      if (cancelled?.aborted === true) onCancelled();
    });
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    if (this.#closed) return { ok: false, reason: "the dispatcher is closed" };
    const { status } = this.#connection.client;
    return status === "ready" || status === "connect"
      ? { ok: true }
      : { ok: false, reason: `the connection to Redis is ${status}` };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#beatTimer);
    this.#watch.close();
    await Promise.allSettled([
      this.#mailbox.close(),
      ...[...this.#feeds.values()].map((feed) => feed.close()),
    ]);
    for (const open of [...this.#open.values()]) open.end({ kind: "unanswered", died: false });
    this.#open.clear();
  }

  #add(
    id: string,
    name: FedJob["name"],
    job: RunJob | RemoteCall,
    notifications: NotificationSink | undefined,
    end: (reply: CallReply | undefined, error?: unknown) => void,
  ): void {
    const feed = this.#feed(job.queue);
    const content = {
      front: mailboxKey(this.#namespace, this.#id),
      wants: wantsOf(notifications),
      job,
    };
    const fed: FedJob = {
      id,
      name,
      principal: "principal" in job ? job.principal : job.caller.principal,
      priority: this.#priority(job),
      data: this.#codec.pack(content),
      since: Date.now(),
      added: () => {
        open.addedAt = Date.now();
      },
      failed: (error) => {
        this.#open.delete(id);
        this.#log.warn({ err: error, queue: job.queue }, "a job could not be given to Redis");
        end(undefined, unavailable(error));
      },
    };
    const open: Open = { feed, fed, notifications, addedAt: undefined, waiters: 0, end };
    this.#open.set(id, open);
    feed.add(fed);
  }

  #receive(mail: Mail): void {
    const open = this.#open.get(mail.id);
    if (open === undefined) return;
    if (mail.kind === "reply") this.#end(mail.id, open, mail.reply);
    else if (mail.kind === "done") this.#end(mail.id, open, undefined);
    else notify(open.notifications, mail);
  }

  #end(id: string, open: Open, reply: CallReply | undefined): void {
    this.#open.delete(id);
    open.feed.ended(id);
    open.end(reply);
  }

  /**
   * Stops a call that nobody waits for any more: here, with `reply`, or wherever it is, by `notice`. Returns how to stop telling.
   */
  #tell(id: string, notice: string, reply: CallReply): () => void {
    const open = this.#open.get(id);
    if (open === undefined) return () => undefined;
    const over = (): void => {
      // A mail may have come meanwhile.
      if (this.#open.get(id) === open) this.#end(id, open, reply);
    };
    if (open.feed.withdraw(open.fed)) {
      over();
      return () => undefined;
    }
    open.feed.remove(id).then(
      (isRemoved) => {
        if (isRemoved) over();
      },
      () => undefined,
    );
    const tell = (): void => {
      // A worker that did not hear it, or takes the job only later, hears it again.
      this.#connection.client
        .call("PUBLISH", goneChannel(this.#namespace), notice)
        .catch(() => undefined);
    };
    tell();
    const timer = setInterval(tell, GONE_AGAIN_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  async #beat(): Promise<void> {
    await this.#mailbox.keep();
    await Promise.all([...this.#feeds.values()].map((feed) => feed.beat()));
  }

  /** Jobs that BullMQ has had for so long. */
  #openFor(forMs: number): readonly string[] {
    const before = Date.now() - forMs;
    return [...this.#open]
      .filter(([, { addedAt }]) => addedAt !== undefined && addedAt <= before)
      .map(([id]) => id);
  }

  async #missing(ids: readonly string[]): Promise<readonly string[]> {
    const missing = await Promise.all(
      [...this.#feeds.values()].map((feed) =>
        feed.missing(ids.filter((id) => this.#open.get(id)?.feed === feed)),
      ),
    );
    return missing.flat();
  }

  /** A job that its worker left behind (P1). */
  #lost(id: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    const isCall = open.fed.name === "call";
    // A run's job may have been another front's, or its mail be late: the record tells.
    const level = isCall ? "warn" : "debug";
    this.#log[level]({ job: id }, "a job is lost: its worker is gone, or Redis has forgotten it");
    const end = (isGone: boolean): void => {
      if (!isGone || this.#open.get(id) !== open) return;
      this.#end(id, open, isCall ? { kind: "unanswered", died: true } : undefined);
    };
    // BullMQ takes no second job of one name while it keeps what is left of the first, and a run is queued again under its own.
    // What a worker has all the same is locked and stays.
    open.feed.remove(id).then(end, () => end(true));
  }

  #feed(name: string): QueueFeed {
    const known = this.#feeds.get(name);
    if (known !== undefined) return known;
    const { maxWaiting = 20_000, maxWaitingPerCaller = 10_000 } = this.#queues[name] ?? {};
    const limits: QueueLimits = { maxWaiting, maxWaitingPerCaller };
    const feed = new QueueFeed(
      this.#connection,
      this.#namespace,
      this.#id,
      checkName("queue", name),
      limits,
      this.#leaseMs,
      this.#log,
    );
    this.#feeds.set(name, feed);
    return feed;
  }

  #keepBeating(): void {
    let isRunning = false;
    this.#beatTimer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      this.#beat()
        .catch((error: unknown) => this.#unreachable(error))
        .finally(() => {
          isRunning = false;
        });
    }, this.#leaseMs / 5);
    this.#beatTimer.unref();
  }

  #unreachable(error: unknown): void {
    if (!this.#closed) this.#log.warn({ err: error }, "the pool can't reach Redis");
  }
}

function unavailable(cause: unknown): RepriseError {
  return new RepriseError("STORE_UNAVAILABLE", "the pool can't be reached; repeat the request", {
    data: { retryAfterMs: 1000 },
    ...(cause === undefined ? {} : { cause }),
  });
}
