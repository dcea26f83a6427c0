/**
 * How long a server of the handshake era has said nothing on a call.
 *
 * Held by a call in flight. Such a call stays open while a person thinks, which is no silence of the server; so the time is not
 * counted while a question is open. (The official client's own timeout knows progress only, and would end a call in the
 * middle of its question.)
 */
export class Silence {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #questions = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins to count. `onSilence` is called once, after `limitMs` in which nothing was heard and no question was open. */
  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.heard();
  }

  /** The server gave a sign of life. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#questions === 0) this.#timer = setTimeout(this.#onSilence, this.#limitMs);
  }

  questionOpened(): void {
    this.#questions += 1;
    clearTimeout(this.#timer);
  }

  questionClosed(): void {
    this.#questions -= 1;
    this.heard();
  }

  /** The call is over. */
  stop(): void {
    // Keeps a question that closes after the call's end from counting anew.
    this.#questions = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }
}
