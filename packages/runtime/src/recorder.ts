/**
 * Keeps the order in which an attempt's facts become durable and visible.
 *
 * Called by the attempt for every new entry, and before every live step. It hands entries to the cursor in one order, which
 * is the order in which the store has them.
 *
 * W1 A step's entry becomes visible to the handler only after the store has it (docs/design.md 4.2).
 * W2 Reads, answers and state writes become visible at once and durable with the next write; a live step waits for them.
 * W3 One write is on its way at a time; what comes meanwhile goes together with the next.
 * W4 After a failed write nothing becomes visible any more.
 * W5 A live step starts only while the lease lives by this process's clock, or after the store said that it does.
 */
import type { Entry } from "@reprise/journal";
import type { SettledAnswer, StepMark } from "./runRecord.ts";
import type { Progress } from "./storePort.ts";

/** What one write holds; the sink numbers it. */
export type Facts = Omit<Progress, "sequence">;

/** Where facts become durable. */
export interface FactSink {
  /** Makes facts durable; nothing to wait for when it returns undefined. Rejects when they can't be. */
  write(facts: Facts, holdsEffect: boolean): Promise<void> | undefined;
  /** Whether the attempt still has the run: undefined when that is certain. Rejects when it does not, or nobody can tell. */
  confirm(): Promise<void> | undefined;
}

interface Item {
  readonly entry: Entry;
  readonly waitsForStore: boolean;
}

const none: ReadonlySet<string> = new Set();

/** One attempt's recorder. */
export class Recorder {
  readonly #sink: FactSink;
  readonly #publish: (entry: Entry) => void;
  readonly #fail: (error: unknown) => void;
  readonly #items: Item[] = [];
  #written = 0;
  #published = 0;
  #marks: Record<string, StepMark | null> = byName();
  #settled: Record<string, SettledAnswer> = byName();
  #drafts: Progress["drafts"];
  #stepStarts = false;
  #stepStarted: boolean;
  #stepsMarked: boolean;
  #undoable: string[] = [];
  #writing: Promise<void> | undefined;
  #failed = false;
  #flushWanted = false;
  /** Made for the first. */
  #openMarks: Set<string> | undefined;

  /**
   * @param stepStarted whether the store knows already that a live step was started in this run
   * @param marked steps that were started and not recorded
   * @param fail told once, with what a write was rejected with
   * @param stepsMarked whether the store knows that every step that was started wrote a mark first
   */
  constructor(
    sink: FactSink,
    stepStarted: boolean,
    marked: readonly string[],
    publish: (entry: Entry) => void,
    fail: (error: unknown) => void,
    stepsMarked = false,
  ) {
    this.#sink = sink;
    this.#stepStarted = stepStarted;
    this.#stepsMarked = stepsMarked;
    if (marked.length > 0) this.#openMarks = new Set(marked);
    this.#publish = publish;
    this.#fail = fail;
  }

  /** Whether a live step was started in this run, or is about to be. */
  get stepStarted(): boolean {
    return this.#stepStarted;
  }

  /** Whether a step of the run may have happened and has no recorded result. */
  get hasOpenMarks(): boolean {
    return this.openMarks.size > 0;
  }

  /** Steps that may have happened and have no recorded result, those that failed in doubt included. */
  get openMarks(): ReadonlySet<string> {
    return this.#openMarks ?? none;
  }

  /** Whether the step has an open mark, of this attempt or an earlier one. */
  isMarked(step: string): boolean {
    return this.openMarks.has(step);
  }

  /** A read or an answer: visible when its turn comes, durable later. */
  note(entry: Entry): void {
    this.#items.push({ entry, waitsForStore: false });
    this.#publishReady();
  }

  /** An ask took its answer. */
  noteAnswer(entry: Entry, key: string, settled: SettledAnswer): void {
    this.#settled[key] = settled;
    this.note(entry);
  }

  /** A state write of this round. */
  noteDrafts(drafts: NonNullable<Progress["drafts"]>): void {
    this.#drafts = drafts;
  }

  /** A mark to go out with the next write. */
  noteMark(step: string, mark: StepMark | null): void {
    this.#marks[step] = mark;
    if (mark === null) this.#openMarks?.delete(step);
    else {
      this.#openMarks ??= new Set();
      this.#openMarks.add(step);
    }
  }

  /** A step's end: durable, then visible. */
  record(entry: Entry, mark: StepMark | null | undefined): void {
    if (entry.kind === "step_completed" || entry.kind === "step_failed") {
      if (mark !== undefined) this.noteMark(entry.name, mark);
    }
    this.#items.push({ entry, waitsForStore: true });
    this.#write();
  }

  /**
   * Before a live step: everything that precedes it, and its mark if it has one, become durable. Undefined when the store
   * knows it all.
   * @param hasUndo whether the step has an undo function; it has a mark then
   */
  beforeStep(step: string, mark: StepMark | undefined, hasUndo = false): Promise<void> | undefined {
    if (mark !== undefined) this.noteMark(step, mark);
    if (hasUndo) this.#undoable.push(step);
    this.#begins(this.openMarks.has(step));
    if (!this.#hasNews() && this.#writing === undefined) return undefined;
    this.#flushWanted = this.#hasNews();
    this.#write();
    return this.#writing;
  }

  /** The store learns of the run's first step, and of the first without a mark: one may then be running unseen. */
  #begins(isMarked: boolean): void {
    if (this.#stepStarted && (isMarked || !this.#stepsMarked)) return;
    this.#stepsMarked = isMarked;
    this.#stepStarted = true;
    this.#stepStarts = true;
  }

  /** Before a live step that needs no write: a paused process may have lost its lease meanwhile (W5). */
  confirm(): Promise<void> | undefined {
    const confirmed = this.#sink.confirm();
    confirmed?.catch((error: unknown) => {
      this.#failed = true;
      this.#fail(error);
    });
    return confirmed;
  }

  /** What no write has taken yet, for the transition that ends the round. Call only when no write is on its way. */
  rest(): Facts {
    return this.#take();
  }

  /** Resolves when no write is on its way. Never rejects. */
  async quiet(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined);
  }

  #hasNews(): boolean {
    return (
      this.#written < this.#items.length ||
      this.#stepStarts ||
      this.#drafts !== undefined ||
      Object.keys(this.#marks).length > 0
    );
  }

  #take(): Facts {
    const facts: Facts = {
      entries: this.#items.slice(this.#written).map((item) => item.entry),
      marks: this.#marks,
      settled: this.#settled,
      stepStarts: this.#stepStarts,
      ...(this.#stepStarts && this.#stepsMarked ? { stepsMarked: true } : {}),
      ...(this.#undoable.length === 0 ? {} : { undoable: this.#undoable }),
      ...(this.#drafts === undefined ? {} : { drafts: this.#drafts }),
    };
    this.#marks = byName();
    this.#settled = byName();
    this.#drafts = undefined;
    this.#stepStarts = false;
    this.#undoable = [];
    return facts;
  }

  #write(): void {
    if (this.#failed || this.#writing !== undefined) return;
    this.#flushWanted = false;
    const upTo = this.#items.length;
    const holdsEffect = this.#items.slice(this.#written).some((item) => item.waitsForStore);
    const written = this.#sink.write(this.#take(), holdsEffect);
    if (written === undefined) return this.#wrote(upTo);
    const writing = written.then(
      () => {
        this.#writing = undefined;
        this.#wrote(upTo);
        return this.#writing;
      },
      (error: unknown) => {
        this.#writing = undefined;
        this.#failed = true;
        this.#fail(error);
        throw error;
      },
    );
    // Whoever waits sees the rejection; nobody has to.
    writing.catch(() => undefined);
    this.#writing = writing;
  }

  #wrote(upTo: number): void {
    this.#written = upTo;
    this.#publishReady();
    if (this.#hasNews() && this.#needsWrite()) this.#write();
  }

  /** Reads and state writes alone wait for the next step; a step's entry, a mark or a starting step does not. */
  #needsWrite(): boolean {
    return (
      this.#flushWanted ||
      this.#stepStarts ||
      Object.values(this.#marks).some((mark) => mark !== null) ||
      this.#items.slice(this.#written).some((item) => item.waitsForStore)
    );
  }

  #publishReady(): void {
    while (!this.#failed) {
      const item = this.#items[this.#published];
      if (item === undefined || (item.waitsForStore && this.#published >= this.#written)) return;
      this.#published += 1;
      this.#publish(item.entry);
    }
  }
}

/** Without a prototype: a step may be called `__proto__`. */
function byName<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
