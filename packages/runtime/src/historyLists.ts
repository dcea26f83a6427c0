/**
 * The lists that history is looked through by, and pages of them: one reading for all adapters.
 *
 * Called by the adapters of the history port. A list is a set of texts in their order; an adapter keeps a run in all lists of its
 * row (`listsOf`) under the text `entryOf`, and moves it with each change of the row.
 *
 * L1 A page reads at most `MAX_ROWS` entries of one list and as many rows, whatever is kept (H2).
 * L2 Two filters at once read the caller's list and pass over the rest; the page may then be shorter than asked for.
 */
import { rememberedSha256 } from "./digest.ts";
import {
  HISTORY_MS,
  type HistoryPage,
  type HistoryQuery,
  MAX_HISTORY_PAGE,
  type RunSummary,
} from "./historyPort.ts";
import type { RunStatus } from "./runRecord.ts";

/** Entries that one page reads at most. */
export const MAX_ROWS: number = 500;

/** What counts tell of, one list each. */
export const COUNTED: readonly (RunStatus | "attention")[] = Object.keys({
  running: true,
  waiting: true,
  completed: true,
  failed: true,
  interrupted: true,
  mismatched: true,
  parked: true,
  cancelled: true,
  undone: true,
  attention: true,
} satisfies Record<RunStatus | "attention", true>) as (RunStatus | "attention")[];

/** The list of open questions, the oldest first. Its entries are dated by `since`. */
export const OPEN_SINCE = "open";

const digestOfName = rememberedSha256();
const DIGITS = 15;
const entry = /^\d{15}-[A-Za-z0-9_-]{1,400}$/;

/** A time as the start of an entry. */
export function dateOf(at: number): string {
  const whole = Math.min(10 ** DIGITS - 1, Math.max(0, Math.floor(at)));
  return String(whole).padStart(DIGITS, "0");
}

/** The time of an entry. */
export function timeOf(entryText: string): number {
  return Number(entryText.slice(0, DIGITS));
}

/** The run of an entry. */
function runIdOfEntry(entryText: string): string {
  return entryText.slice(DIGITS + 1);
}

/** What a run stands as in its lists. */
export function entryOf({ updatedAt, runId }: Pick<RunSummary, "updatedAt" | "runId">): string {
  return `${dateOf(updatedAt)}-${runId}`;
}

/** A list's name: words of a-z A-Z 0-9 _ - only, at most 60 long. */
export function listName(
  status: RunStatus | "attention" | "all",
  by?: { readonly handler: string } | { readonly principal: string },
): string {
  if (by === undefined) return status;
  const [kind, value] = "handler" in by ? ["handler", by.handler] : ["principal", by.principal];
  return `${status}-${kind}-${digestOfName(value).slice(0, 22)}`;
}

/** A list that a run is in, and what it stands as there. */
export interface Listed {
  readonly list: string;
  readonly entry: string;
}

/** All lists of a row. */
export function listsOf(summary: RunSummary): readonly Listed[] {
  const statuses = ["all", summary.status, ...(summary.attention ? ["attention"] : [])] as const;
  const own = entryOf(summary);
  const { handler, principal, runId, waiting } = summary;
  const listed = statuses.flatMap((status) => {
    const name = status as RunStatus | "attention" | "all";
    return [
      listName(name),
      listName(name, { handler: handler.name }),
      listName(name, { principal }),
    ].map((list) => ({ list, entry: own }));
  });
  if (waiting === undefined) return listed;
  return [...listed, { list: OPEN_SINCE, entry: `${dateOf(waiting.since)}-${runId}` }];
}

/** What a page reads. */
export interface Reading {
  readonly list: string;
  /** The first text that counts. */
  readonly from: string;
  /** The first text that does not count any more; undefined: to the end. */
  readonly below: string | undefined;
  readonly rows: number;
  /** Whether the first in order come first; else the last do. */
  readonly isRising: boolean;
}

/** Where a page comes from. */
export interface PageSource {
  /** Entries of a list, in the order that `reading` wants. */
  entries(reading: Reading): Promise<readonly string[]>;
  /** Rows by run id, in the same order; undefined where there is none any more. */
  rows(runIds: readonly string[]): Promise<readonly (RunSummary | undefined)[]>;
}

/** One page. @throws RangeError for a query that can't be meant */
export async function readPage(
  query: HistoryQuery,
  now: number,
  source: PageSource,
): Promise<HistoryPage> {
  const reading = readingOf(query, now);
  const found = await source.entries(reading);
  const runs: RunSummary[] = [];
  let looked = 0;
  while (looked < found.length && runs.length < query.limit) {
    const part = found.slice(looked, looked + query.limit - runs.length);
    const rows = await source.rows(part.map(runIdOfEntry));
    runs.push(...rows.filter((row) => row !== undefined).filter((row) => matches(query, row)));
    looked += part.length;
  }
  const isAll = looked === found.length && found.length < reading.rows;
  return { runs, next: isAll ? undefined : found[looked - 1] };
}

function readingOf(query: HistoryQuery, now: number): Reading {
  const { status = "all", handler, principal, from = 0, to, limit, cursor } = query;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_HISTORY_PAGE)
    throw new RangeError(
      `limit must be a whole number from 1 to ${MAX_HISTORY_PAGE}, got ${limit}`,
    );
  if (cursor !== undefined && !entry.test(cursor))
    throw new RangeError("cursor must be `next` of the page before");
  if (query.order !== undefined) return openReading(query);
  const until = to === undefined ? undefined : dateOf(to);
  const below = cursor === undefined || (until !== undefined && until < cursor) ? until : cursor;
  const by =
    principal !== undefined ? { principal } : handler !== undefined ? { handler } : undefined;
  const filters = principal !== undefined && handler !== undefined;
  return {
    list: listName(status, by),
    from: dateOf(Math.max(from, now - HISTORY_MS)),
    below,
    // One more than is shown tells whether there is a next page.
    rows: filters ? MAX_ROWS : limit + 1,
    isRising: false,
  };
}

function openReading({
  status,
  handler,
  principal,
  from,
  to,
  limit,
  cursor,
}: HistoryQuery): Reading {
  if (status !== "waiting" || from !== undefined || to !== undefined)
    throw new RangeError('order is of status "waiting" alone, without from and to');
  const filters = principal !== undefined || handler !== undefined;
  return {
    list: OPEN_SINCE,
    // A blank is below all that an entry may go on with.
    from: cursor === undefined ? "" : `${cursor} `,
    below: undefined,
    rows: filters ? MAX_ROWS : limit + 1,
    isRising: true,
  };
}

function matches(query: HistoryQuery, row: RunSummary): boolean {
  const { status, handler, principal } = query;
  const hasStatus =
    status === undefined ||
    (status === "attention" ? row.attention !== undefined : row.status === status);
  return (
    hasStatus &&
    (handler === undefined || row.handler.name === handler) &&
    (principal === undefined || row.principal === principal)
  );
}
