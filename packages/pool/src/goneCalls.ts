/**
 * Calls whose callers are gone, as fronts tell all workers: of calls that this worker has, and of those that it may yet take.
 */
import type { Sender } from "@reprise/runtime";

/** Of calls that no worker has told of yet. More are forgotten, oldest first: fronts tell again until a worker has heard. */
const MOST = 10_000;

/** The gone calls of one worker. */
export class GoneCalls {
  readonly #gone = new Set<string>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** The caller of this call is gone. */
  add(id: string): void {
    if (this.#gone.has(id)) return;
    this.#gone.add(id);
    const [oldest] = this.#gone;
    if (this.#gone.size > MOST && oldest !== undefined) this.#gone.delete(oldest);
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener();
  }

  /** The caller of a call that is executed here. */
  sender(id: string): Sender {
    const gone = this.#gone;
    return {
      get isGone() {
        return gone.has(id);
      },
      onGone: (listener) => {
        const listeners = this.#listeners.get(id) ?? new Set();
        this.#listeners.set(id, listeners);
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    };
  }

  /** The call has ended. */
  forget(id: string): void {
    this.#gone.delete(id);
    this.#listeners.delete(id);
  }
}
