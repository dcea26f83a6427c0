/**
 * One timer for everything that waits: keep-alives, leases, limits.
 *
 * Subscriptions, and streams and calls of the handshake era, add themselves and are told the time every `tickMs`. What waits for
 * days costs one comparison a tick and no timer of its own; the timer runs only while there is a member.
 */
import type { Clock } from "@reprise/runtime";

/** How exact its times are. */
const tickMs = 250;

/** A member of the wheel. */
export interface Ticked {
  /** Must not throw. `now` is the monotonic time in milliseconds. May remove itself. */
  tick(now: number): void;
}

/** The timer and its members. */
export class Wheel {
  readonly #clock: Clock;
  readonly #members = new Set<Ticked>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(member: Ticked): void {
    this.#members.add(member);
    this.#cancel ??= this.#clock.after(tickMs, this.#turn);
  }

  delete(member: Ticked): void {
    this.#members.delete(member);
  }

  /** Tells nobody any more. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#members.clear();
  }

  readonly #turn = (): void => {
    const now = this.#clock.monotonic();
    for (const member of this.#members) member.tick(now);
    this.#cancel = this.#members.size === 0 ? undefined : this.#clock.after(tickMs, this.#turn);
  };
}
