/**
 * Shared records and logs in the database, and the index by which expired ones are found.
 *
 * Called by `lmdbRecords.ts`: what writes, inside a write transaction; what reads, there or on a fresh read view. It knows
 * neither time nor room: it is told what time it is, and whoever calls has checked what is put.
 *
 * T1 What a call refuses is known before its first put (E2 of the environment).
 * T2 Every record and log is once in the index, by the minute of its expiry; it moves in the same transaction.
 * T3 A revision is drawn, 96 bits: none is given twice, whatever was removed or has expired.
 */
import { randomBytes } from "node:crypto";
import type { LogItem, LogLimits, LogPart, SharedKey, SharedRecord } from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import * as keys from "./keys.ts";

interface RecordText extends SharedRecord {
  readonly expiresAt: number;
}

/** A log without its items: those from `first` to `last` are there. */
interface LogText {
  readonly first: number;
  readonly last: number;
  readonly expiresAt: number;
}

/** Shared records and logs of one database. */
export class SharedTable {
  readonly #database: TextDatabase;

  constructor(database: TextDatabase) {
    this.#database = database;
  }

  /** The record, unless it has expired. */
  get(key: SharedKey, now: number): SharedRecord | undefined {
    const record = this.#parsed<RecordText>(keys.sharedRecordKey(key));
    if (record === undefined || record.expiresAt <= now) return undefined;
    return { value: record.value, revision: record.revision };
  }

  /** Writes it, and gives the new revision. @param value JSON */
  put(key: SharedKey, value: string, expiresAt: number): string {
    const name = keys.sharedRecordKey(key);
    const revision = randomBytes(12).toString("base64url");
    const before = this.#parsed<RecordText>(name);
    this.#moveExpiry(name, before?.expiresAt, expiresAt);
    this.#put(name, `{"revision":"${revision}","expiresAt":${expiresAt},"value":${value}}`);
    return revision;
  }

  /** Deletes it. */
  remove(key: SharedKey): void {
    const name = keys.sharedRecordKey(key);
    this.#moveExpiry(name, this.#parsed<RecordText>(name)?.expiresAt, undefined);
    this.#remove(name);
  }

  /** Whether there is a log that has not expired. */
  hasLog(key: SharedKey, now: number): boolean {
    return this.#log(key, now) !== undefined;
  }

  /** Appends, trims and extends; gives the newest number. A log that has expired goes, with its items. */
  append(key: SharedKey, texts: readonly string[], limits: LogLimits, now: number): number {
    const name = keys.sharedLogKey(key);
    const left = this.#parsed<LogText>(name);
    const before = this.#log(key, now);
    if (before === undefined && texts.length === 0) return 0;
    if (before === undefined && left !== undefined) this.#drop(name, left.first, left.last);
    const last = (before?.last ?? 0) + texts.length;
    const first = Math.max(before?.first ?? 1, last - limits.keep + 1);
    const expiresAt = Math.max(before?.expiresAt ?? 0, limits.expiresAt);
    if (before !== undefined) this.#drop(name, before.first, Math.min(first - 1, before.last));
    texts.forEach((text, index) => {
      const number = last - texts.length + 1 + index;
      if (number >= first) this.#put(keys.sharedItemKey(name, number), text);
    });
    this.#moveExpiry(name, left?.expiresAt, expiresAt);
    this.#putLog(name, { first, last, expiresAt });
    return last;
  }

  /** A part of a log. */
  read(key: SharedKey, after: number, limit: number, now: number): LogPart {
    const log = this.#log(key, now);
    if (log === undefined) return { items: [], last: 0 };
    const items: LogItem[] = [];
    const name = keys.sharedLogKey(key);
    const first = Math.max(after + 1, log.first);
    const end = Math.min(log.last, first + limit - 1);
    for (let number = first; number <= end; number += 1) {
      const text = this.#database.get(keys.sharedItemKey(name, number));
      if (text !== undefined) items.push({ number, text });
    }
    return { items, last: log.last };
  }

  /** Whether anything expired before this minute. */
  hasExpired(now: number): boolean {
    const range = keys.sharedExpiredRange(now);
    for (const _key of this.#database.getKeys({ ...range, limit: 1 })) return true;
    return false;
  }

  /** Deletes what expired before this minute, at most `limit` records and items; of a longer log, a part. */
  removeExpired(now: number, limit: number): void {
    let room = limit;
    const found = this.#database.getKeys({ ...keys.sharedExpiredRange(now), limit });
    for (const indexed of [...found]) {
      if (room <= 0) return;
      const name = keys.expiredNameOf(indexed);
      const log = keys.isSharedLog(name) ? this.#parsed<LogText>(name) : undefined;
      if (log !== undefined) {
        const until = Math.min(log.last, log.first + room - 1);
        this.#drop(name, log.first, until);
        room -= until - log.first + 1;
        if (until < log.last) {
          this.#putLog(name, { ...log, first: until + 1 });
          return;
        }
      } else room -= 1;
      this.#remove(name);
      this.#remove(indexed);
    }
  }

  #log(key: SharedKey, now: number): LogText | undefined {
    const log = this.#parsed<LogText>(keys.sharedLogKey(key));
    return log === undefined || log.expiresAt <= now ? undefined : log;
  }

  #putLog(name: string, log: LogText): void {
    this.#put(name, JSON.stringify(log));
  }

  #drop(name: string, first: number, last: number): void {
    for (let number = first; number <= last; number += 1) {
      this.#remove(keys.sharedItemKey(name, number));
    }
  }

  #moveExpiry(name: string, before: number | undefined, after: number | undefined): void {
    const old = before === undefined ? undefined : keys.sharedExpiryKey(before, name);
    const next = after === undefined ? undefined : keys.sharedExpiryKey(after, name);
    if (old === next) return;
    if (old !== undefined) this.#remove(old);
    if (next !== undefined) this.#put(next, "");
  }

  #parsed<Value extends RecordText | LogText>(name: string): Value | undefined {
    const text = this.#database.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as Value);
  }

  /** Inside a transaction a put is made at once; what it returns says nothing more. */
  #put(key: string, value: string): void {
    void this.#database.put(key, value);
  }

  #remove(key: string): void {
    void this.#database.remove(key);
  }
}
