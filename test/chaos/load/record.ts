/**
 * What the load writes down: every reply with its time, and how every errand ended for its client.
 */
import type { Errand } from "./errands.ts";

/** How an errand ended, as its client knows. */
export type Ending =
  | { readonly kind: "result"; readonly text: string; readonly isError: boolean }
  /** A coded answer that says what to do, and that repeating is not it. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** The client gave up: it does not know how the run stands. */
  | { readonly kind: "unknown"; readonly why: string };

/** An errand with its end. */
export interface Ended {
  readonly errand: Errand;
  readonly ending: Ending;
  readonly era: "modern" | "legacy";
  /** Started anew after RUN_LOST. */
  readonly startedAnew: number;
  readonly lastedMs: number;
  /** By `performance.now()`. */
  readonly endedAtMs: number;
  /** Of an errand with a page, by `performance.now()`; absent for what never came. */
  readonly page?: {
    /** The shop's page first said that the payment is received. */
    readonly thankedAtMs?: number | undefined;
    /** The person last said "done". */
    readonly doneAtMs?: number | undefined;
  };
}

/** A reply, or the lack of one. Times by `performance.now()`. */
interface Answered {
  readonly atMs: number;
  readonly tookMs: number;
  /** `result`, `lost`, or the error's code. */
  readonly what: string;
  /** A whole call with its questions, and not one round of it. */
  readonly isWhole: boolean;
}

/** The record of one stretch of load. */
export class LoadRecord {
  readonly answered: Answered[] = [];
  readonly ended: Ended[] = [];
  /** What contradicts itself, in words: two replies to one request that differ. */
  readonly contradictions: string[] = [];

  took(sinceMs: number, what: string, { isWhole = false } = {}): void {
    const atMs = performance.now();
    this.answered.push({ atMs, tookMs: atMs - sinceMs, what, isWhole });
  }

  /** How many replies of each sort came. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { what } of this.answered) counts[what] = (counts[what] ?? 0) + 1;
    return counts;
  }
}
