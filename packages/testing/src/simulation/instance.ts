/**
 * One instance of the server: a real engine on a real store, with every way out of the process under the test's hand.
 *
 * Every store call and every call to the outside world is a port call. A fault strikes at one of them, before it is made or
 * after it was: the instance dies, or stands still for long enough to be taken for dead, or the store fails, or the client goes.
 *
 * I1 Nothing leaves a dead instance, and nothing reaches it.
 * I2 A paused instance makes no call and gets no reply until it is resumed; then it goes on as if nothing had been.
 */
import { RepriseError } from "@reprise/errors";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  anonymous,
  createRuntime,
  defineServer,
  type RunStore,
  type Runtime,
  type ServerDefinition,
  tool,
} from "@reprise/runtime";
import { watchedServer } from "../harness/watchedServer.ts";
import type { Call, Fault, Reply, ServedCall } from "./calls.ts";
import { execute } from "./execute.ts";
import type { Program, ReadNode, StepNode } from "./program.ts";
import { asData } from "./replies.ts";
import { oneTurn, type Timing } from "./timing.ts";
import { watchedStore } from "./watchedStore.ts";
import type { World } from "./world.ts";

/** What handlers do outside. */
export interface Outside {
  began(run: string, round: number, state: string): void;
  read(node: ReadNode): Promise<number>;
  /** The remote's answer, or what its function throws. */
  effect(
    node: StepNode,
    run: string,
    key: string,
    inputs: string,
  ): Promise<number | "refused" | "broke">;
  lookUp(key: string): Promise<number | undefined>;
  /** Whether it is undone; else its function throws. */
  undo(node: StepNode, run: string, key: string): Promise<boolean>;
}

/** What an instance is made of. */
export interface InstanceOptions {
  readonly name: string;
  readonly program: Program;
  /** Whether first calls have an idempotency key. */
  readonly keyed: boolean;
  readonly store: RunStore;
  readonly world: World;
  readonly time: Timing;
  /** Where ids, tokens and seeds come from. Default: random. */
  readonly random?: () => string;
  /** Whether the store's messages about stopped attempts arrive. Default: every one is lost. */
  readonly hears?: boolean;
  readonly sweeps: boolean;
  /** How far its wall clock is ahead of the store's, in milliseconds. Default 0. */
  readonly aheadMs?: number;
  /** An author's server in place of the program. */
  readonly served?: ServedCall | undefined;
  /** The instance is dead, or taken for dead. */
  readonly onDown: (how: "crash" | "pause") => void;
}

const sealer = createStateSealer({
  keys: keysFromSecrets("one secret for all instances of a case"),
});
const capabilities = { elicitation: { form: {} }, sampling: {} };
/** One for each that waits: a shared one would keep what waits for it, and so every case. */
const never = (): Promise<never> => new Promise(() => undefined);
const toolName = "program";

/** One instance. */
export class Instance implements Outside {
  readonly name: string;
  readonly version: string;
  readonly #options: InstanceOptions;
  readonly #runtime: Runtime;
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
    const { name, program, time, aheadMs = 0 } = options;
    this.name = name;
    this.version = program.version;
    this.#options = options;
    this.#runtime = createRuntime({
      server: options.served === undefined ? this.#programmed() : this.#watched(options.served),
      store: watchedStore(options.store, options.world, this, options.hears === true, time.now),
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
  }

  #programmed(): ServerDefinition {
    const { program, keyed } = this.#options;
    return defineServer({
      name: "properties",
      tools: [
        tool({
          name: toolName,
          description: "executes a random program",
          version: program.version,
          ...(program.answerWithinMs === undefined ? {} : { answerWithin: program.answerWithinMs }),
          ...(keyed ? { idempotency: { key: () => "the one order" } } : {}),
          handler: (_args, ctx) => execute(program, this, ctx),
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
    return new Promise((resolve) => {
      const lost = (): void => resolve({ kind: "lost" });
      this.#onLost.add(lost);
      this.#runtime.cancel(run).then(({ kind: how }) => {
        this.#onLost.delete(lost);
        if (this.isUp) resolve({ kind: "cancelled", how });
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
    await this.#awake();
    this.#calls += 1;
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
    await this.#awake();
    if ("error" in reached) throw reached.error;
    return reached.value;
  }

  began(run: string, round: number, state: string): void {
    this.#options.world.note({ is: "attempt", instance: this.name, run, round, state });
  }

  read(node: ReadNode): Promise<number> {
    return this.port(`read ${node.id}`, false, async () => {
      await this.#turns(node.turns);
      const reading = this.#options.world.read(node.id);
      if (node.throws) throw new Error("the read throws");
      return reading;
    });
  }

  async effect(
    node: StepNode,
    run: string,
    key: string,
    inputs: string,
  ): Promise<number | "refused" | "broke"> {
    const { world } = this.#options;
    await this.#awake();
    const { id, name, plan } = node;
    world.note({
      is: "entered",
      version: this.version,
      instance: this.name,
      run,
      step: id,
      name,
      key,
      inputs,
    });
    return this.port(`effect ${name}`, false, async () => {
      await this.#turns(node.turns);
      const thrown = world.throwsOf(key);
      const fails = (how: "refused" | "broke"): "refused" | "broke" => {
        world.note({ is: "threw", run, step: id, key, how });
        return how;
      };
      if (plan.does === "refuses" || (plan.does === "recovers" && thrown < 4))
        return fails("refused");
      if (plan.does === "breaks") return fails("broke");
      if (plan.does === "works" && thrown < plan.throwsBefore) return fails("broke");
      const answer = world.do(this.name, run, id, key);
      if (plan.does === "works" && thrown < plan.throwsBefore + plan.throwsAfter)
        return fails("broke");
      return answer;
    });
  }

  lookUp(key: string): Promise<number | undefined> {
    return this.port("lookup", false, async () => this.#options.world.answerTo(key));
  }

  undo(node: StepNode, run: string, key: string): Promise<boolean> {
    const { world } = this.#options;
    const { id, name } = node;
    return this.port(`undo ${name}`, false, async () => {
      await this.#turns(node.turns);
      if (world.throwsOf(key) < (node.undoThrows ?? 0)) {
        world.note({ is: "threw", run, step: `undo ${id}`, key, how: "broke" });
        return false;
      }
      world.undo(this.name, run, id, key);
      return true;
    });
  }

  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await oneTurn(this.#options.time);
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
        return this.#awake();
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

  async #awake(): Promise<void> {
    while (this.#resumed !== undefined) await this.#resumed;
    if (this.#dead) return never();
    return undefined;
  }

  /** Timers of a paused process fire when it goes on (I2); those of a dead one never (I1). */
  #whenAwake(work: () => void): void {
    this.#options.time.stir();
    if (this.isUp) work();
    else void this.#awake().then(work);
  }
}
