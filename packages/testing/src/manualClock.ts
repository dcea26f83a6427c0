/**
 * A clock that stands still until a test moves it, with timers that fire in the order of their time.
 *
 * Called by tests and by the stores and harnesses they build; it never looks at the machine's clock.
 *
 * M1 Time only grows.
 * M2 A timer sees the time it was set for, also when `advance` goes further.
 */

/** A clock under the test's control. Its members need no `this`: spread it into options that take `now`. */
export interface ManualClock {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Moves the time by `ms` (0 or more) and runs what falls due, including timers that those set. */
  readonly advance: (ms: number) => void;
  /** Runs `run` once `delayMs` have passed; the returned function takes it back. */
  readonly setTimer: (delayMs: number, run: () => void) => () => void;
  /** Timers that are set and have not fired: 0 at the end of a test that leaves nothing behind. */
  readonly pendingTimers: () => number;
}

interface Timer {
  readonly dueAt: number;
  readonly run: () => void;
}

/**
 * Makes a manual clock.
 *
 * @param startAt epoch milliseconds; default 2026-01-01T00:00:00Z
 */
export function createManualClock(startAt: number = Date.UTC(2026, 0, 1)): ManualClock {
  let time = startAt;
  const timers = new Set<Timer>();
  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= until && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  };
  return {
    now: () => time,
    advance: (ms) => {
      if (!(ms >= 0)) throw new RangeError(`advance: ms must be 0 or more, got ${ms}`);
      const until = time + ms;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        time = Math.max(time, timer.dueAt);
        timer.run();
      }
      time = until;
    },
    setTimer: (delayMs, run) => {
      const timer: Timer = { dueAt: time + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    pendingTimers: () => timers.size,
  };
}
