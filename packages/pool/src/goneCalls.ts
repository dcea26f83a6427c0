/**
 * Calls whose callers are gone or have cancelled them, as fronts tell all workers: of calls that this worker has, and of those
 * that it may yet take.
 *
 * A front tells `<job id>` of a caller that is gone, and `<job id> cancelled` of one that wants the run ended.
 */
import type { Sender } from "@reprise/runtime";

/** Of calls that no worker has told of yet. More are forgotten, oldest first: fronts tell again until a worker has heard. */
const MOST = 10_000;

/** What a front tells of a call that is to be ended. */
export function cancelNotice(id: string): string {
  return `${id} cancelled`;
}

/** The gone calls of one worker. */
export class GoneCalls {
  readonly #gone = new Set<string>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** A front has told this. */
  add(notice: string): void {
    if (this.#gone.has(notice)) return;
    this.#gone.add(notice);
    const [oldest] = this.#gone;
    if (this.#gone.size > MOST && oldest !== undefined) this.#gone.delete(oldest);
    for (const listener of [...(this.#listeners.get(notice) ?? [])]) listener();
  }

  /** The caller of a call that is executed here. */
  sender(id: string): Sender {
    const gone = this.#gone;
    const cancelling = new AbortController();
    const notice = cancelNotice(id);
    if (gone.has(notice)) cancelling.abort();
    else this.#listen(notice, () => cancelling.abort());
    return {
      get isGone() {
        return gone.has(id);
      },
      onGone: (listener) => this.#listen(id, listener),
      cancelled: cancelling.signal,
    };
  }

  #listen(notice: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(notice) ?? new Set();
    this.#listeners.set(notice, listeners.add(listener));
    return () => {
      listeners.delete(listener);
    };
  }

  /** The call has ended. */
  forget(id: string): void {
    for (const notice of [id, cancelNotice(id)]) {
      this.#gone.delete(notice);
      this.#listeners.delete(notice);
    }
  }
}
