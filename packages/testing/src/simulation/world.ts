/**
 * The world outside the runs: a remote system that effects go to, and the log of everything that happened.
 *
 * It outlives every instance; where instances are processes of their own, a subclass keeps the log for all of them.
 *
 * The log has one order, which is the order in which things happened; `oracle.ts` judges it.
 */
/** One thing that happened. */
export type Happening =
  /** The handler's first line was executed; `state` is `ctx.state` as it was then. */
  | {
      readonly is: "attempt";
      readonly instance: string;
      readonly run: string;
      readonly round: number;
      readonly state: string;
    }
  /** A step's function was entered. */
  | {
      readonly is: "entered";
      readonly version: string;
      readonly instance: string;
      readonly run: string;
      readonly round: number;
      readonly step: string;
      readonly name: string;
      readonly key: string;
      readonly inputs: string;
    }
  /** The remote system did it. `repeated`: it knew the key and gave the first answer again. */
  | {
      readonly is: "done";
      readonly instance: string;
      readonly run: string;
      readonly step: string;
      readonly key: string;
      readonly repeated: boolean;
    }
  | {
      readonly is: "threw";
      readonly run: string;
      readonly step: string;
      readonly key: string;
      readonly how: "refused" | "broke";
    }
  /** The remote system took back what a step had done. `repeated`: it had done so before under this key. */
  | {
      readonly is: "undone";
      readonly instance: string;
      readonly run: string;
      readonly step: string;
      readonly key: string;
      readonly repeated: boolean;
    }
  | { readonly is: "cancelled"; readonly run: string; readonly instance: string }
  /** The store found that an answer was not given in time. */
  | { readonly is: "expired"; readonly run: string; readonly instance: string }
  /**
   * The store took an answer that came `lateMs` after its deadline, by the store's clock, from a process that had been paused for
   * `stoodStillMs` in all. `undoes`: with something to undo.
   */
  | {
      readonly is: "tookLate";
      readonly run: string;
      readonly instance: string;
      readonly lateMs: number;
      readonly stoodStillMs: number;
      readonly undoes: boolean;
    }
  | ({ readonly is: "read" } & Reading)
  /** A handler has the outcome of a URL ask that was accepted. `stoodStillMs`: of its process, in all. */
  | {
      readonly is: "gotPage";
      readonly instance: string;
      readonly run: string;
      readonly ask: string;
      readonly completed: boolean;
      readonly tookMs: number;
      readonly stoodStillMs: number;
    }
  /** An instance made a call of the store, where that is told. */
  | { readonly is: "storeUsed"; readonly instance: string; readonly what: string }
  /** The store acknowledged these entries of a run: `kind name`. */
  | {
      readonly is: "recorded";
      readonly instance: string;
      readonly run: string;
      readonly epoch: number;
      readonly entries: readonly string[];
    }
  /** The store gave an attempt out, with these entries. */
  | {
      readonly is: "claimed";
      readonly instance: string;
      readonly run: string;
      readonly epoch: number;
      readonly entries: readonly string[];
    }
  | { readonly is: "fenced"; readonly instance: string; readonly run: string }
  | {
      readonly is: "crashed" | "paused" | "resumed" | "storeFailed" | "gone";
      readonly instance: string;
      readonly at: string;
    }
  /** What the network did to a message. */
  | { readonly is: "network"; readonly what: string };

/** Where the remote is read from. */
export interface Reading {
  readonly step: string;
  readonly name: string;
  readonly run: string;
  readonly round: number;
}

/** The world of one case. */
export class World {
  readonly log: Happening[] = [];
  /** Whether what the store does is noted in the order in which it does it. */
  readonly isCommitOrdered: boolean;
  readonly #answers = new Map<string, number>();
  readonly #throws = new Map<string, number>();
  readonly #undone = new Set<string>();
  #readings = 0;
  #effects = 0;

  constructor(isCommitOrdered = false) {
    this.isCommitOrdered = isCommitOrdered;
  }

  /** Writes one thing down. */
  note(happening: Happening): void {
    this.take(happening);
  }

  /** How often a key's function has thrown. */
  throwsOf(key: string): number {
    return this.#throws.get(key) ?? 0;
  }

  /** The remote system's answer to a key, if it knows it. */
  answerTo(key: string): number | undefined {
    return this.#answers.get(key);
  }

  /** Does an effect, or repeats the first answer when the key is known. */
  do(instance: string, run: string, step: string, key: string): number {
    const repeated = this.#answers.has(key);
    this.note({ is: "done", instance, run, step, key, repeated });
    return this.#answers.get(key) ?? 0;
  }

  /** Takes back what a step did, if it did. */
  undo(instance: string, run: string, step: string, key: string): void {
    this.note({ is: "undone", instance, run, step, key, repeated: this.#undone.has(key) });
  }

  /** A value that is another one at every reading. */
  read(reading: Reading): number {
    this.note({ is: "read", ...reading });
    return this.#readings;
  }

  /** Counts what happened among what is known. */
  protected take(happening: Happening): void {
    this.log.push(happening);
    if (happening.is === "done" && !happening.repeated) {
      this.#effects += 1;
      this.#answers.set(happening.key, this.#effects);
    }
    if (happening.is === "undone") this.#undone.add(happening.key);
    if (happening.is === "threw") this.#throws.set(happening.key, this.throwsOf(happening.key) + 1);
    if (happening.is === "read") this.#readings += 1;
  }
}
