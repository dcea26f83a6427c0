/**
 * The shop as the payment service knows it: an address that was registered, never one from a request.
 *
 * A notice says which reference has news and nothing else: the shop asks here what they are. It goes out a few times
 * until the shop takes it; that it never may is no loss of money, and the card page sends people to the shop as well.
 */
import { setTimeout as wait } from "node:timers/promises";

const noticeTries = 8;
const firstPauseMs = 200;
const patienceMs = 5_000;

/** The registered shop, if there is one. */
export class Merchant {
  readonly #url: string | undefined;
  readonly #noticesUrl: string | undefined;

  /**
   * `url`: the address of the shop's page as browsers have it, ending in `/`. `noticesUrl`: the same page as this service
   * reaches it, default `url`.
   */
  constructor(url: string | undefined, noticesUrl: string | undefined = url) {
    this.#url = url;
    this.#noticesUrl = noticesUrl;
  }

  /** What a form's reply may redirect to. */
  get origins(): readonly string[] {
    return this.#url === undefined ? [] : [new URL(this.#url).origin];
  }

  /** The shop's page for a reference; undefined when there is none. */
  pageFor(reference: string | null): string | undefined {
    if (this.#url === undefined || reference === null) return undefined;
    return new URL(`paid/${encodeURIComponent(reference)}`, this.#url).href;
  }

  /** Tells the shop that something happened with a reference. Resolves when it was heard, or given up; never rejects. */
  async tell(reference: string | null): Promise<void> {
    if (this.#noticesUrl === undefined || reference === null) return;
    const url = new URL("notices", this.#noticesUrl);
    for (let tries = 0, pauseMs = firstPauseMs; tries < noticeTries; tries += 1, pauseMs *= 2) {
      if (tries > 0) await wait(pauseMs, undefined, { ref: false });
      if (await isHeard(url, reference)) return;
    }
  }
}

async function isHeard(url: URL, reference: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ reference }),
      signal: AbortSignal.timeout(patienceMs),
    });
    // What the shop refuses now it refuses again.
    return status < 500;
  } catch {
    return false;
  }
}
