/**
 * What a program's handlers do outside of their process, through the one that executes them.
 *
 * Called by `execute.ts` alone. Every call is a port call of the instance, so that a fault may strike before and after it.
 */
import type { ReadNode, StepNode } from "./program.ts";
import { oneTurn, type Timing } from "./timing.ts";
import type { World } from "./world.ts";

/** Where in a run something is done. */
export interface Place {
  readonly run: string;
  readonly round: number;
}

/** What a URL ask came to for the handler. */
export interface PageOutcome {
  readonly ask: string;
  readonly completed: boolean;
  /** From the call of ctx to its result. */
  readonly tookMs: number;
}

/** What handlers do outside. */
export interface Outside {
  /** Milliseconds since a moment before the simulation began. */
  now(): number;
  began(at: Place, state: string): void;
  read(node: ReadNode, at: Place): Promise<number>;
  /** The remote's answer, or what its function throws. */
  effect(node: StepNode, at: Place, key: string, inputs: string): Promise<number | Thrown>;
  lookUp(key: string): Promise<number | undefined>;
  /** Whether it is undone; else its function throws. */
  undo(node: StepNode, at: Place, key: string): Promise<boolean>;
  /** The handler has the outcome of a URL ask that was accepted. */
  gotPage(at: Place, outcome: PageOutcome): void;
}

type Thrown = "refused" | "broke";

/** The instance, as far as its handlers need it. */
export interface Hands {
  readonly name: string;
  readonly version: string;
  readonly stoodStillMs: number;
  /** Resolves when the process is not paused; never in a dead one. */
  awake(): Promise<void>;
  port<T>(what: string, isStore: boolean, call: () => Promise<T>): Promise<T>;
}

/** The outside of one instance. */
export class OutsideOf implements Outside {
  readonly #hands: Hands;
  readonly #world: World;
  readonly #time: Timing;

  constructor(hands: Hands, world: World, time: Timing) {
    this.#hands = hands;
    this.#world = world;
    this.#time = time;
  }

  now(): number {
    return this.#time.monotonic();
  }

  began({ run, round }: Place, state: string): void {
    this.#world.note({ is: "attempt", instance: this.#hands.name, run, round, state });
  }

  read(node: ReadNode, { run, round }: Place): Promise<number> {
    return this.#hands.port(`read ${node.id}`, false, async () => {
      await this.#turns(node.turns);
      const reading = this.#world.read({ step: node.id, name: node.name, run, round });
      if (node.throws) throw new Error("the read throws");
      return reading;
    });
  }

  async effect(
    node: StepNode,
    { run, round }: Place,
    key: string,
    inputs: string,
  ): Promise<number | Thrown> {
    const world = this.#world;
    await this.#hands.awake();
    const { id, name, plan } = node;
    const { name: instance, version } = this.#hands;
    world.note({ is: "entered", version, instance, run, round, step: id, name, key, inputs });
    return this.#hands.port(`effect ${name}`, false, async () => {
      await this.#turns(node.turns);
      const thrown = world.throwsOf(key);
      const fails = (how: Thrown): Thrown => {
        world.note({ is: "threw", run, step: id, key, how });
        return how;
      };
      if (plan.does === "refuses" || (plan.does === "recovers" && thrown < 4))
        return fails("refused");
      if (plan.does === "breaks") return fails("broke");
      if (plan.does === "works" && thrown < plan.throwsBefore) return fails("broke");
      const answer = world.do(instance, run, id, key);
      if (plan.does === "works" && thrown < plan.throwsBefore + plan.throwsAfter)
        return fails("broke");
      return answer;
    });
  }

  lookUp(key: string): Promise<number | undefined> {
    return this.#hands.port("lookup", false, async () => this.#world.answerTo(key));
  }

  undo(node: StepNode, { run }: Place, key: string): Promise<boolean> {
    const world = this.#world;
    const { id, name } = node;
    return this.#hands.port(`undo ${name}`, false, async () => {
      await this.#turns(node.turns);
      if (world.throwsOf(key) < (node.undoThrows ?? 0)) {
        world.note({ is: "threw", run, step: `undo ${id}`, key, how: "broke" });
        return false;
      }
      world.undo(this.#hands.name, run, id, key);
      return true;
    });
  }

  gotPage({ run }: Place, outcome: PageOutcome): void {
    const { name: instance, stoodStillMs } = this.#hands;
    this.#world.note({ is: "gotPage", instance, run, stoodStillMs, ...outcome });
  }

  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await oneTurn(this.#time);
  }
}
