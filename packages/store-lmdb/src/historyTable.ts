/**
 * The history of runs in the database: what is known of each, its events, and the lists that it is in.
 *
 * Called by `lmdbHistory.ts`: what writes, inside a write transaction; what reads, there or on a fresh read view. It knows no time: it
 * is told since when history counts.
 *
 * T1 A run is in exactly the lists of its row; they move in the same transaction.
 * T2 A run that has had its time is gone to every reader, whether it was deleted already or not.
 * T3 Of a run's events the first and the newest are kept (`keptOf`). Those that were told at once are one value under the number of the
 *    first, so the oldest of the newest may lie with some that are no longer shown: with one call's at most.
 * T4 A counted list has its length under a key of its own: nobody counts a hundred thousand entries for a number.
 */
import {
  COUNTED,
  chunksOf,
  entryOf,
  eventsIn,
  historyAfter,
  type KeptHistory,
  keptOf,
  type Listed,
  listsOf,
  OPEN_SINCE,
  type Reading,
  type RunEvent,
  timeOf,
} from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import * as keys from "./keys.ts";

const counted: ReadonlySet<string> = new Set(COUNTED);
/** Entries that had their time and may still be there, beyond which nobody looks: every sweep deletes more. */
const MAX_LEFT = 1_000;
/** Open questions that one look for the oldest passes over. */
const MAX_LOOKED = 100;

/** The history of one database. */
export class HistoryTable {
  readonly #database: TextDatabase;

  constructor(database: TextDatabase) {
    this.#database = database;
  }

  /** Keeps events of one run. @param since when history begins, in epoch ms */
  tell(runId: string, events: readonly RunEvent[], since: number): void {
    const found = this.#parsed(runId);
    const before = found !== undefined && found.summary.updatedAt >= since ? found : undefined;
    const kept = historyAfter(before, events);
    const numbers = before?.told ?? 0;
    const { first, newest } = keptOf(kept.told);
    if (found !== undefined && before === undefined) this.#remove(runId, found);
    if (newest > first) this.#removeBetween(runId, first, Math.min(newest, numbers));
    for (const { number, text } of chunksOf(events, numbers, kept.told))
      void this.#database.put(keys.historyEventKey(runId, number), text);
    this.#move(before === undefined ? [] : listsOf(before.summary), listsOf(kept.summary));
    void this.#database.put(keys.historyKey(runId), JSON.stringify(kept));
  }

  /** What is known of a run; undefined once it has had its time. */
  kept(runId: string, since: number): KeptHistory | undefined {
    const found = this.#parsed(runId);
    return found !== undefined && found.summary.updatedAt >= since ? found : undefined;
  }

  /** The events that are kept of a run, oldest first. @param told how many there were */
  events(runId: string, told: number): readonly RunEvent[] {
    const found = this.#database.getRange(keys.historyEventRange(runId));
    const chunks = [...found].map(({ key, value }) => ({
      number: keys.historyEventNumber(key),
      text: value,
    }));
    return eventsIn(chunks, runId, told);
  }

  /** Entries of a list. */
  entries({ list, from, below, rows, isRising }: Reading): readonly string[] {
    // A reverse range begins with its start; an entry right there is what does not count any more.
    const end = below === undefined ? keys.historyListEnd(list) : keys.historyListKey(list, below);
    const start = keys.historyListKey(list, from);
    if (isRising) {
      const rising = this.#database.getKeys({ start, end, limit: rows });
      return [...rising].map(keys.historyEntryOf);
    }
    const found: string[] = [];
    for (const key of this.#database.getKeys({ start: end, end: start, reverse: true })) {
      if (key < end) found.push(keys.historyEntryOf(key));
      if (found.length >= rows) return found;
    }
    return found;
  }

  /** How many entries a counted list has that have not had their time. */
  count(list: string, since: string): number {
    const all = Number(this.#database.get(keys.historyCountKey(list)) ?? 0);
    return Math.max(0, all - this.#until(list, since, MAX_LEFT).length);
  }

  /** Since when the oldest open question is open. */
  oldestOpen(since: number): number | undefined {
    const start = keys.historyListKey(OPEN_SINCE, "");
    const range = { start, end: keys.historyListEnd(OPEN_SINCE), limit: MAX_LOOKED };
    for (const key of this.#database.getKeys(range)) {
      const entry = keys.historyEntryOf(key);
      if (this.kept(entry.slice(entry.indexOf("-") + 1), since) !== undefined) return timeOf(entry);
    }
    return undefined;
  }

  /** Whether a run has had its time. @param since as an entry begins */
  hasExpired(since: string): boolean {
    return this.#until("all", since, 1).length > 0;
  }

  /** Deletes runs that have had their time, the oldest first. */
  removeExpired(since: string, limit: number): void {
    for (const entry of this.#until("all", since, limit)) {
      const runId = entry.slice(entry.indexOf("-") + 1);
      const found = this.#parsed(runId);
      if (found !== undefined && entryOf(found.summary) === entry) this.#remove(runId, found);
      else this.#move([{ list: "all", entry }], []);
    }
  }

  /** Deletes what holds only events from `first` to before `newest`; what holds others too stays until they go. */
  #removeBetween(runId: string, first: number, newest: number): void {
    const start = keys.historyEventKey(runId, first);
    const end = keys.historyEventKey(runId, newest + 1);
    const held = [...this.#database.getKeys({ start, end })];
    held.forEach((key, index) => {
      const next = held[index + 1];
      if (next !== undefined) void this.#database.remove(key);
    });
  }

  #until(list: string, since: string, limit: number): readonly string[] {
    const start = keys.historyListKey(list, "");
    const range = { start, end: keys.historyListKey(list, since), limit };
    return [...this.#database.getKeys(range)].map(keys.historyEntryOf);
  }

  #remove(runId: string, { summary }: KeptHistory): void {
    this.#move(listsOf(summary), []);
    for (const key of [...this.#database.getKeys(keys.historyEventRange(runId))])
      void this.#database.remove(key);
    void this.#database.remove(keys.historyKey(runId));
  }

  #move(before: readonly Listed[], after: readonly Listed[]): void {
    const changes = new Map<string, number>();
    const add = (list: string, by: number): void => {
      if (counted.has(list)) changes.set(list, (changes.get(list) ?? 0) + by);
    };
    const stays = (one: Listed, others: readonly Listed[]): boolean =>
      others.some(({ list, entry }) => list === one.list && entry === one.entry);
    for (const one of before) {
      if (stays(one, after)) continue;
      void this.#database.remove(keys.historyListKey(one.list, one.entry));
      add(one.list, -1);
    }
    for (const one of after) {
      if (stays(one, before)) continue;
      void this.#database.put(keys.historyListKey(one.list, one.entry), "");
      add(one.list, 1);
    }
    for (const [list, change] of changes) {
      if (change === 0) continue;
      const key = keys.historyCountKey(list);
      const count = Number(this.#database.get(key) ?? 0) + change;
      if (count <= 0) void this.#database.remove(key);
      else void this.#database.put(key, String(count));
    }
  }

  #parsed(runId: string): KeptHistory | undefined {
    const text = this.#database.get(keys.historyKey(runId));
    return text === undefined ? undefined : (JSON.parse(text) as KeptHistory);
  }
}
