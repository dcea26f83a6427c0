/**
 * What the transition functions know of the place they run in, and what they give back.
 *
 * The functions are pure: a record and an input go in, a reply and what to write come out. The adapter supplies
 * time and liveness, runs one function inside one transaction and stores the result as it is.
 */
import type { Entry } from "@reprise/journal";
import type { KeyRecord, Lease, RunHead, RunOrigin } from "../runRecord.ts";
import { ATTENTION_RETENTION_MS } from "../runRecord.ts";

/** Time and liveness, as the store sees them. */
export interface TransitionEnv {
  /** Epoch milliseconds of the store. */
  readonly now: number;
  readonly retentionMs: number;
  /** A lease of this process from now on; also renews. */
  newLease(): Lease;
  /** The holder's time is over, or the holder is known to be gone. */
  isLeaseOver(lease: Lease): boolean;
  /** The process behind a waiter is known to be gone. */
  isGone(holder: Lease["holder"]): boolean;
  /** This process, as a waiter's holder. */
  readonly holder: Lease["holder"];
  /** The limit, when the principal has as many waiting runs as allowed; else undefined. */
  waitingLimit(principal: string): number | undefined;
}

/** A record as the store holds it; entries are read only when a function needs them. */
export interface StoredRun {
  readonly origin: RunOrigin;
  readonly head: RunHead;
  entries(): readonly Entry[];
}

/** What to write, all of it or nothing. Absent members stay as they are. */
export interface RunWrite {
  /** For a new run. */
  readonly origin?: RunOrigin;
  readonly head: RunHead;
  /** Journal entries with an index of at least this are deleted first. */
  readonly cutEntriesAt?: number;
  /** Entries to write, the first of them at index `appendAt`. */
  readonly append?: readonly Entry[];
  readonly appendAt?: number;
}

/** The outcome of a transition function. */
export interface Transition<Reply> {
  readonly reply: Reply;
  readonly write?: RunWrite;
  /** The idempotency record to write. */
  readonly key?: KeyRecord;
  /** A run that loses its key to another caller: written together with the rest. */
  readonly displaced?: { readonly runId: string; readonly head: RunHead };
}

/** A head with update and expiry times set; every transition ends with this. */
export function touched(head: RunHead, env: TransitionEnv): RunHead {
  const isUndoing = head.status === "running" && head.undo !== undefined;
  const attention =
    head.status === "interrupted" ||
    head.status === "mismatched" ||
    head.status === "parked" ||
    isUndoing;
  const expiresAt = attention
    ? env.now + ATTENTION_RETENTION_MS
    : Math.max(head.stateExpiresAt, env.now) + env.retentionMs;
  return { ...head, updatedAt: env.now, expiresAt: Math.max(expiresAt, head.expiresAt) };
}
