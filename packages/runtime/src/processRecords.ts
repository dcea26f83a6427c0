/**
 * Shared records of one process: for servers without a store, and the model that the adapters are compared with.
 *
 * Called through the port. Nothing outlives the process. Expired records go when they are looked at, and at every
 * `SWEEP_EVERY`th write.
 */
import type { JsonValue } from "@reprise/journal";
import type { LogItem, LogLimits, SharedKey, SharedRecords } from "./sharedRecords.ts";

const SWEEP_EVERY = 1_000;
const LONGEST_NOTICE = 8 * 1024;
const word = /^[A-Za-z0-9_-]{1,200}$/;

interface Kept {
  readonly text: string;
  readonly revision: string;
  readonly expiresAt: number;
}

interface Log {
  items: readonly LogItem[];
  last: number;
  expiresAt: number;
}

/**
 * Records of this process alone.
 * @param now epoch milliseconds
 */
export function createProcessRecords(now: () => number = Date.now): SharedRecords {
  return new ProcessRecords(now);
}

/** The key as one text. @throws RangeError for what is no key */
export function sharedName({ kind, id }: SharedKey): string {
  if (!word.test(kind) || !word.test(id)) {
    throw new RangeError(
      `kind and id must be words of A-Z a-z 0-9 _ -, 1 to 200 long, got ${JSON.stringify([kind, id])}`,
    );
  }
  return `${kind}:${id}`;
}

/** @throws RangeError for limits that can't be meant */
export function checkLogLimits({ expiresAt, keep }: LogLimits): void {
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw new RangeError(`keep must be a positive integer, got ${keep}`);
  }
  if (!Number.isFinite(expiresAt)) {
    throw new RangeError(`expiresAt must be epoch milliseconds, got ${expiresAt}`);
  }
}

/** @throws RangeError for a channel that is no word, or a notice that is too long */
export function checkNotice(channel: string, notice = ""): void {
  if (!word.test(channel)) {
    throw new RangeError(
      `channel must be a word of A-Z a-z 0-9 _ -, got ${JSON.stringify(channel)}`,
    );
  }
  if (notice.length > LONGEST_NOTICE) {
    throw new RangeError(`a notice has at most ${LONGEST_NOTICE} characters, got ${notice.length}`);
  }
}

class ProcessRecords implements SharedRecords {
  readonly #now: () => number;
  readonly #records = new Map<string, Kept>();
  readonly #logs = new Map<string, Log>();
  readonly #listeners = new Map<string, Set<(notice: string) => void>>();
  #writes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get: SharedRecords["get"] = async (key) => {
    const kept = this.#standing(sharedName(key));
    return kept && { value: JSON.parse(kept.text) as JsonValue, revision: kept.revision };
  };

  put: SharedRecords["put"] = async (key, value, expected, expiresAt) => {
    const name = sharedName(key);
    if (this.#standing(name)?.revision !== expected) return undefined;
    this.#written();
    const revision = String(this.#writes);
    this.#records.set(name, { text: JSON.stringify(value), revision, expiresAt });
    return revision;
  };

  remove: SharedRecords["remove"] = async (key, expected) => {
    const name = sharedName(key);
    if (this.#standing(name)?.revision !== expected) return false;
    return this.#records.delete(name);
  };

  append: SharedRecords["append"] = async (key, texts, limits) => {
    checkLogLimits(limits);
    const name = sharedName(key);
    this.#written();
    const before = this.#standingLog(name);
    let last = before?.last ?? 0;
    const added = texts.map((text) => {
      last += 1;
      return { number: last, text };
    });
    const items = [...(before?.items ?? []), ...added].slice(-limits.keep);
    const expiresAt = Math.max(before?.expiresAt ?? 0, limits.expiresAt);
    this.#logs.set(name, { items, last, expiresAt });
    return last;
  };

  read: SharedRecords["read"] = async (key, after, limit) => {
    const log = this.#standingLog(sharedName(key));
    const items = (log?.items ?? []).filter(({ number }) => number > after).slice(0, limit);
    return { items, last: log?.last ?? 0 };
  };

  publish: SharedRecords["publish"] = async (channel, notice) => {
    checkNotice(channel, notice);
    for (const listener of this.#listeners.get(channel) ?? []) listener(notice);
  };

  listen: SharedRecords["listen"] = async (channel, listener) => {
    checkNotice(channel);
    const own = (notice: string): void => listener(notice);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0) this.#listeners.delete(channel);
    };
  };

  #standing(name: string): Kept | undefined {
    const kept = this.#records.get(name);
    if (kept === undefined || kept.expiresAt > this.#now()) return kept;
    this.#records.delete(name);
    return undefined;
  }

  #standingLog(name: string): Log | undefined {
    const log = this.#logs.get(name);
    if (log === undefined || log.expiresAt > this.#now()) return log;
    this.#logs.delete(name);
    return undefined;
  }

  #written(): void {
    this.#writes += 1;
    if (this.#writes % SWEEP_EVERY !== 0) return;
    for (const name of this.#records.keys()) this.#standing(name);
    for (const name of this.#logs.keys()) this.#standingLog(name);
  }
}
