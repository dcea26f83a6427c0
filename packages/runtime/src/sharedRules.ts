/**
 * What calls of the port of shared records may say: one reading for all adapters.
 *
 * Called by the adapters before anything is written. It refuses with RangeErrors and changes nothing.
 */
import type { JsonValue } from "@reprise/journal";
import type { LogLimits, SharedKey } from "./sharedRecords.ts";

const LONGEST_NOTICE_BYTES = 8 * 1024;
const word = /^[A-Za-z0-9_-]{1,200}$/;
/** Half of a pair alone: no store of UTF-8 gives it back. */
const loneSurrogate = /\p{Surrogate}/u;

/** The key as one text. @throws RangeError for what is no key */
export function sharedName({ kind, id }: SharedKey): string {
  if (!isWord(kind) || !isWord(id)) {
    throw new RangeError(
      `kind and id must be words of A-Z a-z 0-9 _ -, 1 to 200 long, got ${JSON.stringify([kind, id])}`,
    );
  }
  return `${kind}:${id}`;
}

/** The value as text. @throws RangeError for what JSON has no word for */
export function sharedText(value: JsonValue): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined)
    throw new RangeError(`a record's value must be JSON, got ${typeof value}`);
  return text;
}

/** Whole epoch milliseconds. @throws RangeError for what is no time */
export function checkExpiry(expiresAt: number): number {
  const whole = Math.floor(expiresAt);
  if (Number.isSafeInteger(whole) && whole >= 0) return whole;
  throw new RangeError(`expiresAt must be epoch milliseconds, got ${expiresAt}`);
}

/** @throws RangeError for limits that can't be meant, or items that no store gives back as they are */
export function checkAppended(items: readonly string[], { expiresAt, keep }: LogLimits): void {
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw new RangeError(`keep must be a whole number above 0, got ${keep}`);
  }
  checkExpiry(expiresAt);
  const broken = items.findIndex((item) => loneSurrogate.test(item));
  if (broken >= 0) throw new RangeError(`item ${broken} has half of a surrogate pair in it`);
}

/** @throws RangeError for a part of a log that can't be meant */
export function checkPart(after: number, limit: number): void {
  if (!Number.isSafeInteger(after) || after < 0) {
    throw new RangeError(`after must be 0 or an item's number, got ${after}`);
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new RangeError(`limit must be a whole number above 0, got ${limit}`);
  }
}

/** @throws RangeError for a channel that is no word, or a notice that is too long or broken */
export function checkNotice(channel: string, notice = ""): void {
  if (!isWord(channel)) {
    throw new RangeError(
      `channel must be a word of A-Z a-z 0-9 _ -, 1 to 200 long, got ${JSON.stringify(channel)}`,
    );
  }
  const bytes = Buffer.byteLength(notice);
  if (bytes > LONGEST_NOTICE_BYTES) {
    throw new RangeError(`a notice has at most ${LONGEST_NOTICE_BYTES} bytes, got ${bytes}`);
  }
  if (loneSurrogate.test(notice)) {
    throw new RangeError("the notice has half of a surrogate pair in it");
  }
}

function isWord(text: unknown): boolean {
  return typeof text === "string" && word.test(text);
}
