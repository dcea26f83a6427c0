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
import { type Ask, type AskedPage, clientFailure, isAccept } from "./asks.ts";
import type { Recorder } from "./recorder.ts";
import type { BroughtAnswer, StepMark } from "./runRecord.ts";
import { readFailure, recordedError, stepFailure } from "./stepErrors.ts";
import type { StepOutcome } from "./stepRun.ts";
import type { Suspension } from "./suspension.ts";

/** What operations need from their attempt. */
export interface OperationHost {
  readonly recorder: Recorder;
  now(): number;
  /** The handler ended, or was stopped: nothing new may start. */
  mayStart(): boolean;
  /** A live step has to wait: a step that may have happened is still to be asked for. */
  isHeld(): boolean;
  /** The handler is still running: its answers and questions matter. */
  mayAsk(): boolean;
  /** A step failed for good; `cause` is what it threw last, which no record keeps. */
  stepFailed(step: string, outcome: string, cause: unknown): void;
  /** Something that the cursor should look at again has happened. */
  wake(): void;
  /** The signal for a handler whose operation is given up. */
  suspension(): Suspension;
}

/** An operation with a promise. */
export interface Pending extends Operation {
  reject(reason: unknown): void;
  /** Its entry is still to come, or to be delivered, when the attempt is being stopped: a running step, a taken answer. */
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
  readonly #hasUndo: boolean;
  readonly #run: () => Promise<StepOutcome>;
  #phase: "waiting" | "preparing" | "prepared" | "running" | "done" = "waiting";
  /** This operation wrote the step's first mark. */
  #marked = false;

  /**
   * @param mark the mark to write before the function is entered; undefined under `"retry"` without undo
   * @param run executes the step's function with its policy
   */
  constructor(
    name: string,
    host: OperationHost,
    settlers: Settlers,
    mark: () => StepMark | undefined,
    run: () => Promise<StepOutcome>,
    hasUndo: boolean,
  ) {
    this.name = name;
    this.#host = host;
    this.#settlers = settlers;
    this.#mark = mark;
    this.#run = run;
    this.#hasUndo = hasUndo;
  }

  get isRunning(): boolean {
    return this.#phase === "running" || this.#phase === "done";
  }

  misfit(): undefined {
    return undefined;
  }

  reject(reason: unknown): void {
    // Announced and never entered: the next attempt must not take it for a step that may have happened.
    const isEntered = this.isRunning || this.#phase === "waiting";
    if (this.#marked && !isEntered) this.#host.recorder.noteMark(this.name, null);
    this.#settlers.reject(reason);
  }

  deliver(entry: Entry): void {
    if (entry.kind === "step_completed") this.#settlers.resolve(decodeValue(entry.value));
    else if (entry.kind === "step_failed") {
      this.#settlers.reject(stepFailure(this.name, entry.error, entry.outcome));
    }
  }

  goLive(): boolean {
    if (this.#phase === "preparing" || this.isRunning) return true;
    if (!this.#host.mayStart()) return false;
    if (this.#host.isHeld()) return true;
    const { recorder } = this.#host;
    // Asked again when prepared: what was read or written to the state meanwhile precedes the step as well.
    const durable =
      this.#phase === "waiting" ? this.#announce() : recorder.beforeStep(this.name, undefined);
    const ready = durable ?? recorder.confirm();
    if (ready !== undefined) {
      this.#phase = "preparing";
      this.#whenReady(ready);
      return true;
    }
    this.#phase = "running";
    this.#record();
    return true;
  }

  /** Everything before the step, and its mark, become durable; undefined when they are. */
  #announce(): Promise<void> | undefined {
    const { recorder } = this.#host;
    const mark = this.#mark();
    this.#marked = mark !== undefined && !recorder.isMarked(this.name);
    return recorder.beforeStep(this.name, mark, this.#hasUndo);
  }

  #whenReady(ready: Promise<void>): void {
    ready.then(
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
    const host = this.#host;
    const { recorder } = host;
    const { name } = this;
    void this.#run().then((outcome) => {
      this.#phase = "done";
      switch (outcome.kind) {
        case "completed":
          recorder.record(
            { kind: "step_completed", name, value: outcome.value, at: host.now() },
            null,
          );
          break;
        case "failed": {
          const { error, outcome: known, firstTriedAt } = outcome;
          host.stepFailed(name, known, outcome.cause);
          // An uncertain step keeps its mark (or gets one): the next attempt must know.
          const mark = known === "not_done" ? null : { firstTriedAt };
          recorder.record(
            { kind: "step_failed", name, error, outcome: known, at: host.now() },
            mark,
          );
          break;
        }
        case "abandoned":
          recorder.noteMark(
            name,
            outcome.uncertain ? { firstTriedAt: outcome.firstTriedAt } : null,
          );
          this.#phase = "waiting";
          this.#settlers.reject(host.suspension());
          break;
      }
      host.wake();
    });
  }
}

/** A read. */
export class ReadOperation implements Pending {
  readonly kind = "read" as const;
  readonly name: string;
  readonly #host: OperationHost;
  readonly #settlers: Settlers;
  readonly #fn: () => unknown;
  #running = false;
  /** It has an entry: one that nobody asked for any more would keep those behind it, and the attempt would never end. */
  #hasEntry = false;

  constructor(name: string, host: OperationHost, settlers: Settlers, fn: () => unknown) {
    this.name = name;
    this.#host = host;
    this.#settlers = settlers;
    this.#fn = fn;
  }

  get isRunning(): boolean {
    return this.#hasEntry;
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
      this.#settlers.reject(readFailure(this.name, entry.error));
  }

  goLive(): boolean {
    if (this.#running) return true;
    if (!this.#host.mayStart()) return false;
    this.#running = true;
    void this.#read();
    return true;
  }

  async #read(): Promise<void> {
    const entry = await this.#entryOf();
    // A stop aborts what the function was waiting for: that is no failure to be kept (A4).
    if (this.#host.mayStart()) {
      this.#hasEntry = true;
      return this.#host.recorder.note(entry);
    }
    this.#running = false;
    this.#host.wake();
  }

  async #entryOf(): Promise<Entry> {
    const host = this.#host;
    const { name } = this;
    try {
      const value = encodeValue(await this.#fn(), `read "${name}"`);
      return { kind: "read_completed", name, value, at: host.now() };
    } catch (error) {
      return { kind: "read_failed", name, error: recordedError(error), at: host.now() };
    }
  }
}

/** An ask. */
export class AskOperation implements Pending {
  readonly kind = "ask" as const;
  readonly name: string;
  readonly ask: Ask<unknown>;
  readonly #host: OperationHost;
  readonly #settlers: Settlers;
  readonly #desk: AskDesk;
  #phase: "new" | "reading" | "taken" | "open" | "refused" = "new";
  /** Ends the wait for a page. */
  #waiting: AbortController | undefined;

  constructor(ask: Ask<unknown>, host: OperationHost, settlers: Settlers, desk: AskDesk) {
    this.name = ask.key;
    this.ask = ask;
    this.#host = host;
    this.#settlers = settlers;
    this.#desk = desk;
  }

  get isRunning(): boolean {
    return this.#phase === "taken";
  }

  /** Whether the question is to be sent. */
  get isOpen(): boolean {
    return this.#phase === "open";
  }

  misfit(entry: Entry): string | undefined {
    const taken = entry as AnswerTaken;
    return taken.question === this.ask.question ? undefined : "question";
  }

  /** An answer may have come to an open question. */
  askAnew(): void {
    if (this.#phase === "open") this.#phase = "new";
  }

  reject(reason: unknown): void {
    this.#waiting?.abort();
    this.#settlers.reject(reason);
  }

  deliver(entry: Entry): void {
    const taken = entry as AnswerTaken;
    const { answer, error, page } = taken;
    this.#desk.taken(this.ask, taken);
    if (error !== undefined) return this.#settlers.reject(clientFailure(this.ask, error));
    const read = this.ask.read(answer, page);
    if (!(read instanceof Promise)) return this.#settle(read);
    read.then(
      (value) => this.#settle(value),
      (error: unknown) => this.#settlers.reject(error),
    );
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
    if (brought.error !== undefined) return this.#take(brought);
    const read = this.ask.read(brought.value);
    if (!(read instanceof Promise)) {
      if (read === undefined) return this.#open();
      const { page } = this.ask;
      if (page?.completable !== true || !isAccept(brought.value)) return this.#take(brought);
      void this.#awaitPage(page, brought);
      return true;
    }
    this.#phase = "reading";
    read
      .then((value) => this.#wasRead(brought, value !== undefined))
      .catch((error: unknown) => {
        // The author's schema threw: a bug to be seen, not an answer to be asked for again.
        this.#phase = "refused";
        this.#settlers.reject(error);
      })
      .finally(() => this.#host.wake());
    return true;
  }

  /** Read behind other work: what has ended or was stopped meanwhile takes no answer and asks nothing. */
  #wasRead(brought: BroughtAnswer, usable: boolean): void {
    if (!this.#host.mayAsk()) this.#phase = "new";
    else if (usable) this.#take(brought);
    else this.#open();
  }

  /** An accept says only that the person agreed: the answer is what becomes of the page. Never rejects. */
  async #awaitPage(page: AskedPage, brought: BroughtAnswer): Promise<void> {
    this.#phase = "reading";
    this.#waiting = new AbortController();
    const done = await this.#desk.pageOf(page, this.#waiting.signal);
    if (!this.#host.mayAsk()) this.#phase = "new";
    else if (done !== undefined) this.#take(brought, { completed: true, ...done });
    else if (this.#desk.isToBeAskedAgain(this.ask)) this.#open();
    else this.#take(brought, { completed: false });
    this.#host.wake();
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

  #take(brought: BroughtAnswer, page?: AnswerTaken["page"]): boolean {
    this.#phase = "taken";
    const { key, question } = this.ask;
    const { value: answer, error } = brought;
    const at = this.#host.now();
    const entry: AnswerTaken = {
      kind: "answer_taken",
      key,
      question,
      answer,
      ...(error === undefined ? {} : { error }),
      ...(page === undefined ? {} : { page }),
      at,
    };
    this.#desk.took(this.ask, entry);
    this.#host.recorder.noteAnswer(entry, key, {
      asked: this.#desk.askedAs(this.ask),
      answer: brought.digest,
    });
    return true;
  }
}
