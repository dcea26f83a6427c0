/**
 * Shared records of one process: for servers without a store, and the model that the adapters are compared with.
 *
 * Called through the port. Nothing outlives the process. Expired records go when they are looked at, and at every
 * `SWEEP_EVERY`th write.
 */
import type { JsonValue } from "@reprise/journal";
import { NoticeListeners } from "./noticeListeners.ts";
import type { LogItem, SharedRecords } from "./sharedRecords.ts";
import {
  checkAppended,
  checkExpiry,
  checkNotice,
  checkPart,
  sharedName,
  sharedText,
} from "./sharedRules.ts";

const SWEEP_EVERY = 1_000;

interface Kept {
  readonly text: string;
  readonly revision: string;
  readonly expiresAt: number;
}

interface Log {
  readonly items: readonly LogItem[];
  readonly last: number;
  readonly expiresAt: number;
}

/**
 * Records of this process alone.
 * @param now epoch milliseconds
 */
export function createProcessRecords(now: () => number = Date.now): SharedRecords {
  return new ProcessRecords(now);
}

class ProcessRecords implements SharedRecords {
  readonly #now: () => number;
  readonly #records = new Map<string, Kept>();
  readonly #logs = new Map<string, Log>();
  readonly #listeners = new NoticeListeners();
  /** Names revisions too, which is why it never goes back (S2). */
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
    const kept = { text: sharedText(value), expiresAt: checkExpiry(expiresAt) };
    if (this.#standing(name)?.revision !== expected) return undefined;
    this.#written();
    const revision = String(this.#writes);
    this.#records.set(name, { ...kept, revision });
    return revision;
  };

  remove: SharedRecords["remove"] = async (key, expected) => {
    const name = sharedName(key);
    if (this.#standing(name)?.revision !== expected) return false;
    return this.#records.delete(name);
  };

  append: SharedRecords["append"] = async (key, texts, limits) => {
    const name = sharedName(key);
    checkAppended(texts, limits);
    const before = this.#standingLog(name);
    if (before === undefined && texts.length === 0) return 0;
    this.#written();
    let last = before?.last ?? 0;
    const added = texts.map((text) => {
      last += 1;
      return { number: last, text };
    });
    const items = [...(before?.items ?? []), ...added].slice(-limits.keep);
    const expiresAt = Math.max(before?.expiresAt ?? 0, checkExpiry(limits.expiresAt));
    this.#logs.set(name, { items, last, expiresAt });
    return last;
  };

  read: SharedRecords["read"] = async (key, after, limit) => {
    const name = sharedName(key);
    checkPart(after, limit);
    const log = this.#standingLog(name);
    const items = (log?.items ?? []).filter(({ number }) => number > after).slice(0, limit);
    return { items, last: log?.last ?? 0 };
  };

  publish: SharedRecords["publish"] = async (channel, notice) => {
    checkNotice(channel, notice);
    this.#listeners.tell(channel, notice);
  };

  listen: SharedRecords["listen"] = async (channel, listener) => {
    checkNotice(channel);
    return this.#listeners.add(channel, listener);
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
