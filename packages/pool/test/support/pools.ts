/**
 * Fronts and workers of one pool in this process, on a Redis of their own and over one memory store.
 *
 * Nothing sleeps: tests wait for what they expect to see, and the runner's limit ends what never comes.
 */
import type { JsonObject } from "@reprise/journal";
import {
  createPoolDispatcher,
  type PoolConnection,
  type PoolDispatcherOptions,
  type PoolWorker,
  startWorker,
  type WorkerOptions,
} from "@reprise/pool";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  createRuntime,
  type Dispatcher,
  defineServer,
  type Executor,
  type Logger,
  type NotificationSink,
  type RunReply,
  type Runtime,
  type RuntimeOptions,
  type ServerDefinition,
  silentLogger,
} from "@reprise/runtime";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { createMemoryStore, type MemoryStore } from "@reprise/testing";
import { type RedisServer, startRedis } from "../../../../test/support/redisServer.ts";

const sealer = createStateSealer({
  keys: keysFromSecrets("a secret of the tests, 32 bytes or more"),
});

/** How long a silent worker counts as alive in these tests. */
export const LEASE_MS = 1_000;

/** A caller that can go away. */
export interface Person {
  readonly name: string;
  readonly isGone: boolean;
  onGone(listener: () => void): () => void;
  leave(): void;
}

type Client = RedisConnection["client"];
/** The client of a single server. */
type SingleClient = Exclude<Client, { readonly isCluster: true }>;

/** A front: calls tools as a carrier does. */
interface TestFront {
  readonly runtime: Runtime;
  readonly dispatcher: Dispatcher;
  call(tool: string, options?: CallOptions): Promise<RunReply>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly args?: JsonObject;
  readonly person?: Person;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  readonly notifications?: NotificationSink;
  readonly cancelled?: AbortSignal;
  readonly logLevel?: "info";
}

/** A worker and the runtime in it. */
interface TestWorker {
  readonly runtime: Runtime & Executor;
  readonly store: MemoryStore;
  readonly pool: PoolWorker;
  /** Its process is gone for everybody else: no renewal, no mail and no record comes of it any more. */
  die(): void;
  close(): Promise<void>;
}

/** One pool under a test. */
export interface TestPool {
  readonly redis: RedisServer;
  readonly client: SingleClient;
  readonly store: MemoryStore;
  connection(): Promise<PoolConnection>;
  front(options?: Partial<PoolDispatcherOptions>): Promise<TestFront>;
  worker(
    options?: Partial<WorkerOptions>,
    runtimeOptions?: Partial<RuntimeOptions>,
  ): Promise<TestWorker>;
  /** Closes everything. */
  end(): Promise<void>;
}

/** Starts a Redis and makes fronts and workers of this definition on demand. */
export async function startPool(
  server: Partial<ServerDefinition>,
  logger: Logger = silentLogger,
): Promise<TestPool> {
  const redis = await startRedis({ port: 0 });
  const closers: (() => Promise<void>)[] = [];
  /** @param made every client of the connection, those that BullMQ duplicates included */
  const connection = async (made: Pick<Client, "disconnect">[] = []): Promise<PoolConnection> => {
    const opened = await connectRedis({ url: redis.url });
    made.push(opened.client);
    return {
      client: opened.client,
      duplicate: () => {
        const client = opened.duplicate();
        made.push(client);
        const duplicate = client.duplicate.bind(client) as (...args: never[]) => Client;
        return Object.assign(client, {
          duplicate: (...args: never[]) => {
            const another = duplicate(...args);
            made.push(another);
            return another;
          },
        });
      },
    };
  };
  const store = createMemoryStore({ leaseMs: LEASE_MS });
  const definition = defineServer({ name: "tests", ...server });
  const common = { server: definition, sealer, sweep: false, logger, rateLimit: "none" } as const;
  const clients: Pick<Client, "disconnect">[] = [];
  const watching = await connectRedis({ url: redis.url });
  return {
    redis,
    client: watching.client as SingleClient,
    store,
    connection: () => connection(clients),
    async front(options = {}) {
      const dispatcher = await createPoolDispatcher({
        connection: await connection(clients),
        leaseMs: LEASE_MS,
        logger,
        ...options,
      });
      const runtime = createRuntime({ ...common, store: store.another(), dispatcher });
      const close = async (): Promise<void> => {
        await runtime.close();
        await dispatcher.close();
      };
      closers.push(close);
      return { runtime, dispatcher, close, call: (tool, given) => callTool(runtime, tool, given) };
    },
    async worker(options = {}, runtimeOptions = {}) {
      const own = store.another();
      const clientsOfIt: Pick<Client, "disconnect">[] = [];
      const runtime = createRuntime({ ...common, store: own, ...runtimeOptions });
      const pool = await startWorker({
        runtime,
        connection: await connection(clientsOfIt),
        leaseMs: LEASE_MS,
        concurrency: 4,
        logger,
        ...options,
      });
      const close = (): Promise<void> => pool.close();
      let isDead = false;
      closers.push(async () => {
        for (const one of clientsOfIt) clients.push(one);
        // A dead one's BullMQ would wait for Redis for ever.
        if (!isDead) await close();
      });
      const die = (): void => {
        isDead = true;
        own.kill();
        for (const one of clientsOfIt) one.disconnect();
      };
      return { runtime, store: own, pool, die, close };
    },
    async end() {
      await Promise.all(closers.map((close) => close()));
      for (const one of clients) one.disconnect();
      await watching.close();
      await redis.stop();
    },
  };
}

/** A caller of this name, who stays until `leave`. */
export function person(name: string): Person {
  const listeners = new Set<() => void>();
  let isGone = false;
  return {
    name,
    get isGone() {
      return isGone;
    },
    onGone(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    leave() {
      isGone = true;
      for (const listener of [...listeners]) listener();
    },
  };
}

/** Calls a tool as a carrier does. */
export async function callTool(
  runtime: Runtime,
  tool: string,
  given: CallOptions = {},
): Promise<RunReply> {
  const handler = runtime.catalog.findTool(tool);
  if (handler === undefined) throw new Error(`no tool ${tool}`);
  const { args = {}, person: who = person("anonymous") } = given;
  return runtime.execute({
    method: "tools/call",
    handler,
    target: tool,
    args,
    params: { name: tool, arguments: args },
    caller: { ...anonymous, principal: who.name, person: who.name },
    client: {
      info: undefined,
      capabilities: { elicitation: { form: {} } },
      protocolVersion: "2026-07-28",
    },
    requestState: given.requestState,
    inputResponses: given.inputResponses,
    idempotencyKey: undefined,
    logLevel: given.logLevel,
    notifications: given.notifications,
    cancelled: given.cancelled,
    get isGone() {
      return who.isGone;
    },
    onGone: (listener) => who.onGone(listener),
  });
}

/** The text of a completed call, or what came instead. */
export function text(reply: RunReply): string {
  if (reply.kind === "error") return reply.error.code;
  if (reply.kind === "input_required") return reply.kind;
  const [first] = reply.result["content"] as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

/** A promise and its resolution. */
export function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Looks every few milliseconds until it sees what it waits for. */
export async function until(sees: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await sees())) await new Promise((resolve) => setTimeout(resolve, 5));
}
