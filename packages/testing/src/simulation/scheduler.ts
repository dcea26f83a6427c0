/**
 * Decides, by a seed, what happens next: which continuation, which store call, which message, which timer.
 *
 * Everything that would be left to the event loop, the network or the machine's clock is an event here. Between two events
 * all promises settle (one turn of the event loop, which decides nothing, because nothing else waits for it).
 *
 * D1 The next event is one of those that are ready, drawn at random; with none ready, time goes to the next timer, and of timers
 *    that are due at the same time one is drawn.
 * D2 Now and then a timer of the next moments comes before what is ready: calls take time, and take different times.
 * D3 The same seed and the same code give the same order of events.
 */
import type { Draw } from "./random.ts";
import type { Timing } from "./timing.ts";

interface Timer {
  readonly at: number;
  readonly work: () => void;
}

/** Timers so near may come before what is ready. Less than any lease is renewed by, so that no process seems to stand still. */
const SOON_MS = 300;
/** No request may take longer: every wait in the engine is bounded by less. */
const LONGEST_MS = 60 * 60 * 1000;

/** One order of events. */
export class Scheduler implements Timing {
  readonly #draw: Draw;
  readonly #ready: (() => void)[] = [];
  readonly #timers: Timer[] = [];
  readonly #startedAt = Date.UTC(2026, 0, 1);
  #now = this.#startedAt;
  #events = 0;
  /** Called before each event; for faults that may strike at any moment. */
  beforeEvent: () => void = () => undefined;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  readonly now = (): number => this.#now;
  readonly monotonic = (): number => this.#now - this.#startedAt + 1_000;

  readonly after = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.#now + Math.max(0, Math.ceil(ms)), work };
    this.#timers.push(timer);
    return () => remove(this.#timers, timer);
  };

  readonly turn = (work: () => void): (() => void) => {
    const event = (): void => work();
    this.#ready.push(event);
    return () => remove(this.#ready, event);
  };

  readonly stir = (): void => undefined;

  readonly during = async <T>(_what: string, call: () => Promise<T>): Promise<T> => {
    await this.hop();
    try {
      return await call();
    } finally {
      await this.hop();
    }
  };

  /** How many events there have been. */
  get events(): number {
    return this.#events;
  }

  /** Resolves at some later event. */
  hop(): Promise<void> {
    return new Promise((resolve) => {
      this.#ready.push(resolve);
    });
  }

  /** Resolves after `ms`. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Lets things happen until the promise has settled. @throws Error when it never would */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    const patience = this.#now + LONGEST_MS;
    for (;;) {
      await allSettled();
      if (settled) return promise;
      if (this.#now > patience || !this.#step(Number.POSITIVE_INFINITY))
        throw new Error("nothing is left that could go on: a promise hangs");
    }
  }

  /** Lets `ms` pass, with all that happens meanwhile and at once after it. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    do await allSettled();
    while (this.#step(until));
    this.#now = Math.max(this.#now, until);
  }

  /** The next event; false when there is none up to `until`. */
  #step(until: number): boolean {
    const count = this.#ready.length;
    const isEarly = count > 0 && this.#timers.length > 0 && this.#draw.chance(4);
    const limit = isEarly ? Math.min(until, this.#now + SOON_MS) : until;
    const work =
      count === 0 || isEarly ? (this.#takeTimer(limit) ?? this.#takeReady()) : this.#takeReady();
    if (work === undefined) return false;
    this.#events += 1;
    this.beforeEvent();
    work();
    return true;
  }

  #takeReady(): (() => void) | undefined {
    const count = this.#ready.length;
    return count === 0 ? undefined : this.#ready.splice(this.#draw.below(count), 1)[0];
  }

  #takeTimer(until: number): (() => void) | undefined {
    let at = Number.POSITIVE_INFINITY;
    for (const timer of this.#timers) at = Math.min(at, timer.at);
    if (at > until) return undefined;
    const due = this.#timers.filter((timer) => timer.at === at);
    const timer = due.length === 1 ? due[0] : this.#draw.pick(due);
    if (timer === undefined) return undefined;
    remove(this.#timers, timer);
    this.#now = Math.max(this.#now, at);
    return timer.work;
  }
}

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
}

/** Every promise that can settle has settled: no macrotask of a simulation's own exists, so this is the only one. */
function allSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
