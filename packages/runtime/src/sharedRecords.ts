/**
 * Small records that all instances of a deployment share: sessions, calls and their streams, completions of URL asks, flags.
 *
 * A port of the runtime beside the run store. What a record means is decided by whoever reads it; an adapter only keeps the
 * promises below, so everything above it is written once for all of them.
 *
 * S1 A reply is given only after what it says is durable, as far as the adapter's store is.
 * S2 `put` and `remove` are compare-and-set: of two writers that read the same revision, one succeeds. A revision that was
 *    given once is never given again for that key, also not after the record was removed or has expired.
 * S3 Numbers of a log's items grow by one and never repeat while the log lives, also after old items were dropped.
 * S4 Everything expires. A later write never shortens a log's life; a record lives as long as its last write says.
 * S5 A notice is a hint: it may be lost, or heard by who began to listen just after it, and whoever must not miss what it speaks of looks again by itself.
 * S6 What is at or after its `expiresAt` is not there, whether or not it has been deleted.
 */
import type { JsonValue } from "@reprise/journal";

/** A record or log by kind and id: both words of `A-Z a-z 0-9 _ -`, 1 to 200 characters. */
export interface SharedKey {
  readonly kind: string;
  readonly id: string;
}

/** A record as it was read. */
export interface SharedRecord {
  readonly value: JsonValue;
  /** What `put` and `remove` compare. */
  readonly revision: string;
}

/** One item of a log. */
export interface LogItem {
  /** From 1 up. */
  readonly number: number;
  readonly text: string;
}

/** A part of a log. */
export interface LogPart {
  readonly items: readonly LogItem[];
  /** Number of the newest item that was ever appended; 0 when there is no such log. */
  readonly last: number;
}

/** How long a log and how much of it is kept. */
export interface LogLimits {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** The newest so many items are kept; older ones are dropped. */
  readonly keep: number;
}

/**
 * The port. Failures are RepriseErrors STORE_UNAVAILABLE or STORE_FULL; after one, the caller may not assume either outcome.
 * A malformed key, channel, limit or text (half of a surrogate pair) is a RangeError. All of them reject.
 */
export interface SharedRecords {
  /** Undefined: there is none, or it has expired. */
  get(key: SharedKey): Promise<SharedRecord | undefined>;
  /**
   * Writes a record.
   *
   * @param expected the revision that stands; undefined: there is none
   * @param expiresAt epoch milliseconds
   * @returns the new revision; undefined when another one stands, and nothing was written
   */
  put(
    key: SharedKey,
    value: JsonValue,
    expected: string | undefined,
    expiresAt: number,
  ): Promise<string | undefined>;
  /** Deletes the record of that revision; false when another one stands, or none. */
  remove(key: SharedKey, expected: string): Promise<boolean>;
  /**
   * Appends to a log, which the first item makes; without items it only extends and trims a log that is there. Returns the
   * number of the newest item, 0 when there is no log.
   */
  append(log: SharedKey, items: readonly string[], limits: LogLimits): Promise<number>;
  /** Items with a number above `after`, oldest first, at most `limit` of them; dropped ones are left out. */
  read(log: SharedKey, after: number, limit: number): Promise<LogPart>;
  /** Tells all who listen to the channel, this process included, within 50 ms as a rule. At most 8 KB. */
  publish(channel: string, notice: string): Promise<void>;
  /**
   * Calls `listener`, which must not throw, for every notice from now on; resolves once it would hear one. Returns how to end
   * it, which may be called again. Closing the store ends it too.
   */
  listen(channel: string, listener: (notice: string) => void): Promise<() => void>;
}
