/**
 * Time of a harness: it passes only when nothing else can happen, so that backoffs, graces and stalls cost none.
 *
 * T1 While a function of the author's runs in a step or read, time stands still: how long a fake takes on this machine decides
 *    nothing.
 * T2 Of one wait at most `MOST_MS` pass by themselves. What is awaited longer is something outside of ctx, and is awaited in real
 *    time.
 */
import { createManualClock, type ManualClock } from "../manualClock.ts";

/** Turns of the event loop without an end after which time may pass. */
const QUIET_TURNS = 25;
/** Longer than every wait in the engine that a call can meet, but the limit of the whole handler. */
const MOST_MS = 120_000;
const FIRST_PACE_MS = 20;
const MOST_PACE_MS = 2_000;

/** A clock, and what runs meanwhile. */
export class HarnessTime {
  readonly clock: ManualClock = createManualClock();
  readonly #running = new Set<Promise<unknown>>();

  /** Runs a function of the author's. */
  async during<T>(work: () => Promise<T> | T): Promise<T> {
    const running = (async () => work())();
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(settled);
    try {
      return await running;
    } finally {
      this.#running.delete(settled);
    }
  }

  /** Lets things happen until the promise has settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const mark = (): void => {
      isSettled = true;
    };
    promise.then(mark, mark);
    let spentMs = 0;
    let paceMs = FIRST_PACE_MS;
    while (!isSettled && spentMs < MOST_MS) {
      for (let turn = 0; turn < QUIET_TURNS && !isSettled; turn += 1) await oneTurn();
      if (isSettled) break;
      if (this.#running.size > 0) {
        await Promise.race([promise.catch(() => undefined), ...this.#running]);
        continue;
      }
      this.clock.advance(paceMs);
      spentMs += paceMs;
      // The runtime takes whole milliseconds only, in what it seals for example.
      paceMs = Math.min(Math.round(paceMs * 1.5), MOST_PACE_MS);
    }
    return promise;
  }

  /** Lets `ms` pass, with what happens meanwhile. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await oneTurn();
  }
}

function oneTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
