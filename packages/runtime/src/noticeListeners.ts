/**
 * Who listens to which channel in this process, for adapters of the port of shared records.
 *
 * Called by an adapter's `listen` and with what it hears. It knows nothing of how notices travel.
 *
 * L1 Every registration counts by itself, also of one function that listens twice; ending one is idempotent.
 * L2 Who ended is not called any more, also by a notice that is being told at that moment.
 * L3 A listener that throws keeps no other from hearing. What it threw is a fault of this process and becomes an uncaught
 *    exception: whoever published can do nothing about it.
 */
export class NoticeListeners {
  readonly #byChannel = new Map<string, Set<(notice: string) => void>>();

  /** Registers; returns how to end it. */
  add(channel: string, listener: (notice: string) => void): () => void {
    const own = (notice: string): void => listener(notice);
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#byChannel.get(channel) === listeners) {
        this.#byChannel.delete(channel);
      }
    };
  }

  /** Whether anybody listens to the channel. */
  has(channel: string): boolean {
    return this.#byChannel.has(channel);
  }

  /** Whether nobody listens to anything. */
  get isEmpty(): boolean {
    return this.#byChannel.size === 0;
  }

  /** Calls all who listen to the channel. */
  tell(channel: string, notice: string): void {
    const listeners = this.#byChannel.get(channel);
    for (const listener of [...(listeners ?? [])]) {
      if (listeners?.has(listener) !== true) continue;
      try {
        listener(notice);
      } catch (fault) {
        queueMicrotask(() => {
          throw fault;
        });
      }
    }
  }

  /** Ends all. */
  clear(): void {
    for (const listeners of this.#byChannel.values()) listeners.clear();
    this.#byChannel.clear();
  }
}
