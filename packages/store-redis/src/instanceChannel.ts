/**
 * What other processes tell this one at once: that an attempt it watches ended, that one it executes is stopped.
 *
 * Called by the store, over a client that others listen with too. Messages are `ended`, `stop` or `cancel`, then ` <run id> <epoch>`, on a channel of this instance's own.
 *
 * I1 A message is a hint: one that is lost (a broken connection) is made up for by looking (`watches.ts`) and by renewals.
 * I2 Opening resolves once the subscription stands, so nothing that is asked for afterwards is missed while it does.
 */
import type { RedisClient } from "./connection.ts";

/** What was told of an attempt. */
export type News = "ended" | "stop" | "cancel";

const known: readonly News[] = ["ended", "stop", "cancel"];

/** A message. */
export function newsOf(news: News, runId: string, epoch: number): string {
  return `${news} ${runId} ${epoch}`;
}

/** One instance's subscription. */
export class InstanceChannel {
  readonly #client: RedisClient;
  readonly #channel: string;
  readonly #heard: (news: News, runId: string, epoch: number) => void;

  private constructor(
    client: RedisClient,
    channel: string,
    heard: (news: News, runId: string, epoch: number) => void,
  ) {
    this.#client = client;
    this.#channel = channel;
    this.#heard = heard;
  }

  /** Subscribes; `client` stays the caller's. */
  static async open(
    client: RedisClient,
    channel: string,
    heard: (news: News, runId: string, epoch: number) => void,
  ): Promise<InstanceChannel> {
    const opened = new InstanceChannel(client, channel, heard);
    client.on("message", opened.#onMessage);
    try {
      await client.subscribe(channel);
    } catch (failure) {
      opened.close();
      throw failure;
    }
    return opened;
  }

  /** Hears nothing more. Idempotent. */
  close(): void {
    this.#client.off("message", this.#onMessage);
  }

  readonly #onMessage = (channel: string, message: string): void => {
    if (channel !== this.#channel) return;
    const [word, runId, epoch] = message.split(" ");
    const news = known.find((one) => one === word);
    if (news !== undefined && runId !== undefined) this.#heard(news, runId, Number(epoch));
  };
}
