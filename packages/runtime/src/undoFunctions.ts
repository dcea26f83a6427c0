/**
 * The undo functions of one attempt's handler, and what they are to be called for (docs/design.md 4.5).
 *
 * Filled by `ctx.step` whether the step is live or delivered, asked when the handler has failed or its journal is delivered. It
 * runs nothing.
 *
 * N1 A recorded step and one in doubt are undone, in the reverse of their order; a step in doubt without an entry is the newest.
 * N2 A step that is certainly not done, or undone already, is left out.
 * N3 A step's function that ignores its signal runs on when its step is given up; as long as one does, `idle` is not there.
 */
import { decodeValue, type Entry, undoneSteps } from "@reprise/journal";
import type { StepOptions, UndoStep } from "./contextTypes.ts";

/** How a step is undone. */
export interface UndoFunction {
  /** Called with what the step gave, or undefined when nobody knows whether it happened. */
  readonly undo: UndoStep<unknown>;
  /** The step's own: tries, timeout and key lifetime hold for its undo as well. */
  readonly options: StepOptions<unknown>;
  readonly idempotencyKey: string;
  readonly stepIdempotencyKey: string;
}

/** A step to undo. */
export interface StepToUndo {
  readonly name: string;
  /** Undefined also for a step in doubt. */
  readonly result: unknown;
  readonly how: UndoFunction;
}

/** What is recorded of a run: its journal, and the names of steps that are marked as in doubt. */
export interface Done {
  readonly entries: readonly Entry[];
  readonly marked: Iterable<string>;
}

/** The functions by step. */
export class UndoFunctions {
  readonly #known = new Map<string, UndoFunction>();
  /** Functions of steps that were entered and have not ended. */
  #running = 0;
  #whenIdle: (() => void)[] = [];

  add(step: string, how: UndoFunction): void {
    this.#known.set(step, how);
  }

  /** A step's function as it is to be entered, so that its end is known (N3). */
  watched<Input, T>(fn: (input: Input) => Promise<T> | T): (input: Input) => Promise<T> {
    return async (input) => {
      this.#running += 1;
      try {
        return await fn(input);
      } finally {
        this.#running -= 1;
        if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
      }
    };
  }

  /** Resolves when no function of a step runs; undefined when none does. */
  get idle(): Promise<void> | undefined {
    if (this.#running === 0) return undefined;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  /** What is to be undone, in that order. */
  toUndo(done: Done): readonly StepToUndo[] {
    const found: StepToUndo[] = [];
    for (const [name, value] of standingSteps(done)) {
      const how = this.#known.get(name);
      const result = value === undefined ? undefined : decodeValue(value);
      if (how !== undefined) found.push({ name, result, how });
    }
    return found.reverse();
  }

  /** A step that had an undo function when it was started, is still to be undone, and has none any more. */
  missing(done: Done, undoable: readonly string[] = []): string | undefined {
    const standing = standingSteps(done);
    return undoable.find((name) => standing.has(name) && !this.#known.has(name));
  }
}

/** Steps that happened or may have, and are not undone, in order; with the journal text of what they gave, where that is known. */
export function standingSteps({ entries, marked }: Done): ReadonlyMap<string, string | undefined> {
  const standing = new Map<string, string | undefined>();
  const failed = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "step_completed") standing.set(entry.name, entry.value);
    else if (entry.kind === "step_failed") {
      failed.add(entry.name);
      if (entry.outcome === "uncertain") standing.set(entry.name, undefined);
    }
  }
  for (const name of marked) {
    if (!standing.has(name) && !failed.has(name)) standing.set(name, undefined);
  }
  for (const name of undoneSteps(entries)) standing.delete(name);
  return standing;
}
