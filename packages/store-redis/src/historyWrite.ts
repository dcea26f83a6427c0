/**
 * One run's history on its way into Redis: which lists it leaves and joins, as the script wants it.
 *
 * Called by `redisHistory.ts`. It decides nothing: the row is made already.
 */
import { type KeptHistory, listName, listsOf, OPEN_SINCE } from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import { type HistoryKey, recordHistory } from "./historyScripts.ts";
import type { Keys } from "./keys.ts";
import { runScript } from "./script.ts";

/** What stands in Redis of a run. */
export interface FoundHistory {
  /** As it stands; empty: nothing does. */
  readonly raw: string;
  readonly stood: KeptHistory | undefined;
  /** The same, unless it has had its time. */
  readonly kept: KeptHistory | undefined;
}

/** What is to stand there. */
export interface HistoryWrite {
  readonly runId: string;
  readonly found: FoundHistory | undefined;
  readonly kept: KeptHistory;
  readonly text: string;
  /** What is added to the timeline. */
  readonly chunks: readonly string[];
  /** The events between these numbers are not kept. */
  readonly dropped: { readonly first: number; readonly newest: number };
  readonly since: string;
  readonly keptMs: number;
}

/** Lists live so much longer than what joins them, and their expiry moves once in that time. */
const LISTS_AHEAD_MS = 3_600_000;

/** Sends it; false when something else stands there by now. */
export async function writeHistory(
  client: RedisClient,
  keys: Keys,
  write: HistoryWrite,
): Promise<boolean> {
  const { runId, found, kept, text, chunks, dropped, since, keptMs } = write;
  const stood = found?.stood;
  const before = stood === undefined ? [] : listsOf(stood.summary);
  const after = listsOf(kept.summary);
  const openOf = (listed: typeof after): string =>
    listed.find(({ list }) => list === OPEN_SINCE)?.entry ?? "";
  const reply = await runScript(
    client,
    recordHistory,
    keysOf(keys, runId, kept, stood ?? kept),
    {
      expected: found?.raw ?? "",
      text,
      keptMs,
      aheadMs: LISTS_AHEAD_MS,
      anew: stood !== undefined && found?.kept === undefined ? "1" : "",
      leftEntry: before[0]?.entry ?? "",
      attended: stood?.summary.attention === undefined ? "" : "1",
      entry: after[0]?.entry ?? "",
      attends: kept.summary.attention === undefined ? "" : "1",
      leftOpen: openOf(before),
      openEntry: openOf(after),
      since,
      dropFrom: dropped.first,
      dropUntil: dropped.newest,
    },
    chunks,
  );
  return reply === "OK";
}

/** All lists that a run can leave or join by one write. Its handler and principal never change. */
function keysOf(
  keys: Keys,
  runId: string,
  kept: KeptHistory,
  stood: KeptHistory,
): Record<HistoryKey, string> {
  const bucket = keys.historyBucketOf(runId);
  const three = (
    status: Parameters<typeof listName>[0],
  ): readonly [plain: string, ofHandler: string, ofPrincipal: string] => [
    keys.historyList(bucket, listName(status)),
    keys.historyList(bucket, listName(status, { handler: kept.summary.handler.name })),
    keys.historyList(bucket, listName(status, { principal: kept.summary.principal })),
  ];
  const [all, allOfHandler, allOfPrincipal] = three("all");
  const [left, leftOfHandler, leftOfPrincipal] = three(stood.summary.status);
  const [stands, standsOfHandler, standsOfPrincipal] = three(kept.summary.status);
  const [attention, attentionOfHandler, attentionOfPrincipal] = three("attention");
  return {
    ...keys.historyOf(runId),
    ...{ all, allOfHandler, allOfPrincipal, left, leftOfHandler, leftOfPrincipal },
    ...{ stands, standsOfHandler, standsOfPrincipal },
    ...{ attention, attentionOfHandler, attentionOfPrincipal },
    open: keys.historyList(bucket, OPEN_SINCE),
  };
}
