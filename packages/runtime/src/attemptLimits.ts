/**
 * How long an attempt waits: for its handler as a whole, for a silent one, and for one that was stopped.
 *
 * Called by the attempt alone, which says what happens when a time is over. Nothing is called after `end`.
 */
import type { Clock } from "./clock.ts";

type Lift = (() => void) | undefined;

/** The limits. Each is set anew by setting it again. */
export class AttemptLimits {
  readonly #clock: Clock;
  #liftWhole: Lift;
  #liftSilence: Lift;
  #liftCleanUp: Lift;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The whole handler. */
  whole(ms: number, over: () => void): void {
    this.#liftWhole = this.#clock.after(ms, over);
  }

  /** Whether a silence is limited. */
  get isSilenceLimited(): boolean {
    return this.#liftSilence !== undefined;
  }

  /** A handler that asks nothing of ctx. */
  silence(ms: number, over: () => void): void {
    this.liftSilence();
    this.#liftSilence = this.#clock.after(ms, over);
  }

  liftSilence(): void {
    this.#liftSilence?.();
    this.#liftSilence = undefined;
  }

  /** What a stopped handler still does. */
  cleanUp(ms: number, over: () => void): void {
    this.#liftCleanUp?.();
    this.#liftCleanUp = this.#clock.after(ms, over);
  }

  end(): void {
    this.#liftWhole?.();
    this.#liftCleanUp?.();
    this.liftSilence();
  }
}
