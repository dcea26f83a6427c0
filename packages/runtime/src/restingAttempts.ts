/**
 * Attempts of this process that have asked and whose handler was left where it is, by run: a legacy call goes on in place instead
 * of being replayed (docs/design.md 8.2).
 *
 * Called by the lanes for requests that keep their handler. The round has ended in the record like any other; what is kept
 * here is only quicker, and worth nothing without a new claim of the run.
 *
 * K1 A handler goes on only under a claim of the round that it asked in, and only when the run's journal is the one that it
 *    knows; else another attempt went on in between, and it is given up.
 * K2 What is not gone on with by the question's end is given up: nothing stays.
 */
import type { Clock } from "./clock.ts";

/** A handler that waits. */
export interface Resting {
  /** False once it was stopped or given up. */
  readonly isResting: boolean;
  /** Gives it up: its questions reject with the suspension signal. */
  abandon(): void;
}

interface Kept<Attempt> {
  readonly attempt: Attempt;
  readonly round: number;
  readonly entryCount: number;
  readonly liftExpiry: () => void;
}

/** The resting attempts of one engine. */
export class RestingAttempts<Attempt extends Resting> {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept<Attempt>>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param round that the answers belong to @param entryCount of the run's journal @param expiresAt epoch milliseconds (K2) */
  keep(
    runId: string,
    attempt: Attempt,
    round: number,
    entryCount: number,
    expiresAt: number,
  ): void {
    this.drop(runId);
    if (this.#closed) return attempt.abandon();
    const left = Math.max(0, expiresAt - this.#clock.now());
    const liftExpiry = this.#clock.after(left, () => this.drop(runId));
    this.#kept.set(runId, { attempt, round, entryCount, liftExpiry });
  }

  /** The attempt that may go on with this round (K1). It is no longer kept, whatever the reply. */
  take(runId: string, round: number, entryCount: number): Attempt | undefined {
    const kept = this.#kept.get(runId);
    if (kept === undefined) return undefined;
    if (kept.round !== round || kept.entryCount !== entryCount) {
      this.drop(runId);
      return undefined;
    }
    this.#kept.delete(runId);
    kept.liftExpiry();
    return kept.attempt.isResting ? kept.attempt : undefined;
  }

  /** Gives up the attempt of a run, if there is one. */
  drop(runId: string): void {
    const kept = this.#kept.get(runId);
    if (kept === undefined) return;
    this.#kept.delete(runId);
    kept.liftExpiry();
    kept.attempt.abandon();
  }

  /** Gives all up; what comes afterwards too. */
  close(): void {
    this.#closed = true;
    for (const runId of [...this.#kept.keys()]) this.drop(runId);
  }
}
