/**
 * A history store in memory, for authors' tests and for tests of what reads history.
 *
 * Called through the HistoryStore port. It looks at everything it has for each page, which real stores must not.
 *
 * M1 Values are kept as JSON text, so a reader never sees an object that a writer still holds.
 */
import {
  AUDIT_MS,
  type AuditItem,
  byRun,
  COUNTED,
  checkAudit,
  checkAudits,
  checkInstance,
  HISTORY_MS,
  type HistoryStore,
  historyAfter,
  INSTANCE_MS,
  type InstanceInfo,
  type KeptHistory,
  keptOf,
  listsOf,
  OPEN_SINCE,
  type Reading,
  type RunEvent,
  type RunSummary,
  readPage,
  timeOf,
} from "@reprise/runtime";

interface KeptRun {
  readonly kept: string;
  /** By number. */
  readonly events: ReadonlyMap<number, string>;
}

/** Makes a history with nothing in it. @param now epoch milliseconds; default `Date.now` */
export function createMemoryHistory(now: () => number = Date.now): HistoryStore {
  const runs = new Map<string, KeptRun>();
  const instances = new Map<string, string>();
  const log = new Map<number, string>();

  const keptAt = (runId: string): KeptHistory | undefined => {
    const run = runs.get(runId);
    const kept = run && (JSON.parse(run.kept) as KeptHistory);
    return kept !== undefined && kept.summary.updatedAt >= now() - HISTORY_MS ? kept : undefined;
  };
  const rowOf = (runId: string): RunSummary | undefined => keptAt(runId)?.summary;
  const entriesOf = ({
    list,
    from,
    below,
  }: Omit<Reading, "rows" | "isRising">): readonly string[] =>
    [...runs.keys()]
      .flatMap((runId) => {
        const row = rowOf(runId);
        return row === undefined ? [] : listsOf(row);
      })
      .filter((listed) => listed.list === list)
      .map(({ entry }) => entry)
      .filter((entry) => entry >= from && (below === undefined || entry < below))
      .sort();
  const forget = (): void => {
    for (const runId of [...runs.keys()]) if (rowOf(runId) === undefined) runs.delete(runId);
  };

  return {
    record: async (events) => {
      for (const [runId, told] of byRun(events)) {
        const before = keptAt(runId);
        const kept = historyAfter(before, told);
        const numbered = new Map(before === undefined ? [] : runs.get(runId)?.events);
        told.forEach((event, index) => {
          numbered.set((before?.told ?? 0) + index, JSON.stringify(event));
        });
        const { first, newest } = keptOf(kept.told);
        for (const number of [...numbered.keys()])
          if (number >= first && number < newest) numbered.delete(number);
        runs.set(runId, { kept: JSON.stringify(kept), events: numbered });
      }
      forget();
    },
    list: (query) =>
      readPage(query, now(), {
        entries: async (reading) => {
          const rising = entriesOf(reading);
          return (reading.isRising ? rising : rising.toReversed()).slice(0, reading.rows);
        },
        rows: async (runIds) => runIds.map(rowOf),
      }),
    counts: async () => {
      const all = { from: "", below: undefined };
      const counted = COUNTED.map((list) => [list, entriesOf({ list, ...all }).length] as const);
      const [oldest] = entriesOf({ list: OPEN_SINCE, ...all });
      return {
        byStatus: Object.fromEntries(counted.filter(([, count]) => count > 0)),
        oldestWaitingSince: oldest === undefined ? undefined : timeOf(oldest),
      };
    },
    timeline: async (runId) => {
      if (keptAt(runId) === undefined) return [];
      const numbered = [...(runs.get(runId)?.events ?? [])].sort(([one], [other]) => one - other);
      return numbered.map(([, text]) => JSON.parse(text) as RunEvent);
    },
    summary: async (runId) => rowOf(runId),
    beat: async (instance) => {
      instances.set(checkInstance(instance).instance, JSON.stringify(instance));
    },
    instances: async () =>
      [...instances.values()]
        .map((text) => JSON.parse(text) as InstanceInfo)
        .filter(({ seenAt }) => seenAt > now() - INSTANCE_MS)
        .sort((one, other) => (one.instance < other.instance ? -1 : 1)),
    audit: async (item) => {
      let { at } = checkAudit(item);
      while (log.has(at)) at += 1;
      log.set(at, JSON.stringify({ ...item, at }));
    },
    audits: async (limit, before) => {
      checkAudits(limit, before);
      return [...log]
        .filter(([at]) => at >= now() - AUDIT_MS && (before === undefined || at < before))
        .sort(([one], [other]) => other - one)
        .slice(0, limit)
        .map(([, text]) => JSON.parse(text) as AuditItem);
    },
  };
}
