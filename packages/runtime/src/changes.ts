/**
 * What instances tell each other at once: that tools or prompts were switched, a resource changed, a page is done.
 *
 * Called by the engine's parts that change something (`hint`, `resourceUpdated`) and by those that act on it (`onChange`, fronts among them).
 *
 * C1 A notice is a hint (S5 of `sharedRecords.ts`): it may be lost, and whoever must not miss what it speaks of looks again.
 * C2 Nothing is listened to before somebody wants to hear.
 */
import { isJsonObject, type JsonValue } from "@reprise/journal";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { SharedRecords } from "./sharedRecords.ts";

/** A change that fronts tell their clients of. */
export type Change =
  /** A tool was enabled or disabled: the catalog's list is another one. */
  | { readonly kind: "toolsChanged" }
  /** The same of a prompt. */
  | { readonly kind: "promptsChanged" }
  /** The contents of a resource are no longer what they were. */
  | { readonly kind: "resourceUpdated"; readonly uri: string }
  /** The page of a URL ask is done. */
  | { readonly kind: "elicitationCompleted"; readonly id: string };

const CHANNEL = "changes";
const LISTEN_AGAIN_MS = 1_000;
/** A notice has at most 8 KB, and JSON may double a text. */
const MAX_URI_BYTES = 4 * 1024 - 128;

/** The changes that one runtime tells and hears of. */
export class Changes {
  readonly #shared: SharedRecords;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #listeners = new Set<(change: Change) => void>();
  #state: "idle" | "listening" | "closed" = "idle";
  #stopListening: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(shared: SharedRecords, clock: Clock, log: Logger) {
    this.#shared = shared;
    this.#clock = clock;
    this.#log = log;
  }

  /** Tells that a resource's contents changed. @throws RangeError for a URI that no notice holds; RepriseError STORE_UNAVAILABLE */
  async resourceUpdated(uri: string): Promise<void> {
    const bytes = Buffer.byteLength(uri);
    if (bytes > MAX_URI_BYTES) {
      throw new RangeError(`uri has ${bytes} bytes; give at most ${MAX_URI_BYTES}`);
    }
    await this.#tell({ kind: "resourceUpdated", uri });
  }

  /** Tells all instances, this one included, what they find out by looking too: a failure is only logged. */
  async hint(change: Change): Promise<void> {
    try {
      await this.#tell(change);
    } catch (error) {
      this.#log.warn({ err: error, change: change.kind }, "other instances could not be told");
    }
  }

  /** Calls `listener` for every change that is told from now on; returns how to end that. */
  onChange(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    if (this.#state === "idle") this.#listen();
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Tells nobody any more. Idempotent. */
  close(): void {
    this.#state = "closed";
    this.#cancelRetry?.();
    this.#stopListening?.();
    this.#listeners.clear();
  }

  #tell(change: Change): Promise<void> {
    return this.#shared.publish(CHANNEL, JSON.stringify(change));
  }

  #listen(): void {
    this.#state = "listening";
    this.#shared
      .listen(CHANNEL, (notice) => this.#heard(notice))
      .then(
        (stop) => {
          this.#stopListening = stop;
          if (this.#state === "closed") stop();
        },
        (error: unknown) => {
          if (this.#state === "closed") return;
          this.#log.warn({ err: error }, "changes of other instances can't be heard; trying again");
          this.#cancelRetry = this.#clock.after(LISTEN_AGAIN_MS, () => this.#listen());
        },
      );
  }

  #heard(notice: string): void {
    const change = changeOf(notice);
    // Of a later release.
    if (change === undefined) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error, change: change.kind }, "a listener for changes threw");
      }
    }
  }
}

function changeOf(notice: string): Change | undefined {
  let read: JsonValue;
  try {
    read = JSON.parse(notice) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isJsonObject(read)) return undefined;
  const { kind, uri, id } = read;
  if (kind === "toolsChanged" || kind === "promptsChanged") return { kind };
  if (kind === "resourceUpdated" && typeof uri === "string") return { kind, uri };
  if (kind === "elicitationCompleted" && typeof id === "string") return { kind, id };
  return undefined;
}
