/**
 * How well one process knows the ring right now: when it last read it, when it last failed to, whether it has settled.
 *
 * The ring (keyRing.ts) tells it what happened and asks before it believes what it holds. Times are of the clock that
 * never goes back and does not stop with the process.
 *
 * 1. What was not compared with the ring for 8 s is not trusted, unless the ring failed in that time: then waiting for
 *    it would only delay what an outage is allowed to go on with. So a process that was stopped or blocked looks
 *    first, and a revocation is in force within 10 s of the ring being reachable.
 * 2. Without a reading for 60 s the process is alone: keys of others may have been revoked.
 * 3. A ring is unsettled for 5 s after it began, after a new connection, after an outage, and after it was found
 *    incomplete: owners look at least every 2 s and need a moment to reconnect and publish again.
 */
import type { KeyRingClock } from "./keyRingPort.ts";

const STALE_MS = 8000;
const ALONE_AFTER_MS = 60_000;
/** See invariant 3. */
export const SETTLE_MS: number = 5000;

/** What a process knows of its contact with the ring. */
export class KeyRingContact {
  readonly #clock: KeyRingClock;
  #readAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #unsettledUntil = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #reached = true;

  constructor(clock: KeyRingClock) {
    this.#clock = clock;
  }

  /** What the newest failed command met. */
  get failure(): unknown {
    return this.#failure;
  }

  get isTrusted(): boolean {
    const now = this.#clock.monotonic();
    return now - this.#readAt < STALE_MS || now - this.#failedAt < STALE_MS;
  }

  get isAlone(): boolean {
    return this.#clock.monotonic() - this.#readAt >= ALONE_AFTER_MS;
  }

  get isSettled(): boolean {
    return this.#clock.monotonic() >= this.#unsettledUntil;
  }

  /** A reading arrived that was asked for at `askedAt`: what changed while it was on its way is not known. */
  read(askedAt: number): void {
    this.#readAt = askedAt;
  }

  /** The ring is unsettled for `ms` more, at most 5 s. */
  unsettle(ms: number = SETTLE_MS): void {
    const until = this.#clock.monotonic() + Math.min(ms, SETTLE_MS);
    this.#unsettledUntil = Math.max(this.#unsettledUntil, until);
  }

  /** A look failed. True if it is the first one after looks that did not. */
  failed(error: unknown): boolean {
    this.#failedAt = this.#clock.monotonic();
    this.#failure = error;
    const isFirst = this.#reached;
    this.#reached = false;
    return isFirst;
  }

  /** A look succeeded. True if it is the first one after looks that did not; the ring is unsettled then. */
  succeeded(): boolean {
    const isFirst = !this.#reached;
    this.#reached = true;
    if (isFirst) this.unsettle();
    return isFirst;
  }
}
