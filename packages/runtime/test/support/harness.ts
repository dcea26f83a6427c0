/**
 * A runtime under a test's control: a memory store, a manual clock, a log that is kept, and calls as a carrier makes them.
 *
 * Nothing waits for real time. `settled` lets everything run that needs no timer; `advance` moves the time and does the same.
 */
import type { JsonObject } from "@reprise/journal";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  type Caller,
  type Clock,
  createRuntime,
  defineServer,
  type Executor,
  type Logger,
  type NotificationSink,
  type RunReply,
  type RunRequest,
  type Runtime,
  type RuntimeOptions,
  type ServerDefinition,
} from "@reprise/runtime";
import {
  createManualClock,
  createMemoryStore,
  type ManualClock,
  type MemoryStore,
  type StoreMethod,
} from "@reprise/testing";

/** What a carrier may say about a call besides tool and arguments. */
export interface CallOptions {
  readonly args?: JsonObject;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  readonly idempotencyKey?: unknown;
  readonly caller?: Caller;
  readonly capabilities?: JsonObject;
  readonly notifications?: NotificationSink;
  readonly logLevel?: RunRequest["logLevel"];
  readonly gone?: Gone;
  readonly runId?: string;
  readonly mayExist?: boolean;
  readonly clientErrors?: RunRequest["clientErrors"];
  readonly cancelled?: AbortSignal;
  readonly keepsHandler?: boolean;
  /** `_meta` of the request. */
  readonly meta?: JsonObject;
}

/** A sender that can go away. */
export interface Gone {
  readonly isGone: boolean;
  onGone(listener: () => void): () => void;
  leave(): void;
}

interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** What the store's port saw, besides reads. */
interface StoreTraffic {
  readonly calls: StoreMethod[];
  /** Throws or waits before a transition is made. */
  before: (method: StoreMethod) => void | Promise<void>;
  /** Throws or waits after a transition is made: the reply is lost or late. */
  after: (method: StoreMethod) => void | Promise<void>;
}

export interface Harness {
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  readonly traffic: StoreTraffic;
  readonly runtime: Runtime & Executor;
  readonly log: LogEntry[];
  call(tool: string, options?: CallOptions): Promise<RunReply>;
  /** A runtime of another process on the same data, or this process after a deploy. */
  beside(server?: Partial<ServerDefinition>, options?: Partial<RuntimeOptions>): Harness;
  settled(): Promise<void>;
  advance(ms: number): Promise<void>;
}

export const asksAnything: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

export const person = (name: string): Caller => ({ ...anonymous, principal: name, person: name });

const sealer = createStateSealer({
  keys: keysFromSecrets("a secret of the tests, 32 bytes or more"),
});

/**
 * Starts a runtime; `sweep` is off unless a test asks for it, so that only requests claim.
 * @param sharing whether processes on the same data share records besides runs; each then looks at them every second
 */
export function startHarness(
  server: Partial<ServerDefinition>,
  options: Partial<RuntimeOptions> = {},
  sharing = false,
): Harness {
  const clock = createManualClock();
  const traffic: StoreTraffic = { calls: [], before: () => undefined, after: () => undefined };
  const store = createMemoryStore({
    ...clock,
    beforeCommit: (method) => {
      traffic.calls.push(method);
      return traffic.before(method);
    },
    afterCommit: (method) => traffic.after(method),
  });
  return harness(server, options, clock, store, traffic, sharing);
}

function harness(
  server: Partial<ServerDefinition>,
  options: Partial<RuntimeOptions>,
  clock: ManualClock,
  store: MemoryStore,
  traffic: StoreTraffic,
  sharing: boolean,
): Harness {
  const log: LogEntry[] = [];
  const runtime = createRuntime({
    server: defineServer({ name: "tests", ...server }),
    store,
    ...(sharing ? { shared: store.shared } : {}),
    sealer,
    clock: clockOf(clock),
    logger: loggerInto(log),
    sweep: false,
    ...options,
  });
  return {
    clock,
    store,
    traffic,
    runtime,
    log,
    call: (tool, given = {}) => call(runtime, tool, given),
    beside: (next = {}, nextOptions = {}) =>
      harness(
        { ...server, ...next },
        { ...options, ...nextOptions },
        clock,
        store.another(),
        traffic,
        sharing,
      ),
    settled,
    advance: async (ms) => {
      clock.advance(ms);
      await settled();
    },
  };
}

async function call(runtime: Runtime, tool: string, given: CallOptions): Promise<RunReply> {
  const handler = runtime.catalog.findTool(tool);
  if (handler === undefined) throw new Error(`no tool ${tool}`);
  const raw = given.args ?? {};
  const checked = await handler.checkArgs(raw);
  if (!checked.ok) throw new Error(checked.message);
  const gone = given.gone ?? sender();
  return runtime.execute({
    method: "tools/call",
    handler,
    target: tool,
    args: checked.args,
    params: {
      name: tool,
      arguments: raw,
      ...(given.meta === undefined ? {} : { _meta: given.meta }),
    },
    caller: given.caller ?? anonymous,
    client: {
      info: undefined,
      capabilities: given.capabilities ?? asksAnything,
      protocolVersion: "2026-07-28",
    },
    requestState: given.requestState,
    inputResponses: given.inputResponses,
    idempotencyKey: given.idempotencyKey,
    clientErrors: given.clientErrors,
    runId: given.runId,
    mayExist: given.mayExist,
    cancelled: given.cancelled,
    logLevel: given.logLevel,
    notifications: given.notifications,
    keepsHandler: given.keepsHandler === true,
    get isGone() {
      return gone.isGone;
    },
    onGone: (listener) => gone.onGone(listener),
  });
}

/** A sender that stays until it leaves. */
export function sender(): Gone {
  const listeners = new Set<() => void>();
  let isGone = false;
  return {
    get isGone() {
      return isGone;
    },
    onGone(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leave() {
      isGone = true;
      for (const listener of [...listeners]) listener();
    },
  };
}

function clockOf(clock: ManualClock): Clock {
  return { now: clock.now, monotonic: clock.now, after: clock.setTimer };
}

function loggerInto(log: LogEntry[]): Logger {
  const line =
    (level: LogEntry["level"]) =>
    (fields: object, message: string): void => {
      log.push({ level, fields: fields as Record<string, unknown>, message });
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

/** Everything that needs no timer has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Calls, then answers each question with the next set of answers. */
export async function dialogue(
  h: Harness,
  name: string,
  rounds: readonly Record<string, unknown>[],
  options: CallOptions = {},
): Promise<RunReply> {
  let reply = await h.call(name, options);
  for (const inputResponses of rounds) {
    const { requestState } = question(reply);
    reply = await h.call(name, { ...options, requestState, inputResponses });
  }
  return reply;
}

export type Question = Extract<RunReply, { kind: "input_required" }>;

/** The reply as a question; fails the test when it is none. */
export function question(reply: RunReply): Question {
  if (reply.kind === "input_required") return reply;
  throw new Error(`no question but ${show(reply)}`);
}

/** The text of a completed tool call; fails the test when it is none. */
export function text(reply: RunReply): string {
  if (reply.kind !== "complete") throw new Error(`no result but ${show(reply)}`);
  const [first] = reply.result["content"] as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

/** The code of an error reply; fails the test when it is none. */
export function code(reply: RunReply): string {
  if (reply.kind === "error") return reply.error.code;
  throw new Error(`no error but ${show(reply)}`);
}

function show(reply: RunReply): string {
  return reply.kind === "error"
    ? `${reply.error.code}: ${reply.error.message}`
    : JSON.stringify(reply);
}

export const yes: JsonObject = { action: "accept", content: { confirm: true } };
export const no: JsonObject = { action: "accept", content: { confirm: false } };
export const decline: JsonObject = { action: "decline" };
export const cancel: JsonObject = { action: "cancel" };
export const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });

/** A promise that a test settles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((one, other) => {
    resolve = one;
    reject = other;
  });
  return { promise, resolve, reject };
}
