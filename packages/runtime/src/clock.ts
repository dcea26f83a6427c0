/**
 * Time as a port: the runtime reads it nowhere else, so tests move it by hand.
 */

/** A clock. */
export interface Clock {
  /** Epoch milliseconds. For records and expiry; never for ownership, which the store judges. */
  now(): number;
  /** Milliseconds of a clock that never goes back. For durations. */
  monotonic(): number;
  /** Runs `work` once after `ms`; returns how to call it off. Does not keep the process alive. */
  after(ms: number, work: () => void): () => void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The process's own clock. A wait of more than 24 days ends after 24 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    // A longer timer would go off at once.
    const timer = setTimeout(work, Math.min(ms, MAX_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    function onAbort(): void {
      cancel();
      resolve();
    }
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
