/**
 * One instance of the server: a real engine on a real store, with every way out of the process under the test's hand.
 *
 * Every store call and every call to the outside world is a port call. A fault strikes at one of them, before it is made or
 * after it was: the instance dies, or stands still for long enough to be taken for dead, or the store fails, or the client goes.
 *
 * I1 Nothing leaves a dead instance, and nothing reaches it.
 * I2 A paused instance makes no call and gets no reply until it is resumed; then it goes on as if nothing had been.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  createRuntime,
  defineServer,
  type ElicitationCompleter,
  type RunStore,
  type Runtime,
  type ServerDefinition,
  type SharedRecords,
  type StateSealer,
  tool,
} from "@reprise/runtime";
import { watchedServer } from "../harness/watchedServer.ts";
import type { Call, Completes, Fault, Reply, ServedCall } from "./calls.ts";
import { execute } from "./execute.ts";
import { type Hands, OutsideOf } from "./outside.ts";
import type { Program } from "./program.ts";
import { asData } from "./replies.ts";
import type { Timing } from "./timing.ts";
import { watchedShared } from "./watchedShared.ts";
import { watchedStore } from "./watchedStore.ts";
import type { World } from "./world.ts";

/** What an instance is made of. */
export interface InstanceOptions {
  readonly name: string;
  readonly program: Program;
  /** Whether first calls have an idempotency key. */
  readonly keyed: boolean;
  readonly store: RunStore;
  /** Where URL asks meet their pages. Default: records of the process alone. */
  readonly shared?: SharedRecords | undefined;
  /** Default: one that all instances of all cases have. */
  readonly sealer?: StateSealer;
  /** Wraps what completes URL asks. Default: nothing. */
  readonly completer?: (completer: ElicitationCompleter) => ElicitationCompleter;
  readonly world: World;
  readonly time: Timing;
  /** Where ids, tokens and seeds come from. Default: random. */
  readonly random?: () => string;
  /** Whether the store's messages about stopped attempts arrive. Default: every one is lost. */
  readonly hears?: boolean;
  readonly sweeps: boolean;
  /** Notes every call of the store but those of a sweep. Default false. */
  readonly tellsStoreCalls?: boolean;
  /** How far its wall clock is ahead of the store's, in milliseconds. Default 0. */
  readonly aheadMs?: number;
  /** An author's server in place of the program. */
  readonly served?: ServedCall | undefined;
  /** The instance is dead, or taken for dead. */
  readonly onDown: (how: "crash" | "pause") => void;
}

/** Opens and seals the states of all cases. */
export const commonSealer: StateSealer = createStateSealer({
  keys: keysFromSecrets("one secret for all instances of a case"),
});
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
/** What a process that sweeps does of itself, whatever handlers it has. */
const sweeping = new Set(["store findAbandoned", "store removeExpired"]);
/** One for each that waits: a shared one would keep what waits for it, and so every case. */
const never = (): Promise<never> => new Promise(() => undefined);
const toolName = "program";

/** One instance. */
export class Instance implements Hands {
  readonly name: string;
  readonly version: string;
  readonly #options: InstanceOptions;
  readonly #runtime: Runtime;
  readonly #pages: ElicitationCompleter;
  readonly #onLost = new Set<() => void>();
  readonly #onGone = new Set<() => void>();
  #fault: Fault | undefined;
  #calls = 0;
  #dead = false;
  #resume: (() => void) | undefined;
  #resumed: Promise<void> | undefined;
  #pausedAt = 0;
  #stoodStillMs = 0;

  constructor(options: InstanceOptions) {
    const { name, program, time, aheadMs = 0, shared, hears = false } = options;
    const { sealer = commonSealer, completer = (own) => own } = options;
    this.name = name;
    this.version = program.version;
    this.#options = options;
    this.#runtime = createRuntime({
      server: options.served === undefined ? this.#programmed() : this.#watched(options.served),
      store: watchedStore(options.store, options.world, this, hears, time.now),
      ...(shared === undefined ? {} : { shared: watchedShared(shared, this, hears) }),
      ...(options.random === undefined ? {} : { random: options.random }),
      sealer,
      sweep: options.sweeps,
      clock: {
        now: () => time.now() + aheadMs,
        monotonic: time.monotonic,
        after: (ms, work) => time.after(ms, () => this.#whenAwake(work)),
      },
      turn: (work) => {
        time.stir();
        return time.turn(() => this.#whenAwake(work));
      },
    });
    this.#pages = completer(this.#runtime.elicitations);
  }

  #programmed(): ServerDefinition {
    const { program, keyed, world, time } = this.#options;
    const outside = new OutsideOf(this, world, time);
    return defineServer({
      name: "properties",
      tools: [
        tool({
          name: toolName,
          description: "executes a random program",
          version: program.version,
          ...(program.answerWithinMs === undefined ? {} : { answerWithin: program.answerWithinMs }),
          ...(keyed ? { idempotency: { key: () => "the one order" } } : {}),
          ...(program.repeatable === true ? { effects: "repeatable" as const } : {}),
          handler: (_args, ctx) => execute(program, outside, ctx),
        }),
      ],
    });
  }

  /** Every function of a step or read is a call to the outside. */
  #watched({ server }: ServedCall): ServerDefinition {
    return watchedServer(server, (kind, name, work) =>
      this.port(`${kind} ${name}`, false, async () => work()),
    );
  }

  get isUp(): boolean {
    return !this.#dead && this.#resumed === undefined;
  }

  /** Executes a request. The reply is "lost" when the instance goes down before it is there. */
  execute(call: Call, fault?: Fault): Promise<Reply> {
    this.#fault = fault === undefined ? undefined : { ...fault, at: this.#calls + fault.at };
    const { tool: name = toolName, args = {}, idempotencyKey } = this.#options.served ?? {};
    const handler = this.#runtime.catalog.findTool(name);
    if (handler === undefined) throw new Error(`the server has no tool "${name}"`);
    if (!this.isUp) return Promise.resolve({ kind: "lost" });
    if (call.cancels !== undefined) return this.#cancel(call.cancels);
    if (call.completes !== undefined) return this.#complete(call.completes);
    let isGone = false;
    const listeners = new Set<() => void>();
    return new Promise((resolve) => {
      const lost = (): void => resolve({ kind: "lost" });
      const gone = (): void => {
        isGone = true;
        for (const listener of listeners) listener();
        lost();
      };
      this.#onLost.add(lost);
      this.#onGone.add(gone);
      const request = {
        method: "tools/call" as const,
        handler,
        target: name,
        args,
        params: { name, arguments: args },
        caller: anonymous,
        client: { info: undefined, capabilities, protocolVersion: "2026-07-28" },
        requestState: call.requestState,
        inputResponses: call.inputResponses,
        idempotencyKey,
        logLevel: undefined,
        notifications: undefined,
        get isGone() {
          return isGone;
        },
        onGone: (listener: () => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      };
      void this.#runtime.execute(request).then((reply) => {
        this.#onLost.delete(lost);
        this.#onGone.delete(gone);
        if (this.isUp) resolve(asData(reply));
      });
    });
  }

  /** Ends a run; the reply is lost like any other. */
  #cancel(run: string): Promise<Reply> {
    return this.#replying(async () => {
      const { kind: how } = await this.#runtime.cancel(run);
      return { kind: "cancelled", how };
    });
  }

  /** What the author's page does when a person is through. */
  #complete({ id, person, data }: Completes): Promise<Reply> {
    return this.#replying(async () => {
      try {
        const isFirst = await this.#pages.complete(id, { principal: person, data });
        return { kind: "completed", how: isFirst ? "first" : "again" };
      } catch (error) {
        if (!isRepriseError(error, "ELICITATION_REFUSED")) throw error;
        return { kind: "completed", how: "refused" };
      }
    });
  }

  /** The reply is lost when the instance goes down before it is there, or when what makes it fails. */
  #replying(make: () => Promise<Reply>): Promise<Reply> {
    return new Promise((resolve) => {
      const lost = (): void => resolve({ kind: "lost" });
      this.#onLost.add(lost);
      make().then((reply) => {
        this.#onLost.delete(lost);
        if (this.isUp) resolve(reply);
      }, lost);
    });
  }

  /** Dies now. `at` says where, for the log. */
  crash(at: string): void {
    if (this.#dead) return;
    this.#options.world.note({ is: "crashed", instance: this.name, at });
    this.#dead = true;
    this.#options.onDown("crash");
    this.#lose();
  }

  /** Stands still from now on. */
  pause(at: string): void {
    if (!this.isUp) return;
    this.#options.world.note({ is: "paused", instance: this.name, at });
    this.#pausedAt = this.#options.time.now();
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve;
    });
    this.#options.onDown("pause");
    this.#lose();
  }

  /** For how long it has been paused, in all. */
  get stoodStillMs(): number {
    return this.#stoodStillMs;
  }

  /** No fault strikes it any more. */
  calm(): void {
    this.#fault = undefined;
  }

  /** Ends the pause. */
  resume(): void {
    if (this.#resumed === undefined || this.#dead) return;
    this.#options.world.note({ is: "resumed", instance: this.name, at: "" });
    this.#stoodStillMs += this.#options.time.now() - this.#pausedAt;
    this.#resumed = undefined;
    this.#resume?.();
  }

  /** Shuts the instance down in order. */
  async close(): Promise<void> {
    if (!this.#dead) await this.#runtime.close();
  }

  // What leaves the process ----------------------------------------------------------------------------------------

  /** Makes one call to the outside, or lets the fault strike. */
  async port<T>(what: string, isStore: boolean, call: () => Promise<T>): Promise<T> {
    await this.awake();
    this.#calls += 1;
    if (isStore && this.#options.tellsStoreCalls === true && !sweeping.has(what)) {
      this.#options.world.note({ is: "storeUsed", instance: this.name, what });
    }
    const mine = this.#takeFault("before", isStore);
    if (mine !== undefined) await this.#strike(mine, `before ${what}`);
    let reached: { readonly value: T } | { readonly error: unknown };
    try {
      reached = { value: await this.#options.time.during(what, call) };
    } catch (error) {
      reached = { error };
    }
    if (this.#dead) return never();
    const after = this.#takeFault("after", isStore);
    if (after !== undefined) await this.#strike(after, `after ${what}`);
    await this.awake();
    if ("error" in reached) throw reached.error;
    return reached.value;
  }

  // Faults ---------------------------------------------------------------------------------------------------------

  #takeFault(when: Fault["when"], isStore: boolean): Fault | undefined {
    const fault = this.#fault;
    if (fault === undefined || fault.when !== when || this.#calls < fault.at) return undefined;
    if (fault.does === "storeFails" && !isStore) return undefined;
    this.#fault = undefined;
    return fault;
  }

  async #strike(fault: Fault, at: string): Promise<void> {
    const { world } = this.#options;
    const instance = this.name;
    switch (fault.does) {
      case "crash":
        this.crash(at);
        return never();
      case "pause":
        this.pause(at);
        return this.awake();
      case "storeFails":
        world.note({ is: "storeFailed", instance, at });
        throw new RepriseError("STORE_UNAVAILABLE", "the store is played to be away", {
          data: { retryAfterMs: 1000 },
        });
      case "clientGoes":
        world.note({ is: "gone", instance, at });
        for (const gone of [...this.#onGone]) gone();
        return undefined;
    }
  }

  #lose(): void {
    for (const lost of this.#onLost) lost();
    this.#onLost.clear();
    this.#onGone.clear();
  }

  /** Resolves when it is not paused; never in a dead one. */
  async awake(): Promise<void> {
    while (this.#resumed !== undefined) await this.#resumed;
    if (this.#dead) return never();
    return undefined;
  }

  /** Timers of a paused process fire when it goes on (I2); those of a dead one never (I1). */
  #whenAwake(work: () => void): void {
    this.#options.time.stir();
    if (this.isUp) work();
    else void this.awake().then(work);
  }
}
