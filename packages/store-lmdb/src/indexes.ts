/**
 * The index entries of a run, moved in the same transaction as its head.
 *
 * Called by the record table. Old entries are derived from the old head, so no index needs to be searched to be mended.
 *
 * I1 `running` and `mismatched` list exactly the runs of that status.
 * I2 `expiry` lists every run once, by the minute of its expiry. Who reads it checks the head.
 * I3 `waiting` holds, for each principal, how many runs wait and how many bytes those hold.
 * I4 `deadline` lists every waiting run with something to undo, by the minute in which its newest state expires.
 */
import { hasUndoable, type RunHead, type RunStatus } from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import { deadlineKey, expiryKey, mismatchedKey, runningKey, waitingKey } from "./keys.ts";

/** What the indexes know of a run. */
export interface Indexed {
  /** Bytes that count against the principal while the run waits; else 0. */
  readonly charged: number;
  readonly head: RunHead;
}

/** What a principal's waiting runs amount to. */
export interface WaitingUse {
  readonly runs: number;
  readonly bytes: number;
}

/** Moves a run's index entries; `before` is undefined for a new run, `after` for a deleted one. */
export function moveIndexes(
  database: TextDatabase,
  runId: string,
  principal: () => string,
  before: Indexed | undefined,
  after: Indexed | undefined,
): void {
  moveStatus(database, "running", runningKey(runId), before, after);
  moveStatus(database, "mismatched", mismatchedKey(runId), before, after);
  const expiryOf = ({ head }: Indexed): string => expiryKey(head.expiresAt, runId);
  moveTime(database, before && expiryOf(before), after && expiryOf(after));
  moveTime(database, deadlineOf(before, runId), deadlineOf(after, runId));
  const runs = waits(after) - waits(before);
  const bytes = (after?.charged ?? 0) - (before?.charged ?? 0);
  if (runs !== 0 || bytes !== 0) addWaiting(database, principal(), runs, bytes);
}

/** What the principal's waiting runs amount to now. */
export function readWaiting(database: TextDatabase, principal: string): WaitingUse {
  const text = database.get(waitingKey(principal));
  return text === undefined ? { runs: 0, bytes: 0 } : (JSON.parse(text) as WaitingUse);
}

function moveStatus(
  database: TextDatabase,
  status: RunStatus,
  key: string,
  before: Indexed | undefined,
  after: Indexed | undefined,
): void {
  const was = before?.head.status === status;
  const is = after?.head.status === status;
  if (was === is) return;
  if (is) void database.put(key, "");
  else void database.remove(key);
}

function moveTime(
  database: TextDatabase,
  before: string | undefined,
  after: string | undefined,
): void {
  if (before === after) return;
  if (before !== undefined) void database.remove(before);
  if (after !== undefined) void database.put(after, "");
}

function deadlineOf(run: Indexed | undefined, runId: string): string | undefined {
  if (run?.head.status !== "waiting" || !hasUndoable(run.head)) return undefined;
  return deadlineKey(run.head.stateExpiresAt, runId);
}

function waits(run: Indexed | undefined): number {
  return run?.head.status === "waiting" ? 1 : 0;
}

function addWaiting(database: TextDatabase, principal: string, runs: number, bytes: number): void {
  const known = readWaiting(database, principal);
  const now: WaitingUse = { runs: known.runs + runs, bytes: known.bytes + bytes };
  const key = waitingKey(principal);
  if (now.runs <= 0) void database.remove(key);
  else void database.put(key, JSON.stringify(now));
}
