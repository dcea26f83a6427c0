/**
 * Time as the store sees it: the server's, estimated between replies, and this process's timers.
 *
 * S1 Nothing here reads the wall clock of this machine: what a record says of time is the server's, within a round trip.
 * S2 Leases and expiries are judged inside scripts; the estimate only dates what a decision writes down.
 */

/** For tests: time that does not pass by itself. */
export interface StoreClock {
  /** What scripts take for the server's time, in epoch ms; absent: the server's own. */
  readonly playedNow?: () => number;
  /** Milliseconds since any fixed moment. */
  readonly monotonicNow: () => number;
  /** Runs `run` once `delayMs` have passed; the returned function takes it back. */
  readonly setTimer: (delayMs: number, run: () => void) => () => void;
}

/** The machine's timers under the server's time. */
export const systemClock: StoreClock = {
  monotonicNow: () => performance.now(),
  setTimer: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The server's time between its replies. */
export class ServerTime {
  readonly #clock: StoreClock;
  /** Server time minus monotonic time, as of the newest reply. */
  #offset = 0;

  constructor(clock: StoreClock) {
    this.#clock = clock;
  }

  /** A reply said what time it was. */
  note(serverNow: number): number {
    this.#offset = serverNow - this.#clock.monotonicNow();
    return serverNow;
  }

  /** Epoch ms of the server; behind it by at most the way of the newest reply. Whole, as scripts count. */
  now(): number {
    return this.#clock.playedNow?.() ?? Math.floor(this.#clock.monotonicNow() + this.#offset);
  }

  /** What scripts are given as their clock. */
  get argument(): string {
    const played = this.#clock.playedNow?.();
    return played === undefined ? "" : String(played);
  }
}
