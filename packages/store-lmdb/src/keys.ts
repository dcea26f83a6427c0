/**
 * All names under which the embedded store keeps something. No other module spells a key.
 *
 * Called by the record tables, the indexes, the board of notices and the environment. Owner and lifetime of each: README.
 *
 * N1 What belongs to a run starts with `run/<scope or run id>`, so a commit of one step touches neighbouring
 *    entries, mostly on one page: an idempotency record sorts right before the runs whose ids start with its scope.
 * N2 Run ids and scopes are words of A-Z a-z 0-9 _ -, so no id can spell another id's key.
 * N3 Kinds and ids of shared records are such words too. An item's key begins with that of its log, so they are neighbours.
 */
import { createHash } from "node:crypto";
import type { SharedKey } from "@reprise/runtime";

/** Number of the layout that this release writes and reads. */
export const LAYOUT_FORMAT: number = 1;

/** The layout's number. */
export const layoutKey: string = "layout";
/** The secret behind the request states of servers on this directory. */
export const stateSecretKey: string = "state-secret";

const word = /^[A-Za-z0-9_-]{1,400}$/;

/** Whether a string can be a run id or scope; one that can't leads to nothing. */
export function isWord(id: string): boolean {
  return word.test(id);
}

export const originKey = (runId: string): string => `run/${runId}/origin`;
export const headKey = (runId: string): string => `run/${runId}/head`;

/** Eight digits keep the order of the journal the order of the keys. */
export const entryKey = (runId: string, index: number): string =>
  `run/${runId}/entry/${String(index).padStart(8, "0")}`;

/** All entries from `index` on; `end` is the first key after them. */
export function entryRange(
  runId: string,
  index: number,
): { readonly start: string; readonly end: string } {
  return { start: entryKey(runId, index), end: `run/${runId}/entry0` };
}

/** Sorts before `run/<scope>-...`: see N1. */
export const idempotencyKey = (scope: string): string => `run/${scope}#key`;

/** Runs that an attempt has or died having. */
export const runningKey = (runId: string): string => `index/running/${runId}`;
export const mismatchedKey = (runId: string): string => `index/mismatched/${runId}`;

/** Whole minutes: a run that moves its expiry with every step rewrites its index entry once a minute. */
const EXPIRY_BUCKET_MS = 60_000;
/** Minutes since 1970 have eight digits until the year 2160; what expires later is found then. */
const LAST_BUCKET = 99_999_999;
const bucketOf = (at: number): string =>
  String(Math.min(LAST_BUCKET, Math.max(0, Math.floor(at / EXPIRY_BUCKET_MS)))).padStart(8, "0");

export const expiryKey = (expiresAt: number, runId: string): string =>
  `index/expiry/${bucketOf(expiresAt)}/${runId}`;

/** Waiting runs with something to undo, by the expiry of their newest state. */
export const deadlineKey = (stateExpiresAt: number, runId: string): string =>
  `index/deadline/${bucketOf(stateExpiresAt)}/${runId}`;

/** The index entries of all runs whose deadline may have passed at `now`, oldest first. */
export function overdueRange(now: number): { readonly start: string; readonly end: string } {
  return { start: "index/deadline/", end: `index/deadline/${bucketOf(now)}0` };
}

/** The index entries of all runs that may have expired at `now`, oldest first. */
export function expiredRange(now: number): { readonly start: string; readonly end: string } {
  return { start: "index/expiry/", end: `index/expiry/${bucketOf(now)}0` };
}

export const runningRange: { readonly start: string; readonly end: string } = {
  start: "index/running/",
  end: "index/running0",
};
export const mismatchedRange: { readonly start: string; readonly end: string } = {
  start: "index/mismatched/",
  end: "index/mismatched0",
};

/** The run id at the end of an index key. */
export const runIdOf = (indexKey: string): string => indexKey.slice(indexKey.lastIndexOf("/") + 1);

/** What a principal's waiting runs amount to. Hashed: principals are longer than a key may be. */
export const waitingKey = (principal: string): string =>
  `index/waiting/${createHash("sha256").update(principal).digest("base64url")}`;

export const sharedRecordKey = ({ kind, id }: SharedKey): string => `shared/record/${kind}/${id}`;
export const sharedLogKey = ({ kind, id }: SharedKey): string => `shared/log/${kind}/${id}`;
/** Whether a key of the two is that of a log. */
export const isSharedLog = (name: string): boolean => name.startsWith("shared/log/");

/** @param log the log's own key */
export const sharedItemKey = (log: string, number: number): string =>
  `${log}/${String(number).padStart(16, "0")}`;

/** @param name the key of a record or log */
export const sharedExpiryKey = (expiresAt: number, name: string): string =>
  `shared/expiry/${bucketOf(expiresAt)}/${name}`;

/** The index entries of what expired before the minute of `now`, oldest first. */
export function sharedExpiredRange(now: number): { readonly start: string; readonly end: string } {
  return { start: "shared/expiry/", end: `shared/expiry/${bucketOf(now)}` };
}

/** The key of a record or log at the end of its index entry. */
export const expiredNameOf = (indexed: string): string =>
  /^shared\/expiry\/\d+\/(.*)$/.exec(indexed)?.[1] ?? "";

/** What is known of a run besides its events. */
export const historyKey = (runId: string): string => `history/run/${runId}/kept`;
/** @param number of the first event that stands there */
export const historyEventKey = (runId: string, number: number): string =>
  `history/run/${runId}/event/${String(number).padStart(8, "0")}`;
/** The number at the end of such a key. */
export const historyEventNumber = (key: string): number =>
  Number(key.slice(key.lastIndexOf("/") + 1));
/** The events of a run, in their order. */
export function historyEventRange(runId: string): { readonly start: string; readonly end: string } {
  return { start: `history/run/${runId}/event/`, end: `history/run/${runId}/event0` };
}
/** @param list words of A-Z a-z 0-9 _ - */
export const historyListKey = (list: string, entry: string): string =>
  `history/list/${list}/${entry}`;
/** The last key of a list, and more: no entry is behind it. */
export const historyListEnd = (list: string): string => `history/list/${list}0`;
/** What stands in a list, of its key. */
export const historyEntryOf = (key: string): string => key.slice(key.lastIndexOf("/") + 1);
/** How many entries a list has. */
export const historyCountKey = (list: string): string => `history/count/${list}`;
export const instanceKey = (instance: string): string => `history/instance/${instance}`;
export const instanceRange: { readonly start: string; readonly end: string } = {
  start: "history/instance/",
  end: "history/instance0",
};
export const auditKey = (at: number): string => `history/audit/${String(at).padStart(15, "0")}`;
/** The audit log, oldest first, until before `before`. */
export function auditRange(before: number | undefined): {
  readonly start: string;
  readonly end: string;
} {
  return {
    start: "history/audit/",
    end: before === undefined ? "history/audit0" : auditKey(Math.max(0, Math.ceil(before))),
  };
}

export const noticeKey = (number: number): string =>
  `shared/notice/${String(number).padStart(16, "0")}`;
/** The notices from `number` on. */
export function noticeRange(number: number): { readonly start: string; readonly end: string } {
  return { start: noticeKey(number), end: "shared/notice0" };
}
export const numberOfNotice = (key: string): number => Number(key.slice(key.lastIndexOf("/") + 1));
