/**
 * What calls of the history port may say, and which events of a run are kept: one reading for all adapters.
 *
 * Called by the adapters before anything is written. It refuses with RangeErrors and changes nothing.
 */
import { type AuditItem, type InstanceInfo, MAX_EVENTS_PER_RUN } from "./historyPort.ts";
import type { RunEvent } from "./observer.ts";

/** Events that one call takes. */
export const MAX_RECORDED: number = 1_000;
/** The first events of a run are kept for good, so that a long run still shows how it began. */
const FIRST_EVENTS = 50;
/** The newest ones that are kept besides. */
const NEWEST_EVENTS = MAX_EVENTS_PER_RUN - FIRST_EVENTS;
/** How long an instance that says nothing more is remembered. */
export const INSTANCE_MS: number = 60_000;
/** How long the audit log is kept. */
export const AUDIT_MS: number = 90 * 24 * 60 * 60 * 1000;

const MAX_AUDITS = 1_000;
const word = /^[A-Za-z0-9_-]{1,400}$/;

/** The events by run, each in the order in which it was told; those of runs without an id are left out. @throws RangeError */
export function byRun(events: readonly RunEvent[]): ReadonlyMap<string, readonly RunEvent[]> {
  if (events.length > MAX_RECORDED)
    throw new RangeError(`one call records at most ${MAX_RECORDED} events, got ${events.length}`);
  const runs = new Map<string, RunEvent[]>();
  for (const event of events) {
    const { runId } = event;
    // No id of ours: no store could hold it under a key.
    if (runId === undefined || !word.test(runId)) continue;
    const known = runs.get(runId);
    if (known === undefined) runs.set(runId, [event]);
    else known.push(event);
  }
  return runs;
}

/** Whether a run id can lead to anything. */
export function isRunId(runId: string): boolean {
  return word.test(runId);
}

/** Which of so many events are kept: those numbered below `first`, and from `newest` on. Numbers begin with 0. */
export function keptOf(told: number): { readonly first: number; readonly newest: number } {
  return { first: FIRST_EVENTS, newest: Math.max(FIRST_EVENTS, told - NEWEST_EVENTS) };
}

/** @throws RangeError for what is no instance */
export function checkInstance(instance: InstanceInfo): InstanceInfo {
  if (!word.test(instance.instance))
    throw new RangeError("instance must be a word of A-Z a-z 0-9 _ -, 1 to 400 long");
  return instance;
}

/** @throws RangeError for what is no time */
export function checkAudit(item: AuditItem): AuditItem {
  if (!Number.isSafeInteger(item.at) || item.at < 0)
    throw new RangeError(`at must be epoch milliseconds, got ${item.at}`);
  return item;
}

/** @throws RangeError for a page that can't be meant */
export function checkAudits(limit: number, before: number | undefined): void {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_AUDITS)
    throw new RangeError(`limit must be a whole number from 1 to ${MAX_AUDITS}, got ${limit}`);
  if (before !== undefined && !Number.isFinite(before))
    throw new RangeError(`before must be epoch milliseconds, got ${before}`);
}
