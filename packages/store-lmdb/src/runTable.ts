/**
 * Runs and idempotency records in the database, and what a transition decided written down.
 *
 * Called inside write transactions (all methods) and on the read view (`read` and `readHead` only). It interprets nothing
 * but what the indexes need.
 *
 * T1 Everything is encoded before the first key is written.
 * T2 Origin, head and entries are separate values: a step writes its entry and the head, whatever came before it.
 * T3 The origin and the entries are read only when a transition asks for them.
 */
import { RepriseError } from "@reprise/errors";
import type { Entry } from "@reprise/journal";
import {
  type KeyRecord,
  keyAfter,
  RECORD_FORMAT,
  type RunHead,
  type RunOrigin,
  type RunWrite,
  type StoredRun,
  type Transition,
} from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import { moveIndexes } from "./indexes.ts";
import { entryKey, entryRange, headKey, idempotencyKey, isWord, originKey } from "./keys.ts";

/** What stands under a head's key. */
interface HeadText {
  /** Scope of the run's idempotency record. */
  readonly scope?: string;
  /** Length of origin and entries as text. */
  readonly bytes: number;
  /** What the run counts for against its principal's bytes. */
  readonly charged: number;
  readonly head: RunHead;
}

/** A run as it was read, with what the indexes know of it. */
export interface ReadRun extends StoredRun {
  readonly runId: string;
  readonly stored: HeadText;
}

/** Runs and idempotency records. */
export class RunTable {
  readonly #database: TextDatabase;

  constructor(database: TextDatabase) {
    this.#database = database;
  }

  read(runId: string): ReadRun | undefined {
    const stored = this.#readHeadText(runId);
    if (stored === undefined) return undefined;
    let origin: RunOrigin | undefined;
    const readOrigin = (): RunOrigin => {
      origin ??= this.#readOrigin(runId);
      return origin;
    };
    return {
      runId,
      stored,
      head: stored.head,
      get origin() {
        return readOrigin();
      },
      entries: () => this.#readEntries(runId),
    };
  }

  readHead(runId: string): RunHead | undefined {
    return this.#readHeadText(runId)?.head;
  }

  readKey(scope: string): KeyRecord | undefined {
    if (!isWord(scope)) return undefined;
    const text = this.#database.get(idempotencyKey(scope));
    return text === undefined ? undefined : (JSON.parse(text) as KeyRecord);
  }

  /**
   * Writes what a transition decided. Returns the ids of the runs that changed.
   *
   * @param run the run that the transition was given
   * @param scope where the transition's idempotency record goes
   */
  write(
    transition: Transition<unknown>,
    run: ReadRun | undefined,
    scope?: string,
  ): readonly string[] {
    const { write, key, displaced } = transition;
    if (write === undefined) return [];
    const before = write.origin === undefined ? run : undefined;
    const id = write.origin?.runId ?? before?.runId;
    if (id === undefined) throw new Error("a transition wrote a run that does not exist");
    const changed = [id];
    const puts = [this.#prepare(id, write, before)];
    const other = displaced === undefined ? undefined : this.read(displaced.runId);
    if (displaced !== undefined && other !== undefined) {
      puts.push(this.#prepare(displaced.runId, { head: displaced.head }, other));
      changed.push(displaced.runId);
    }
    if (key !== undefined && scope !== undefined) {
      const text = JSON.stringify(key);
      puts.push(() => this.#put(idempotencyKey(scope), text));
    } else puts.push(this.#followKey(id, before?.stored.scope, write.head));
    for (const put of puts) put();
    return changed;
  }

  /** Deletes a run and the idempotency record that leads to it. */
  remove(runId: string): void {
    const run = this.read(runId);
    if (run === undefined) return;
    const { stored } = run;
    moveIndexes(this.#database, runId, () => run.origin.caller.principal, stored, undefined);
    if (stored.scope !== undefined && this.readKey(stored.scope)?.runId === runId) {
      this.#remove(idempotencyKey(stored.scope));
    }
    for (const entry of this.#keysOf(runId, 0)) this.#remove(entry);
    this.#remove(headKey(runId));
    this.#remove(originKey(runId));
  }

  /** Encodes a write; the returned function puts it. */
  #prepare(runId: string, write: RunWrite, before: ReadRun | undefined): () => void {
    if (!isWord(runId))
      throw new RangeError(`a run id must be a word, got ${JSON.stringify(runId)}`);
    const { origin, head, cutEntriesAt, append = [], appendAt } = write;
    const originText = origin === undefined ? undefined : JSON.stringify(origin);
    const entries = append.map((entry) => JSON.stringify(entry));
    const firstIndex = appendAt ?? 0;
    const cut = cutEntriesAt === undefined ? [] : this.#keysOf(runId, cutEntriesAt);
    const scope = origin === undefined ? before?.stored.scope : origin.key?.scope;
    const bytes =
      (before?.stored.bytes ?? 0) -
      cut.reduce((sum, key) => sum + (this.#database.get(key)?.length ?? 0), 0) +
      (originText?.length ?? 0) +
      entries.reduce((sum, entry) => sum + entry.length, 0);
    const text = JSON.stringify(head);
    const charged = head.status === "waiting" ? bytes + text.length : 0;
    const stored: HeadText = { ...(scope === undefined ? {} : { scope }), bytes, charged, head };
    // The head is the bulk of it and is text already.
    const counts = JSON.stringify({ scope, bytes, charged });
    const headText = `${counts.slice(0, -1)},"head":${text}}`;
    const principal = (): string => (origin ?? before?.origin)?.caller.principal ?? "";
    return () => {
      for (const key of cut) this.#remove(key);
      if (originText !== undefined) this.#put(originKey(runId), originText);
      entries.forEach((entry, offset) => {
        this.#put(entryKey(runId, firstIndex + offset), entry);
      });
      this.#put(headKey(runId), headText);
      moveIndexes(this.#database, runId, principal, before?.stored, stored);
    };
  }

  #followKey(runId: string, scope: string | undefined, head: RunHead): () => void {
    const follows = scope && keyAfter(this.readKey(scope), { runId }, head);
    if (scope === undefined || !follows) return () => {};
    const text = JSON.stringify(follows);
    return () => this.#put(idempotencyKey(scope), text);
  }

  #readHeadText(runId: string): HeadText | undefined {
    if (!isWord(runId)) return undefined;
    const text = this.#database.get(headKey(runId));
    return text === undefined ? undefined : (JSON.parse(text) as HeadText);
  }

  #readOrigin(runId: string): RunOrigin {
    const text = this.#database.get(originKey(runId));
    if (text === undefined)
      throw new RepriseError("STORE_UNAVAILABLE", `run ${runId} has no origin in the store`);
    const origin = JSON.parse(text) as RunOrigin;
    if (origin.format > RECORD_FORMAT) {
      const message = `run ${runId} was written in record format ${origin.format}; this release knows ${RECORD_FORMAT}`;
      throw new RepriseError("FORMAT_UNKNOWN", message);
    }
    return origin;
  }

  #readEntries(runId: string): readonly Entry[] {
    const entries: Entry[] = [];
    for (const { value } of this.#database.getRange(entryRange(runId, 0))) {
      entries.push(JSON.parse(value) as Entry);
    }
    return entries;
  }

  #keysOf(runId: string, firstIndex: number): readonly string[] {
    return [...this.#database.getKeys(entryRange(runId, firstIndex))];
  }

  /** Inside a transaction a put is made at once; what it returns says nothing more. */
  #put(key: string, value: string): void {
    void this.#database.put(key, value);
  }

  #remove(key: string): void {
    void this.#database.remove(key);
  }
}
