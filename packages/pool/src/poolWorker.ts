/**
 * A process that executes what fronts queue: BullMQ workers, one per queue, around one runtime.
 *
 * R1 A job is tried once: what becomes of a run that a worker did not finish is decided by its record, of a call by its front.
 * R2 A job's outcome is sent when BullMQ is told that the job is over; whoever misses either looks twice before it counts as lost.
 * R3 `close` takes no more jobs, lets running ones end or hand over, and only then lets go of Redis.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { RepriseError } from "@reprise/errors";
import {
  type Executor,
  type Logger,
  type RemoteCall,
  type RunJob,
  type Runtime,
  silentLogger,
} from "@reprise/runtime";
import { type Job, Worker } from "bullmq";
import { GoneCalls } from "./goneCalls.ts";
import { createJobCodec, type JobCodec } from "./jobCodec.ts";
import { checkName, goneChannel, type QueueKeys, queueKeys } from "./keys.ts";
import { Outbox } from "./mails.ts";
import { beat, type Membership, retire } from "./members.ts";
import { sinkFor, type Wants } from "./notices.ts";
import type { PoolConnection, PoolRedis } from "./redisPort.ts";

/** How a worker serves one queue. */
export interface WorkerQueueOptions {
  /** Jobs that this process executes at a time. Default: `concurrency` of the worker. */
  readonly concurrency?: number;
  /** Jobs that all workers together begin, at most `max` in `perMs` milliseconds. Default: no limit. */
  readonly rateLimit?: { readonly max: number; readonly perMs: number };
}

/** Options of `startWorker`. */
export interface WorkerOptions {
  /** Over the definition that the fronts serve. `close` closes it. */
  readonly runtime: Runtime & Executor;
  readonly connection: PoolConnection;
  /** First part of every key. Default `"reprise"`; the same as the fronts'. */
  readonly namespace?: string;
  /** The queues to serve. Default: all that handlers of the definition name. */
  readonly queues?: readonly string[];
  /** By queue. */
  readonly queueOptions?: Readonly<Record<string, WorkerQueueOptions>>;
  /** Jobs of each queue at a time. Default 16. */
  readonly concurrency?: number;
  /** As the fronts'. */
  readonly jobEncryptionKey?: string | readonly string[];
  /** As the fronts'. Default 10000. */
  readonly leaseMs?: number;
  readonly logger?: Logger;
}

/** A worker that takes jobs. */
export interface PoolWorker {
  /** The queues that it serves. */
  readonly queues: readonly string[];
  /** Jobs that are executed now. */
  readonly running: number;
  /** Takes no more jobs, closes the runtime (which lets attempts end or hand over), lets go of Redis. Idempotent. */
  close(): Promise<void>;
}

/** How long BullMQ waits before it tries again to fetch when Redis was away. */
const RETRY_MS = 250;
/** How long a worker that closes tries to tell BullMQ so. */
const FAREWELL_MS = 2_000;

/**
 * Starts to execute what fronts queue. Resolves when it takes jobs.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE; RangeError naming the option
 */
export async function startWorker(options: WorkerOptions): Promise<PoolWorker> {
  const { concurrency = 16, leaseMs = 10_000, queueOptions = {} } = options;
  for (const [name, value] of Object.entries({ concurrency, leaseMs })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} is ${value}; give a whole number of at least 1`);
    }
  }
  const names = options.queues ?? options.runtime.catalog.queues;
  for (const name of names) checkName("queue", name);
  const settings = { ...options, concurrency, leaseMs, queueOptions, queues: names };
  const worker = new RunningWorker(settings);
  try {
    await worker.open();
  } catch (cause) {
    await worker.close();
    const message = "the worker can't reach Redis";
    throw new RepriseError("STORE_UNAVAILABLE", message, { cause });
  }
  return worker;
}

type Settings = WorkerOptions &
  Required<Pick<WorkerOptions, "concurrency" | "leaseMs" | "queueOptions" | "queues">>;

interface Served {
  readonly keys: QueueKeys;
  readonly member: Membership;
  readonly worker: Worker;
  readonly client: PoolRedis;
}

interface Content {
  readonly front: string;
  readonly wants: Wants;
  readonly job: RunJob | RemoteCall;
}

class RunningWorker implements PoolWorker {
  readonly queues: readonly string[];
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #codec: JobCodec;
  readonly #id = randomUUID();
  readonly #served: Served[] = [];
  readonly #listener: PoolRedis;
  readonly #outbox: Outbox;
  readonly #gone = new GoneCalls();
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.queues = settings.queues;
    this.#log = settings.logger ?? silentLogger;
    this.#codec = createJobCodec([settings.jobEncryptionKey ?? []].flat());
    this.#listener = settings.connection.duplicate();
    this.#outbox = new Outbox(settings.connection.client, this.#codec, this.#log);
  }

  get running(): number {
    return this.#running;
  }

  async open(): Promise<void> {
    const { leaseMs, namespace = "reprise" } = this.#settings;
    checkName("namespace", namespace);
    // What follows waits for Redis as long as it takes; this command does not.
    await this.#settings.connection.client.call("PING");
    this.#listener.on("error", () => undefined);
    this.#listener.on("message", (_channel, id) => this.#gone.add(id));
    await this.#listener.subscribe(goneChannel(namespace));
    for (const name of this.queues) this.#served.push(this.#serve(namespace, name));
    await Promise.all(this.#served.map(({ worker }) => worker.waitUntilReady()));
    await this.#beat();
    this.#timer = setInterval(() => {
      this.#beat().catch((error: unknown) => {
        this.#log.warn({ err: error }, "the worker can't tell Redis that it is there");
      });
    }, leaseMs / 5);
    this.#timer.unref();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    const { connection, runtime } = this.#settings;
    await Promise.allSettled([
      ...this.#served.map(({ worker }) => worker.pause(true)),
      ...this.#served.map(({ keys, member }) => retire(connection.client, keys, member)),
    ]);
    await runtime.close();
    // BullMQ waits without end for a Redis that is away, and has nothing to tell it that counts (R1).
    const farewell = new AbortController();
    await Promise.race([
      Promise.allSettled(
        // Cut short, it stops its timers at least.
        this.#served.map(({ worker, client }) => worker.close(!isConnected(client))),
      ),
      pause(FAREWELL_MS, undefined, { signal: farewell.signal }).catch(() => undefined),
    ]);
    farewell.abort();
    for (const { client } of this.#served) client.disconnect();
    this.#listener.disconnect();
  }

  #serve(namespace: string, name: string): Served {
    const { connection, leaseMs, queueOptions, concurrency: usual } = this.#settings;
    const { concurrency = usual, rateLimit } = queueOptions[name] ?? {};
    const keys = queueKeys(namespace, name);
    const client = connection.duplicate();
    const worker = new Worker(name, (job: Job) => this.#execute(job), {
      connection: client,
      prefix: keys.prefix,
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs / 2,
      maxStalledCount: 0,
      runRetryDelay: RETRY_MS,
      ...(rateLimit === undefined
        ? {}
        : { limiter: { max: rateLimit.max, duration: rateLimit.perMs } }),
    });
    worker.on("error", (error) => {
      if (this.#closing === undefined) {
        this.#log.warn({ err: error, queue: name }, "the worker of a queue has met an error");
      }
    });
    return { keys, member: { role: "worker", id: this.#id, weight: concurrency }, worker, client };
  }

  async #beat(): Promise<void> {
    const { connection, leaseMs } = this.#settings;
    await Promise.all(
      this.#served.map(({ keys, member }) => beat(connection.client, keys, leaseMs, member)),
    );
  }

  /** Executes a job. What it throws is only logged by BullMQ: the front finds that the job is gone. */
  async #execute(job: Job): Promise<void> {
    const { id = "", name } = job;
    const { front, wants, job: content } = this.#codec.unpack(job.data) as unknown as Content;
    const { runtime } = this.#settings;
    const sink = sinkFor(id, wants, (notice) => this.#outbox.send(front, notice));
    this.#running += 1;
    try {
      if (name === "run") {
        await runtime.runQueued(content as RunJob, sink);
        this.#outbox.send(front, { id, kind: "done" });
        return;
      }
      const sender = this.#gone.sender(id);
      const reply = await runtime.runCall(content as RemoteCall, sink, sender);
      this.#gone.forget(id);
      this.#outbox.send(front, { id, kind: "reply", reply });
    } finally {
      this.#running -= 1;
    }
  }
}

/** A Cluster's client is never more than `connect`. */
function isConnected({ status }: PoolRedis): boolean {
  return status === "ready" || status === "connect";
}
