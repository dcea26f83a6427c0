/**
 * The harness: an author's server on the shipped runtime and a store in memory, with a client that a test plays.
 *
 * H1 No socket, no Redis, no time: what waits in ctx goes on at once, and leases end when a process dies.
 * H2 The client does what a good client does: each call has one idempotency key, and a request whose process died is sent again, to
 *    another process on the same data.
 * H3 Of the handshake era it plays what the runtime does: the handler stays where it asks, and is replayed only after a crash. How
 *    questions look on the wires of old revisions is the front's, and not played.
 */
import type { JsonObject } from "@reprise/journal";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  attach,
  type Caller,
  createRuntime,
  type RunRecord,
  type RunReply,
  type Runtime,
  type ServerDefinition,
} from "@reprise/runtime";
import { createMemoryStore, type MemoryStore } from "../memoryStore.ts";
import { type Crash, crashingStore } from "./crashingStore.ts";
import { HarnessTime } from "./harnessTime.ts";
import { type JournalFit, replayRecord } from "./replayRecord.ts";
import { Reply } from "./reply.ts";
import { watchedServer } from "./watchedServer.ts";

/** How a harness plays. */
export interface HarnessOptions {
  /** `modern`: MCP 2026-07-28, the handler runs again in each round. `legacy`: 2025-11-25, it stays. Default `modern`. */
  readonly era?: "modern" | "legacy";
  /** Who calls. Default: nobody in particular, `anonymous`. */
  readonly caller?: Caller;
  /** What the client declares. Default: everything that can be asked. */
  readonly capabilities?: JsonObject;
}

/** A server under test. */
export interface Harness {
  /** Calls a tool. @throws Error for an unknown tool or arguments that its schema refuses */
  call(tool: string, args?: JsonObject): Promise<Reply>;
  /**
   * The next time this step has run, the process dies: before its result is recorded (default), or after that. Another process
   * goes on with the request. Steps of repeatable handlers are not recorded, so nothing dies there.
   */
  crashAfter(step: string, when?: Crash["when"]): void;
  /** Processes that have died. */
  readonly crashes: number;
  /** Lets time pass while nobody asks: questions expire, keys are forgotten. */
  pass(ms: number): Promise<void>;
  /** Every recorded run, as JSON: what `replay` takes. */
  records(): readonly RunRecord[];
  /**
   * Replays a recorded run against this server's handlers, up to the end of its journal: no step and no read is executed.
   * @param record a `RunRecord` as JSON, from `records()` or from a store in production
   * @throws TypeError for what is no record; Error when the server has no such tool or the record no journal of this format
   */
  replay(record: unknown): Promise<JournalFit>;
  /** Ends it. Idempotent. */
  close(): Promise<void>;
}

const everything: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

const sealer = createStateSealer({
  keys: keysFromSecrets("the secret of all harnesses, 32 bytes"),
});

/**
 * Makes a harness.
 * @throws RepriseError DEFINITION_INVALID or SCHEMA_UNSUPPORTED, as a start of the server would
 */
export async function harness(
  server: ServerDefinition,
  options: HarnessOptions = {},
): Promise<Harness> {
  const played = new PlayedServer(server, options);
  await played.ready;
  return played;
}

interface Sent {
  readonly tool: string;
  readonly args: JsonObject;
  readonly call: number;
  readonly requestState: string | undefined;
  readonly inputResponses: JsonObject | undefined;
}

class PlayedServer implements Harness {
  readonly #server: ServerDefinition;
  readonly #options: HarnessOptions;
  readonly #time = new HarnessTime();
  readonly #data: MemoryStore;
  #runtime: Runtime;
  #detach: () => void = () => undefined;
  #died: Promise<void> = Promise.resolve();
  #crash: Crash | undefined;
  #crashes = 0;
  #calls = 0;

  constructor(server: ServerDefinition, options: HarnessOptions) {
    this.#server = server;
    this.#options = options;
    this.#data = createMemoryStore(this.#time.clock);
    this.#runtime = this.#start();
  }

  get ready(): Promise<void> {
    return this.#runtime.ready;
  }

  get crashes(): number {
    return this.#crashes;
  }

  call(tool: string, args: JsonObject = {}): Promise<Reply> {
    this.#calls += 1;
    const none = { requestState: undefined, inputResponses: undefined };
    return this.#send({ tool, args, call: this.#calls, ...none });
  }

  crashAfter(step: string, when: Crash["when"] = "before record"): void {
    this.#crash = { step, when };
  }

  pass(ms: number): Promise<void> {
    return this.#time.pass(ms);
  }

  records(): readonly RunRecord[] {
    return this.#data.snapshot().runs;
  }

  replay(record: unknown): Promise<JournalFit> {
    return replayRecord(this.#server, record);
  }

  async close(): Promise<void> {
    this.#detach();
    await this.#time.until(this.#runtime.close());
  }

  async #send(sent: Sent): Promise<Reply> {
    for (;;) {
      const reply = await this.#time.until(
        Promise.race([this.#execute(sent), this.#died.then(() => undefined)]),
      );
      // H2: the process died, and the client sends the same request again.
      if (reply === undefined) continue;
      return new Reply(reply, (answers) =>
        this.#send(answers === undefined ? sent : next(sent, reply, answers)),
      );
    }
  }

  async #execute(sent: Sent): Promise<RunReply> {
    const { tool, args, call, requestState, inputResponses } = sent;
    const { era = "modern", caller = anonymous, capabilities = everything } = this.#options;
    const handler = this.#runtime.catalog.findTool(tool);
    if (handler === undefined) throw new Error(`the server has no tool "${tool}"`);
    const checked = await handler.checkArgs(args);
    if (!checked.ok) throw new Error(`the arguments of "${tool}" are refused: ${checked.message}`);
    return this.#runtime.execute({
      method: "tools/call",
      handler,
      target: tool,
      args: checked.args,
      params: { name: tool, arguments: args },
      caller,
      client: {
        info: undefined,
        capabilities,
        protocolVersion: era === "modern" ? "2026-07-28" : "2025-11-25",
      },
      requestState,
      inputResponses,
      idempotencyKey: `call-${call}-of-a-harness-that-repeats-it`,
      logLevel: undefined,
      notifications: undefined,
      keepsHandler: era === "legacy",
      isGone: false,
      onGone: () => () => undefined,
    });
  }

  #start(): Runtime {
    const store = this.#data.another();
    let die: () => void = () => undefined;
    this.#died = new Promise((resolve) => {
      die = resolve;
    });
    const dies = (): Promise<never> => {
      this.#crash = undefined;
      this.#crashes += 1;
      store.kill();
      this.#detach();
      this.#runtime = this.#start();
      die();
      return new Promise(() => undefined);
    };
    const { clock } = this.#time;
    const runtime = createRuntime({
      server: watchedServer(this.#server, (_kind, _name, work) => this.#time.during(work)),
      store: crashingStore(store, () => this.#crash, dies),
      shared: store.shared,
      sealer,
      clock: { now: clock.now, monotonic: clock.now, after: clock.setTimer },
      sweep: false,
    });
    // The author's own code, such as a web page, reaches what it has defined.
    this.#detach = attach(this.#server, runtime);
    return runtime;
  }
}

function next(sent: Sent, reply: RunReply, inputResponses: JsonObject): Sent {
  if (reply.kind !== "input_required") return sent;
  return { ...sent, requestState: reply.requestState, inputResponses };
}
