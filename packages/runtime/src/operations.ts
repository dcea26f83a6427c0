/**
 * The ctx operations as the replay cursor sees them: a step, a read, an ask.
 *
 * Each holds one promise of the handler's. Before its entry is there it may go live; when the entry comes it settles the
 * promise from the entry, on the first attempt as on every later one, so a handler can't tell them apart.
 */
import {
  type AnswerTaken,
  decodeValue,
  type Entry,
  encodeValue,
  type Operation,
} from "@reprise/journal";
import type { AskDesk } from "./askDesk.ts";
import type { Ask } from "./asks.ts";
import type { Recorder } from "./recorder.ts";
import type { BroughtAnswer, StepMark } from "./runRecord.ts";
import { ReadError, recordedError, StepError, UncertainStepError } from "./stepErrors.ts";
import type { StepOutcome } from "./stepRun.ts";

/** What operations need from their attempt. */
export interface OperationHost {
  readonly recorder: Recorder;
  readonly now: () => number;
  /** The handler ended, or was stopped: nothing new may start. */
  readonly mayStart: () => boolean;
  /** The handler is still running: its answers and questions matter. */
  readonly mayAsk: () => boolean;
  /** Something that the cursor should look at again has happened. */
  readonly wake: () => void;
}

/** An operation with a promise. */
export interface Pending extends Operation {
  reject(reason: unknown): void;
  /** A live step: its outcome is still recorded when the attempt is being stopped. */
  readonly isRunning: boolean;
}

/** The settling ends of a handler's promise. */
export interface Settlers {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A step. */
export class StepOperation implements Pending {
  readonly kind = "step" as const;
  readonly name: string;
  readonly #host: OperationHost;
  readonly #settlers: Settlers;
  readonly #mark: () => StepMark | undefined;
  readonly #run: () => Promise<StepOutcome>;
  #phase: "waiting" | "preparing" | "prepared" | "running" | "done" = "waiting";

  /**
   * @param mark the mark to write before the function is entered; undefined under `"retry"`
   * @param run executes the step's function with its policy
   */
  constructor(
    name: string,
    host: OperationHost,
    settlers: Settlers,
    mark: () => StepMark | undefined,
    run: () => Promise<StepOutcome>,
  ) {
    this.name = name;
    this.#host = host;
    this.#settlers = settlers;
    this.#mark = mark;
    this.#run = run;
  }

  get isRunning(): boolean {
    return this.#phase === "running" || this.#phase === "done";
  }

  misfit(): undefined {
    return undefined;
  }

  reject(reason: unknown): void {
    this.#settlers.reject(reason);
  }

  deliver(entry: Entry): void {
    if (entry.kind === "step_completed") this.#settlers.resolve(decodeValue(entry.value));
    else if (entry.kind === "step_failed") {
      const failure = entry.outcome === "uncertain" ? UncertainStepError : StepError;
      this.#settlers.reject(new failure(this.name, entry.error));
    }
  }

  goLive(): boolean {
    if (this.#phase === "preparing" || this.isRunning) return true;
    if (!this.#host.mayStart()) return false;
    if (this.#phase === "waiting") {
      const durable = this.#host.recorder.beforeStep(this.name, this.#mark());
      if (durable !== undefined) {
        this.#phase = "preparing";
        this.#whenDurable(durable);
        return true;
      }
    }
    this.#phase = "running";
    this.#record();
    return true;
  }

  #whenDurable(durable: Promise<void>): void {
    durable.then(
      () => {
        // Not started here: entries may have come meanwhile, and nothing starts before they are delivered (J3).
        this.#phase = "prepared";
        this.#host.wake();
      },
      // The recorder has told the attempt, which ends with it.
      () => undefined,
    );
  }

  #record(): void {
    const { recorder, now, wake } = this.#host;
    const { name } = this;
    void this.#run().then((outcome) => {
      this.#phase = "done";
      switch (outcome.kind) {
        case "completed":
          recorder.record({ kind: "step_completed", name, value: outcome.value, at: now() }, null);
          break;
        case "failed": {
          const { error, outcome: known, firstTriedAt } = outcome;
          // An uncertain step keeps its mark (or gets one): the next attempt must know.
          const mark = known === "not_done" ? null : { firstTriedAt };
          recorder.record({ kind: "step_failed", name, error, outcome: known, at: now() }, mark);
          break;
        }
        case "abandoned":
          if (outcome.uncertain) recorder.noteMark(name, { firstTriedAt: outcome.firstTriedAt });
          this.#phase = "waiting";
          break;
      }
      wake();
    });
  }
}

/** A read. */
export class ReadOperation implements Pending {
  readonly kind = "read" as const;
  readonly name: string;
  readonly isRunning = false;
  readonly #host: OperationHost;
  readonly #settlers: Settlers;
  readonly #fn: () => unknown;
  #running = false;

  constructor(name: string, host: OperationHost, settlers: Settlers, fn: () => unknown) {
    this.name = name;
    this.#host = host;
    this.#settlers = settlers;
    this.#fn = fn;
  }

  misfit(): undefined {
    return undefined;
  }

  reject(reason: unknown): void {
    this.#settlers.reject(reason);
  }

  deliver(entry: Entry): void {
    if (entry.kind === "read_completed") this.#settlers.resolve(decodeValue(entry.value));
    else if (entry.kind === "read_failed")
      this.#settlers.reject(new ReadError(this.name, entry.error));
  }

  goLive(): boolean {
    if (this.#running) return true;
    if (!this.#host.mayStart()) return false;
    this.#running = true;
    void this.#read();
    return true;
  }

  async #read(): Promise<void> {
    const { recorder, now } = this.#host;
    const { name } = this;
    try {
      const value = encodeValue(await this.#fn(), `read "${name}"`);
      recorder.note({ kind: "read_completed", name, value, at: now() });
    } catch (error) {
      recorder.note({ kind: "read_failed", name, error: recordedError(error), at: now() });
    }
  }
}

/** An ask. */
export class AskOperation implements Pending {
  readonly kind = "ask" as const;
  readonly name: string;
  readonly isRunning = false;
  readonly ask: Ask<unknown>;
  readonly #host: OperationHost;
  readonly #settlers: Settlers;
  readonly #desk: AskDesk;
  #phase: "new" | "reading" | "taken" | "open" | "refused" = "new";

  constructor(ask: Ask<unknown>, host: OperationHost, settlers: Settlers, desk: AskDesk) {
    this.name = ask.key;
    this.ask = ask;
    this.#host = host;
    this.#settlers = settlers;
    this.#desk = desk;
  }

  /** Whether the question is to be sent. */
  get isOpen(): boolean {
    return this.#phase === "open";
  }

  misfit(entry: Entry): string | undefined {
    const taken = entry as AnswerTaken;
    return taken.question === this.ask.question ? undefined : "question";
  }

  reject(reason: unknown): void {
    this.#settlers.reject(reason);
  }

  deliver(entry: Entry): void {
    const { answer } = entry as AnswerTaken;
    this.#desk.taken(this.ask, answer);
    const read = this.ask.read(answer);
    if (read instanceof Promise) void read.then((value) => this.#settle(value));
    else this.#settle(read);
  }

  #settle(read: { readonly value: unknown } | undefined): void {
    if (read === undefined) {
      this.#settlers.reject(
        new TypeError(
          `the answer to "${this.name}" was usable when it was taken and is not any more: its schema rejects it now`,
        ),
      );
    } else this.#settlers.resolve(read.value);
  }

  goLive(): boolean {
    if (this.#phase === "reading" || this.#phase === "taken") return true;
    if (this.#phase !== "new" || !this.#host.mayAsk()) return false;
    const brought = this.#desk.answerTo(this.ask);
    if (brought === undefined) return this.#open();
    const read = this.ask.read(brought.value);
    if (!(read instanceof Promise)) return read === undefined ? this.#open() : this.#take(brought);
    this.#phase = "reading";
    void read.then((value) => {
      if (value === undefined) this.#open();
      else this.#take(brought);
      this.#host.wake();
    });
    return true;
  }

  #open(): boolean {
    this.#phase = "open";
    const error = this.#desk.open(this.ask);
    if (error !== undefined) {
      this.#phase = "refused";
      this.#settlers.reject(error);
    }
    return false;
  }

  #take(brought: BroughtAnswer): boolean {
    this.#phase = "taken";
    const { key, question } = this.ask;
    const entry: AnswerTaken = {
      kind: "answer_taken",
      key,
      question,
      answer: brought.value,
      at: this.#host.now(),
    };
    this.#host.recorder.noteAnswer(entry, key, {
      asked: this.#desk.askedAs(this.ask),
      answer: brought.digest,
    });
    return true;
  }
}
