/**
 * How much of the lane one caller may hold: calls' streams, sessions' streams and open questions, counted on this front.
 *
 * Who takes gives back. A caller that holds nothing is not remembered.
 */
import { RepriseError } from "@reprise/errors";
import type { LegacyConfig } from "./options.ts";

interface Held {
  streams: number;
  /** GET streams of sessions: counted apart, so that they leave a caller its calls. */
  listeners: number;
  asks: number;
}

/** Counts by principal. */
export class CallerLimits {
  readonly #most: Held;
  readonly #held = new Map<string, Held>();

  constructor(config: Pick<LegacyConfig, "maxStreamsPerCaller" | "maxOpenAsksPerCaller">) {
    const { maxStreamsPerCaller, maxOpenAsksPerCaller } = config;
    this.#most = {
      streams: maxStreamsPerCaller,
      listeners: maxStreamsPerCaller,
      asks: maxOpenAsksPerCaller,
    };
  }

  /** Counts a call's stream. False: the caller has as many as it may. */
  takeStream(principal: string): boolean {
    return this.#take(principal, "streams");
  }

  /** Counts a session's stream. False: the caller has as many as it may. */
  takeListener(principal: string): boolean {
    return this.#take(principal, "listeners");
  }

  giveListener(principal: string): void {
    this.#add(principal, "listeners", -1);
  }

  /** The refusal of a stream that was not given. */
  refusal(): RepriseError {
    return new RepriseError(
      "BUSY",
      `This caller has ${this.#most.streams} open streams here; repeat when one has ended.`,
      { data: { retryAfterMs: 1000 } },
    );
  }

  giveStream(principal: string): void {
    this.#add(principal, "streams", -1);
  }

  /** Counts questions that were there before: of a call that this front took over. */
  asksKept(principal: string, count: number): void {
    this.#add(principal, "asks", count);
  }

  /**
   * Counts `by` questions more, or fewer where it is negative.
   * @throws RepriseError TOO_MANY_WAITING_RUNS when the caller would have more than it may
   */
  asksChanged(principal: string, by: number): void {
    if (by > 0 && (this.#held.get(principal)?.asks ?? 0) + by > this.#most.asks) {
      throw new RepriseError(
        "TOO_MANY_WAITING_RUNS",
        `This caller has ${this.#most.asks} open questions here.`,
        { data: { limit: this.#most.asks } },
      );
    }
    this.#add(principal, "asks", by);
  }

  #take(principal: string, what: keyof Held): boolean {
    if ((this.#held.get(principal)?.[what] ?? 0) >= this.#most[what]) return false;
    this.#add(principal, what, 1);
    return true;
  }

  #add(principal: string, what: keyof Held, by: number): void {
    if (by === 0) return;
    const held = this.#held.get(principal) ?? { streams: 0, listeners: 0, asks: 0 };
    held[what] += by;
    if (held.streams <= 0 && held.listeners <= 0 && held.asks <= 0) this.#held.delete(principal);
    else this.#held.set(principal, held);
  }
}
