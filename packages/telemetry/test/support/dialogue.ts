/**
 * A runtime with observers under a manual clock, and dialogues with it as a carrier has them.
 */
import type { JsonObject } from "@reprise/journal";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  type Clock,
  createRuntime,
  defineServer,
  type Logger,
  notDone,
  type RunObserver,
  type RunReply,
  type RunStore,
  type Runtime,
  tool,
} from "@reprise/runtime";
import { createManualClock, createMemoryStore, type ManualClock } from "@reprise/testing";

const description = "d";

const tools = [
  tool({ name: "hello", description, effects: "repeatable", handler: () => "hello" }),
  tool({
    name: "pay",
    description,
    async handler(_args, ctx) {
      if (!(await ctx.confirm("Pay?"))) return "no";
      await ctx.step("charge", ({ attempt }) => {
        if (attempt === 1) throw notDone(new Error("busy"));
        return "charged";
      });
      return "paid";
    },
  }),
  tool({
    name: "doubt",
    description,
    handler: (_args, ctx) =>
      ctx.step("send", () => Promise.reject(new Error("lost")), { onUncertain: "fail" }),
  }),
];

/** The manual clock as the runtime's port. */
export function clockOf(clock: ManualClock): Clock {
  return { now: clock.now, monotonic: clock.now, after: clock.setTimer };
}

/** One runtime. */
export interface Dialogue {
  readonly clock: ManualClock;
  readonly runtime: Runtime;
  readonly store: RunStore;
  call(name: string, more?: CallOptions): Promise<RunReply>;
  advance(ms: number): Promise<void>;
}

/** What a call brings besides its name. */
interface CallOptions {
  readonly state?: string;
  readonly answers?: JsonObject;
  readonly traceparent?: string;
  readonly client?: string;
}

const sealer = createStateSealer({
  keys: keysFromSecrets("a secret of the tests, 32 bytes or more"),
});

/** @param observers made with the clock and store that the runtime has */
export function startDialogue(
  observers: (clock: ManualClock, store: RunStore) => readonly RunObserver[],
  wrap: (store: RunStore) => RunStore = (store) => store,
  logger?: Logger,
): Dialogue {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const runtime = createRuntime({
    server: defineServer({ name: "tests", tools }),
    store: wrap(store),
    sealer,
    clock: clockOf(clock),
    observers: observers(clock, store),
    instance: "here",
    sweep: false,
    ...(logger === undefined ? {} : { logger }),
  });
  return {
    clock,
    runtime,
    store,
    call: (name, more = {}) => call(runtime, name, more),
    advance: async (ms) => {
      await settled();
      clock.advance(ms);
      await settled();
    },
  };
}

async function call(runtime: Runtime, name: string, more: CallOptions): Promise<RunReply> {
  const handler = runtime.catalog.findTool(name);
  if (handler === undefined) throw new Error(`no tool ${name}`);
  const { traceparent, client } = more;
  return runtime.execute({
    method: "tools/call",
    handler,
    target: name,
    args: {},
    params: { name, ...(traceparent === undefined ? {} : { _meta: { traceparent } }) },
    caller: anonymous,
    client: {
      info: client === undefined ? undefined : { name: client, version: "1" },
      capabilities: { elicitation: {} },
      protocolVersion: "2026-07-28",
    },
    requestState: more.state,
    inputResponses: more.answers,
    idempotencyKey: undefined,
    logLevel: undefined,
    notifications: undefined,
    isGone: false,
    onGone: () => () => undefined,
  });
}

/** The state of a question; fails the test when the reply is none. */
export function stateOf(reply: RunReply): string {
  if (reply.kind !== "input_required") throw new Error(`no question but ${JSON.stringify(reply)}`);
  return reply.requestState;
}

export const yes: JsonObject = { confirm: { action: "accept", content: { confirm: true } } };

/** Everything that needs no timer has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
