/**
 * Notices of shared records over Redis' pub/sub: what this process listens to.
 *
 * Called by the shared records of a store, over the client with which the store hears of its own instance.
 *
 * N1 A channel is subscribed to while somebody in this process listens to it, once for all of them.
 * N2 Listening begins once Redis has confirmed it. ioredis subscribes again by itself after a reconnect, a failover, and when the
 *    node of a Cluster that it listened at is gone; what was published in between is lost (S5).
 * N3 Subscribing and unsubscribing are sent in the order in which they are decided, so the last one holds.
 */
import { RepriseError } from "@reprise/errors";
import { NoticeListeners } from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import type { StoreClock } from "./storeClock.ts";

/** Longest wait for a confirmation: a subscribing client waits through reconnects without a limit of its own. */
const CONFIRM_LIMIT_MS = 5_000;

/** The listening of one store. */
export class Notices {
  readonly #client: RedisClient;
  /** How the channels' names start. */
  readonly #prefix: string;
  readonly #clock: StoreClock;
  readonly #listeners = new NoticeListeners();
  readonly #subscribed = new Map<string, Promise<unknown>>();

  constructor(client: RedisClient, prefix: string, clock: StoreClock) {
    this.#client = client;
    this.#prefix = prefix;
    this.#clock = clock;
    client.on("message", this.#onMessage);
  }

  /** As `SharedRecords.listen`, for a channel that was checked. */
  async listen(channel: string, listener: (notice: string) => void): Promise<() => void> {
    const endListening = this.#listeners.add(channel, listener);
    const end = (): void => {
      endListening();
      this.#unsubscribeIfUnheard(channel);
    };
    try {
      await this.#confirmed(this.#subscribe(channel));
      return end;
    } catch (failure) {
      end();
      throw failure;
    }
  }

  /** Nobody hears anything more. Idempotent; the client is closed by whoever gave it. */
  close(): void {
    this.#client.off("message", this.#onMessage);
    this.#listeners.clear();
    this.#subscribed.clear();
  }

  readonly #onMessage = (name: string, notice: string): void => {
    if (name.startsWith(this.#prefix)) {
      this.#listeners.tell(name.slice(this.#prefix.length), notice);
    }
  };

  #subscribe(channel: string): Promise<unknown> {
    const known = this.#subscribed.get(channel);
    if (known !== undefined) return known;
    const subscribing = this.#client.subscribe(this.#prefix + channel);
    this.#subscribed.set(channel, subscribing);
    // A refusal is not kept: who listens next asks again.
    subscribing.catch(() => {
      if (this.#subscribed.get(channel) === subscribing) this.#subscribed.delete(channel);
    });
    return subscribing;
  }

  #unsubscribeIfUnheard(channel: string): void {
    if (this.#listeners.has(channel) || !this.#subscribed.delete(channel)) return;
    // What goes on to arrive after a failure finds nobody.
    this.#client.unsubscribe(this.#prefix + channel).catch(() => undefined);
  }

  async #confirmed(subscribing: Promise<unknown>): Promise<void> {
    let takeBack = (): void => {};
    const tooLate = new Promise<never>((_resolve, reject) => {
      takeBack = this.#clock.setTimer(CONFIRM_LIMIT_MS, () => {
        const message = `Redis did not confirm listening within ${CONFIRM_LIMIT_MS} ms`;
        reject(new RepriseError("STORE_UNAVAILABLE", message));
      });
    });
    try {
      await Promise.race([subscribing, tooLate]);
    } finally {
      takeBack();
    }
  }
}
