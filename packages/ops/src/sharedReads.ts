/**
 * Reads of the store that many open pages share: whoever asks the same within a moment gets the same answer.
 *
 * A hundred pages that hear of one change ask at once; the store is asked once. A failure is shared too, and forgotten
 * with the answer. Nothing that reveals a value goes through here.
 */
import type { Clock } from "@reprise/runtime";

interface Held {
  readonly reply: Promise<unknown>;
  readonly until: number;
}

const MOST = 500;

/** Answers kept for `forMs`. */
export class SharedReads {
  readonly #clock: Clock;
  readonly #forMs: number;
  readonly #held = new Map<string, Held>();

  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** `key` says what is read, whole: two reads of one key must be the same read. */
  get<T>(key: string, read: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const held = this.#held.get(key);
    // The key says what type it is.
    if (held !== undefined && now < held.until) return held.reply as Promise<T>;
    if (this.#held.size >= MOST) this.#held.clear();
    const reply = read();
    this.#held.set(key, { reply, until: now + this.#forMs });
    return reply;
  }

  /** After an action: what was read before it is old. */
  forget(): void {
    this.#held.clear();
  }
}
