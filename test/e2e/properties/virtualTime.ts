/**
 * Time that passes only when nothing else can happen: timers fire once every store call, effect and turn is through.
 *
 * So leases, backoffs and stalls of any length cost no time, and a slow machine makes none of them run out.
 */
import { createManualClock } from "@reprise/testing";
import type { Timing } from "@reprise/testing/simulation";

/** Turns of the event loop without any activity after which the next timer is due. */
const QUIET_TURNS = 4;

/** No request may take longer: every wait in the engine is bounded by less. */
const LONGEST_MS = 60 * 60 * 1000;

/** One time for all instances of a case. */
export class VirtualTime implements Timing {
  readonly #clock: ReturnType<typeof createManualClock>;
  readonly #startedAt: number;
  readonly #due: number[] = [];
  #inFlight = 0;
  #events = 0;

  /** @param startAt epoch milliseconds; default: that of a manual clock */
  constructor(startAt?: number) {
    this.#clock = createManualClock(startAt);
    this.#startedAt = this.#clock.now();
  }

  readonly now = (): number => this.#clock.now();
  /** Milliseconds since a moment before the case. */
  readonly monotonic = (): number => this.#clock.now() - this.#startedAt + 1_000;

  /** Runs `work` after `ms`; returns how to call it off. */
  readonly after = (ms: number, work: () => void): (() => void) => {
    // Whole milliseconds, as a wall clock has them.
    const delay = Math.max(0, Math.ceil(ms));
    const at = this.now() + delay;
    this.#due.push(at);
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.#due.splice(this.#due.indexOf(at), 1);
      isOver = true;
    };
    const cancel = this.#clock.setTimer(delay, () => {
      over();
      this.stir();
      work();
    });
    return () => {
      over();
      cancel();
    };
  };

  /** Runs `work` in the next turn of the event loop; returns how to call it off. */
  readonly turn = (work: () => void): (() => void) => {
    const handle = setImmediate(work);
    return () => clearImmediate(handle);
  };

  /** Something happened that may lead to more within this or the next turn. */
  readonly stir = (): void => {
    this.#events += 1;
  };

  /** Holds time while a call is on its way. */
  readonly during = async <T>(_what: string, call: () => Promise<T>): Promise<T> => {
    this.#inFlight += 1;
    try {
      return await call();
    } finally {
      this.#inFlight -= 1;
      this.stir();
    }
  };

  /** Lets time pass until the promise has settled. @throws Error when nothing is left that could settle it */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    const patience = this.now() + LONGEST_MS;
    while (!settled) {
      await this.quiet();
      if (settled) break;
      if (this.now() > patience || !this.#advance())
        throw new Error("nothing is left that could go on: a promise hangs");
    }
    return promise;
  }

  /** Lets `ms` pass. */
  async pass(ms: number): Promise<void> {
    const until = this.now() + ms;
    for (;;) {
      await this.quiet();
      const next = Math.min(...this.#due);
      if (next > until) break;
      this.#advance();
    }
    this.#clock.advance(until - this.now());
    await this.quiet();
  }

  /** Resolves when no call is on its way and nothing has happened for a few turns. */
  async quiet(): Promise<void> {
    let seen = -1;
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#inFlight > 0 || seen !== this.#events) turns = 0;
      seen = this.#events;
    }
  }

  #advance(): boolean {
    if (this.#due.length === 0) return false;
    this.#clock.advance(Math.max(0, Math.min(...this.#due) - this.now()));
    return true;
  }
}
