/**
 * When the ring is looked at: regularly, on notice, and for requests that brought an unknown kid.
 *
 * The ring calls `soon` and waits for the answer; the work itself is the ring's.
 *
 * 1. One look at a time, and at most one a second: a flood of forged kids costs the database one command a second.
 * 2. A look that `soon` promises starts after the call. One that is under way does not count: it may have read before
 *    the key was published that the caller asks for.
 * 3. The next regular look is set when one ends, however it ended.
 */
import type { KeyRingClock } from "./keyRingPort.ts";

/** Regular looks, from the end of one to the start of the next. */
const REFRESH_MS = 2000;
/** Least time between the starts of two looks. */
const GAP_MS = 1000;

/** Schedules looks. */
export class KeyRingLooks {
  readonly #clock: KeyRingClock;
  readonly #look: () => Promise<boolean>;
  #startedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;
  #cancelRegular: () => void = () => undefined;
  #closed = false;

  /** `look` says whether the ring was reached; it never rejects. */
  constructor(clock: KeyRingClock, look: () => Promise<boolean>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** The next look: whether it reached the ring. False at once when closed. */
  soon(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    this.#next ??= new Promise((resolve) => {
      const start = (): void => {
        const look = this.#running.then(() => this.#start());
        this.#running = look;
        resolve(look);
      };
      const wait = this.#startedAt + GAP_MS - this.#clock.monotonic();
      if (wait > 0) this.#clock.after(wait, start);
      else start();
    });
    return this.#next;
  }

  /** No look starts any more; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRegular();
    await this.#running;
  }

  async #start(): Promise<boolean> {
    this.#next = undefined;
    if (this.#closed) return false;
    this.#cancelRegular();
    this.#startedAt = this.#clock.monotonic();
    const reached = await this.#look();
    if (!this.#closed) {
      // Two looks can be in a row: the first's regular one must not live beside the second's.
      this.#cancelRegular();
      this.#cancelRegular = this.#clock.after(REFRESH_MS, () => {
        // Nobody waits for a regular look; it reports its own failures and never rejects.
        void this.soon();
      });
    }
    return reached;
  }
}
