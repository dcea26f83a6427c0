/**
 * A history whose rows are held against the records: what waits or needs somebody is shown as it stands now.
 *
 * Called by whoever shows history, dashboard and command, and by who looks through it (`historyTidy.ts`). Rows that are stale are
 * mended for later readers too, by an event that says what was found.
 *
 * K1 Only rows that wait, or that somebody should look at, are checked: at most a page of them, one look at a record for each.
 * K2 A row whose record is gone, or whose question nobody can answer any more, is shown in neither list again.
 * K3 A record that can't be read leaves its row as it is: history is there to be seen when the store is not well, too.
 */
import type { HistoryStore, RunSummary } from "./historyPort.ts";
import type { RunEvent } from "./observer.ts";
import type { RunRecord, RunStatus } from "./runRecord.ts";
import type { RunStore } from "./storePort.ts";

/** Records that are looked at at the same time. */
const TOGETHER = 25;
/** The place of this process in events that it adds. */
const READER = "reader";

/** The history, checked. @param store undefined: there are no records, only deadlines are held against the time */
export function checkedHistory(
  history: HistoryStore,
  store: Pick<RunStore, "load"> | undefined,
  now: () => number,
): HistoryStore {
  const checked = (rows: readonly RunSummary[]): Promise<readonly RunSummary[]> =>
    mendedRows(history, store, rows, now());
  return {
    record: (events) => history.record(events),
    list: async (query) => {
      const page = await history.list(query);
      const rows = await checked(page.runs);
      const { status } = query;
      const fits = (row: RunSummary): boolean =>
        status === undefined ||
        (status === "attention" ? row.attention !== undefined : row.status === status);
      return { runs: rows.filter(fits), next: page.next };
    },
    counts: () => history.counts(),
    timeline: (runId) => history.timeline(runId),
    summary: async (runId) => {
      const row = await history.summary(runId);
      return row && (await checked([row]))[0];
    },
    beat: (instance) => history.beat(instance),
    instances: () => history.instances(),
    audit: (item) => history.audit(item),
    audits: (limit, before) => history.audits(limit, before),
  };
}

/** Rows as they stand at `now`, in their order; what was stale is told to the history as well. Never rejects. */
export async function mendedRows(
  history: Pick<HistoryStore, "record">,
  store: Pick<RunStore, "load"> | undefined,
  rows: readonly RunSummary[],
  now: number,
): Promise<readonly RunSummary[]> {
  const shown: RunSummary[] = [];
  const mended: RunEvent[] = [];
  for (let at = 0; at < rows.length; at += TOGETHER) {
    const part = rows.slice(at, at + TOGETHER);
    const found = await Promise.all(part.map((row) => check(row, store, now)));
    for (const { row, event } of found) {
      shown.push(row);
      if (event !== undefined) mended.push(event);
    }
  }
  // A hint for later readers: what this one shows does not depend on it.
  if (mended.length > 0) await history.record(mended).catch(() => undefined);
  return shown;
}

interface Checked {
  readonly row: RunSummary;
  /** What was found to be otherwise. */
  readonly event?: RunEvent;
}

async function check(
  row: RunSummary,
  store: Pick<RunStore, "load"> | undefined,
  now: number,
): Promise<Checked> {
  if (row.waiting === undefined && row.attention === undefined) return { row };
  const hasRecord = store !== undefined && row.effects !== "repeatable";
  if (!hasRecord) {
    const isOver = row.waiting !== undefined && row.waiting.until < now;
    return isOver ? over(row, undefined, now) : { row };
  }
  let run: RunRecord | undefined;
  try {
    run = await store.load(row.runId);
  } catch {
    return { row };
  }
  // Of a run that has ended the record goes after a day: that somebody should look stays true.
  const hasEnded = row.status === "completed" || row.status === "failed";
  if (run === undefined) return hasEnded ? { row } : over(row, undefined, now);
  const { head } = run;
  if (head.status === "waiting" && head.stateExpiresAt < now) return over(row, run, now);
  if (head.status !== row.status) {
    const { round, status, epoch } = head;
    const event = eventOf(row, { round, epoch, at: now });
    return {
      row: standing({ ...row, round }, status),
      event: { ...event, type: "replayed", status },
    };
  }
  if (row.waiting === undefined) return { row };
  return { row: { ...row, waiting: { ...row.waiting, until: head.stateExpiresAt } } };
}

/** Nobody goes on with it: the question's time is over, or the record is gone. */
function over(row: RunSummary, run: RunRecord | undefined, now: number): Checked {
  const status: RunStatus = "failed";
  // Of a record that is gone nothing comes any more that could be newer.
  const epoch = run?.head.epoch ?? Number.MAX_SAFE_INTEGER;
  const event = eventOf(row, { round: run?.head.round ?? row.round, epoch, at: now });
  return {
    row: standing(row, status),
    event: { ...event, type: "acted", action: "expired", status },
  };
}

function standing(row: RunSummary, status: RunStatus): RunSummary {
  const attention = status === "interrupted" || status === "mismatched" || status === "parked";
  return {
    ...row,
    status,
    waiting: status === "waiting" ? row.waiting : undefined,
    attention: attention ? status : undefined,
  };
}

function eventOf(
  { runId, handler, effects = "once", principal, client, protocolVersion, version }: RunSummary,
  { round, epoch, at }: { readonly round: number; readonly epoch: number; readonly at: number },
): Omit<RunEvent, "type"> & { readonly method: RunEvent["method"] } {
  const method =
    handler.kind === "tool"
      ? "tools/call"
      : handler.kind === "prompt"
        ? "prompts/get"
        : "resources/read";
  return {
    ...{ runId, method, handler, effects, principal, client, protocolVersion, version },
    ...{ round, epoch, at, instance: READER },
  };
}
