/**
 * The history port on lmdb: in the database of the runs, with transactions of its own.
 *
 * Called through the port; the store makes and ends it.
 *
 * H1 A call that writes is one transaction. Whoever records sends few events at once: runs wait for the same writer's lock.
 * H2 A page reads keys of one list and one row for each; `MAX_ROWS` bounds both.
 * L1 Reads use the read view: history may lag behind by a commit.
 */
import {
  AUDIT_MS,
  type AuditItem,
  byRun,
  COUNTED,
  checkAudit,
  checkAudits,
  checkInstance,
  dateOf,
  HISTORY_MS,
  type HistoryStore,
  INSTANCE_MS,
  type InstanceInfo,
  isRunId,
  readPage,
} from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import { HistoryTable } from "./historyTable.ts";
import * as keys from "./keys.ts";
import type { RecordParts } from "./lmdbRecords.ts";

/** Runs that a call which records deletes on the way, so that what is kept stays bounded even where nobody sweeps. */
const REMOVED_ALONG = 20;
const AUDITS_REMOVED_ALONG = 20;

/** The history of one store. */
export class LmdbHistory implements HistoryStore {
  readonly #parts: RecordParts;
  readonly #table: HistoryTable;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#table = new HistoryTable(parts.environment.database);
  }

  record: HistoryStore["record"] = async (events) => {
    const runs = byRun(events);
    if (runs.size === 0) return;
    await this.#write((_database, now) => {
      this.#parts.capacity.check(true);
      for (const [runId, told] of runs) this.#table.tell(runId, told, now - HISTORY_MS);
      this.#table.removeExpired(dateOf(now - HISTORY_MS), REMOVED_ALONG);
    });
  };

  list: HistoryStore["list"] = async (query) => {
    const now = this.#parts.clock.wallNow();
    return await readPage(query, now, {
      entries: (reading) => this.#look(() => this.#table.entries(reading)),
      rows: (runIds) =>
        this.#look(() => runIds.map((runId) => this.#table.kept(runId, now - HISTORY_MS)?.summary)),
    });
  };

  counts: HistoryStore["counts"] = () =>
    this.#look((_database, now) => {
      const since = now - HISTORY_MS;
      const counts = COUNTED.map((list) => [list, this.#table.count(list, dateOf(since))] as const);
      return {
        byStatus: Object.fromEntries(counts.filter(([, count]) => count > 0)),
        oldestWaitingSince: this.#table.oldestOpen(since),
      };
    });

  timeline: HistoryStore["timeline"] = (runId) =>
    this.#look((_database, now) => {
      const kept = isRunId(runId) ? this.#table.kept(runId, now - HISTORY_MS) : undefined;
      return kept === undefined ? [] : this.#table.events(runId, kept.told);
    });

  summary: HistoryStore["summary"] = (runId) =>
    this.#look((_database, now) =>
      isRunId(runId) ? this.#table.kept(runId, now - HISTORY_MS)?.summary : undefined,
    );

  beat: HistoryStore["beat"] = async (instance) => {
    const text = JSON.stringify(checkInstance(instance));
    await this.#write((database, now) => {
      this.#parts.capacity.check(false);
      for (const known of instancesOf(database)) {
        if (known.seenAt <= now - INSTANCE_MS)
          void database.remove(keys.instanceKey(known.instance));
      }
      void database.put(keys.instanceKey(instance.instance), text);
    });
  };

  instances: HistoryStore["instances"] = () =>
    this.#look((database, now) =>
      instancesOf(database).filter(({ seenAt }) => seenAt > now - INSTANCE_MS),
    );

  audit: HistoryStore["audit"] = async (item) => {
    checkAudit(item);
    await this.#write((database, now) => {
      this.#parts.capacity.check(false);
      const range = { ...keys.auditRange(now - AUDIT_MS), limit: AUDITS_REMOVED_ALONG };
      for (const key of [...database.getKeys(range)]) void database.remove(key);
      let { at } = item;
      while (database.get(keys.auditKey(at)) !== undefined) at += 1;
      void database.put(keys.auditKey(at), JSON.stringify({ ...item, at }));
    });
  };

  audits: HistoryStore["audits"] = async (limit, before) => {
    checkAudits(limit, before);
    return await this.#look((database, now) => {
      const { start, end } = keys.auditRange(before);
      const found: AuditItem[] = [];
      for (const { key, value } of database.getRange({ start: end, end: start, reverse: true })) {
        // A reverse range begins with its start, which is no longer wanted.
        if (key >= end) continue;
        const item = JSON.parse(value) as AuditItem;
        if (item.at < now - AUDIT_MS || found.length >= limit) break;
        found.push(item);
      }
      return found;
    });
  };

  /** Deletes what has had its time, at most `limit` runs in one transaction; none when there is nothing. */
  async removeExpired(limit: number): Promise<void> {
    const since = (now: number): string => dateOf(now - HISTORY_MS);
    if (!(await this.#look((_database, now) => this.#table.hasExpired(since(now))))) return;
    await this.#write((_database, now) => this.#table.removeExpired(since(now), limit));
  }

  #write(change: (database: TextDatabase, now: number) => void): Promise<void> {
    const { environment, clock, tracked } = this.#parts;
    return tracked(() => environment.transact(() => change(environment.database, clock.wallNow())));
  }

  /** On the newest commit that this process can see. */
  #look<Value>(read: (database: TextDatabase, now: number) => Value): Promise<Value> {
    const { environment, clock, tracked } = this.#parts;
    return tracked(async () => {
      try {
        environment.database.resetReadTxn();
        return read(environment.database, clock.wallNow());
      } catch (failure) {
        throw await environment.errorOf(failure);
      }
    });
  }
}

function instancesOf(database: TextDatabase): readonly InstanceInfo[] {
  return [...database.getRange(keys.instanceRange)].map(
    ({ value }) => JSON.parse(value) as InstanceInfo,
  );
}
