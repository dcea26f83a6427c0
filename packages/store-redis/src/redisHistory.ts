/**
 * The history port in Redis: what is known of a run, its events and the lists that it is in, changed by one script.
 *
 * Called through the port; the store makes and ends it.
 *
 * H1 Rows are folded here and compared in the script: whoever wrote in between is read, and it is decided anew.
 * H2 A page reads `HISTORY_BUCKETS` lists, at most `MAX_ROWS` entries of each, and the rows of what it shows with one command for
 *    each bucket. Counts are counted by Redis, without reading entries.
 * H3 Rows and events are packed JSON, actions JSON, wrapped where the store has a `recordEncryptionKey`: principals stand in them. Lists have
 *    run ids, times and digests.
 * H4 Every key expires; what is old in a list that lives on goes as others join it, and no reader sees it before.
 */
import { RepriseError } from "@reprise/errors";
import {
  AUDIT_MS,
  type AuditItem,
  byRun,
  COUNTED,
  checkAudit,
  checkAudits,
  checkInstance,
  chunksOf,
  dateOf,
  eventsIn,
  HISTORY_MS,
  type HistoryStore,
  historyAfter,
  INSTANCE_MS,
  type InstanceInfo,
  isRunId,
  keptOf,
  OPEN_SINCE,
  type Reading,
  type RunEvent,
  readPage,
  timeOf,
} from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import { addAudit, beatInstance } from "./historyScripts.ts";
import { decodeKept, encodeKept } from "./historyText.ts";
import { type FoundHistory, writeHistory } from "./historyWrite.ts";
import { HISTORY_BUCKETS, type Keys } from "./keys.ts";
import { packed, unpacked } from "./packedText.ts";
import type { RecordText } from "./recordText.ts";
import { runScript } from "./script.ts";
import type { ServerTime } from "./storeClock.ts";

/** So many conflicts in a row of one run are an overload. */
const MAX_TRIES = 64;
/** Runs that are written at the same time: others' commands come between. */
const TOGETHER = 50;
/** Open questions of a bucket among which the oldest that still stands is looked for. */
const MAX_LOOKED = 20;

const buckets: readonly number[] = Array.from({ length: HISTORY_BUCKETS }, (_, bucket) => bucket);

/** What it is made of. */
export interface HistoryParts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly text: RecordText;
  /** Runs a call that the store's `close` waits for, and makes its failure one of the port. */
  readonly tracked: <Value>(call: () => Promise<Value>) => Promise<Value>;
}

/** The history of one store. */
export class RedisHistory implements HistoryStore {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  record: HistoryStore["record"] = (events) =>
    this.#parts.tracked(async () => {
      const runs = [...byRun(events)];
      for (let at = 0; at < runs.length; at += TOGETHER) {
        await this.#recordRuns(runs.slice(at, at + TOGETHER));
      }
    });

  list: HistoryStore["list"] = (query) =>
    this.#parts.tracked(() =>
      readPage(query, this.#parts.time.now(), {
        entries: (reading) => this.#entries(reading),
        rows: async (runIds) => (await this.#found(runIds)).map(({ kept }) => kept?.summary),
      }),
    );

  counts: HistoryStore["counts"] = () =>
    this.#parts.tracked(async () => {
      const counted = await Promise.all(
        COUNTED.map(async (list) => [list, await this.#count(list)] as const),
      );
      return {
        byStatus: Object.fromEntries(counted.filter(([, count]) => count > 0)),
        oldestWaitingSince: await this.#oldestOpen(),
      };
    });

  timeline: HistoryStore["timeline"] = (runId) =>
    this.#parts.tracked(async () => {
      const [found] = await this.#found([runId]);
      if (found?.kept === undefined) return [];
      const { client, keys } = this.#parts;
      const items = await client.lrange(keys.historyOf(runId).timeline, 0, -1);
      const chunks = items.map((item) => ({
        number: Number.parseInt(item, 10),
        text: this.#opened(afterSpace(item)),
      }));
      return eventsIn(chunks, runId, found.kept.told);
    });

  summary: HistoryStore["summary"] = (runId) =>
    this.#parts.tracked(async () => (await this.#found([runId]))[0]?.kept?.summary);

  beat: HistoryStore["beat"] = (instance) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const said = JSON.stringify(checkInstance(instance));
      await runScript(client, beatInstance, keys.operators, {
        instance: instance.instance,
        text: text.seal(said),
        seenAt: instance.seenAt,
        forgotten: time.now() - INSTANCE_MS,
        keptMs: INSTANCE_MS,
      });
    });

  instances: HistoryStore["instances"] = () =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const all = Object.values(await client.hgetall(keys.operators.instances));
      const since = time.now() - INSTANCE_MS;
      return all
        .map((said) => JSON.parse(text.open(said)) as InstanceInfo)
        .filter(({ seenAt }) => seenAt > since)
        .sort((one, other) => (one.instance < other.instance ? -1 : 1));
    });

  audit: HistoryStore["audit"] = (item) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const { at, ...action } = checkAudit(item);
      await runScript(client, addAudit, keys.operators, {
        at,
        text: text.seal(JSON.stringify(action)),
        since: time.now() - AUDIT_MS,
        keptMs: AUDIT_MS,
      });
    });

  audits: HistoryStore["audits"] = (limit, before) =>
    this.#parts.tracked(async () => {
      checkAudits(limit, before);
      const { client, keys, time, text } = this.#parts;
      const max = before === undefined ? "+inf" : `(${before}`;
      const since = time.now() - AUDIT_MS;
      const { audit } = keys.operators;
      const members = await client.zrevrangebyscore(audit, max, since, "LIMIT", 0, limit);
      return members.map((member) => {
        const action = JSON.parse(text.open(afterSpace(member))) as Omit<AuditItem, "at">;
        return { at: Number.parseInt(member, 10), ...action };
      });
    });

  async #recordRuns(runs: readonly (readonly [string, readonly RunEvent[]])[]): Promise<void> {
    let left = runs;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = await this.#found(left.map(([runId]) => runId));
      const written = await Promise.all(
        left.map(([runId, events], index) => this.#write(runId, events, found[index])),
      );
      left = left.filter((_, index) => written[index] === false);
      if (left.length === 0) return;
    }
    const message = `history of ${left.length} runs changed ${MAX_TRIES} times while it was written`;
    throw new RepriseError("STORE_UNAVAILABLE", message);
  }

  /** Whether it was written: another writer may have come first. */
  #write(
    runId: string,
    events: readonly RunEvent[],
    found: FoundHistory | undefined,
  ): Promise<boolean> {
    const { client, keys, time } = this.#parts;
    const kept = historyAfter(found?.kept, events);
    const number = found?.kept?.told ?? 0;
    const chunks = chunksOf(events, number, kept.told);
    return writeHistory(client, keys, {
      runId,
      found,
      kept,
      text: this.#sealed(encodeKept(kept)),
      chunks: chunks.map((chunk) => `${chunk.number} ${this.#sealed(chunk.text)}`),
      dropped: keptOf(kept.told),
      since: dateOf(time.now() - HISTORY_MS),
      keptMs: HISTORY_MS,
    });
  }

  /** What is known of runs, in their order. */
  async #found(runIds: readonly string[]): Promise<readonly FoundHistory[]> {
    const { client, keys, time } = this.#parts;
    const since = time.now() - HISTORY_MS;
    const valid = runIds.filter(isRunId);
    const texts = new Map<string, string>();
    await Promise.all(
      buckets.map(async (bucket) => {
        const ids = valid.filter((runId) => keys.historyBucketOf(runId) === bucket);
        if (ids.length === 0) return;
        const values = await client.mget(ids.map((runId) => keys.historyOf(runId).kept));
        ids.forEach((runId, index) => {
          const value = values[index];
          if (typeof value === "string") texts.set(runId, value);
        });
      }),
    );
    return runIds.map((runId) => {
      const raw = texts.get(runId);
      if (raw === undefined) return { raw: "", stood: undefined, kept: undefined };
      const stood = decodeKept(this.#opened(raw), runId);
      return { raw, stood, kept: stood.summary.updatedAt >= since ? stood : undefined };
    });
  }

  #sealed(text: string): string {
    return this.#parts.text.seal(packed(text));
  }

  #opened(text: string): string {
    return unpacked(this.#parts.text.open(text));
  }

  async #entries({ list, from, below, rows, isRising }: Reading): Promise<readonly string[]> {
    const { client, keys } = this.#parts;
    const max = below === undefined ? "+" : `(${below}`;
    const min = from === "" ? "-" : `[${from}`;
    const parts = await Promise.all(
      buckets.map((bucket) => {
        const key = keys.historyList(bucket, list);
        return isRising
          ? client.zrangebylex(key, min, max, "LIMIT", 0, rows)
          : client.zrevrangebylex(key, max, min, "LIMIT", 0, rows);
      }),
    );
    const rising = parts.flat().sort();
    return (isRising ? rising : rising.reverse()).slice(0, rows);
  }

  async #count(list: string): Promise<number> {
    const { client, keys, time } = this.#parts;
    const since = `[${dateOf(time.now() - HISTORY_MS)}`;
    const parts = await Promise.all(
      buckets.map((bucket) => client.zlexcount(keys.historyList(bucket, list), since, "+")),
    );
    return parts.reduce((sum, part) => sum + part, 0);
  }

  async #oldestOpen(): Promise<number | undefined> {
    const { client, keys, time } = this.#parts;
    const since = `[${dateOf(time.now() - HISTORY_MS)}`;
    const parts = await Promise.all(
      buckets.map((bucket) =>
        client.zrangebylex(
          keys.historyList(bucket, OPEN_SINCE),
          since,
          "+",
          "LIMIT",
          0,
          MAX_LOOKED,
        ),
      ),
    );
    const oldest = parts.flat().sort()[0];
    return oldest === undefined ? undefined : timeOf(oldest);
  }
}

/** What stands behind the number with which a member begins. */
function afterSpace(member: string): string {
  return member.slice(member.indexOf(" ") + 1);
}
