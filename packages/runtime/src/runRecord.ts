/**
 * What the store keeps of a once run: its origin (written once), its head (rewritten by every transition) and its
 * journal entries (appended, each under its index, so that step 10,000 costs what step 10 costs).
 *
 * Only the transitions of `transitions/` make new heads. Adapters store origin, head and entries as they are and
 * never interpret them beyond what the transition functions return.
 *
 * Format 1: see RECORD_FORMAT. All times are epoch milliseconds of the store's clock.
 */
import type { ClientError, Entry, JsonObject, JsonValue } from "@reprise/journal";
import type { Caller, ClientIdentity } from "./caller.ts";
import type { RunMethod } from "./runtimeTypes.ts";

/** Number of the record format that this release writes. */
export const RECORD_FORMAT: number = 1;

/** Facts of a run that never change. */
export interface RunOrigin {
  readonly format: number;
  readonly runId: string;
  readonly method: RunMethod;
  /** Kind and name of the handler, as in the catalog. */
  readonly handler: { readonly kind: string; readonly name: string };
  /** The name or URI of the request. */
  readonly target: string;
  /** The request's `params` without `_meta`, `inputResponses` and `requestState`. */
  readonly params: JsonObject;
  readonly caller: Caller;
  readonly client: ClientIdentity;
  /** Where `uuid` and `random` come from. 128 random bits. */
  readonly seed: string;
  /** Its tool had an output schema, so that no text alone can be its result. Absent: it had none, or an earlier release made it. */
  readonly owesStructure?: true;
  /** `_meta.traceparent` of the first request, when it had one. */
  readonly traceparent?: string | undefined;
  /** The idempotency record that leads here, if the call had a key. */
  readonly key:
    | { readonly scope: string; readonly generation: number; readonly argsDigest: string }
    | undefined;
  readonly startedAt: number;
}

/** Where a run stands. */
export type RunStatus =
  /** An attempt has it, or died having it. */
  | "running"
  /** A question is open; nothing executes. */
  | "waiting"
  /** The handler returned. */
  | "completed"
  /** The handler threw. */
  | "failed"
  /** The attempt was stopped; the next request goes on. */
  | "interrupted"
  /** The handler did not fit the journal; an instance that fits goes on. */
  | "mismatched"
  /** Only an operator goes on. */
  | "parked"
  /** It was no longer wanted; nothing goes on. */
  | "cancelled"
  /** It failed, was cancelled or was not answered in time, and what could be undone of it is; nothing goes on. */
  | "undone";

/** Ownership of a running round. `holder` means something to the adapter only. */
export interface Lease {
  readonly holder: JsonValue;
  /** In the adapter's own measure of time. */
  readonly until: number;
}

/** A request that waits for the attempt's outcome. */
export interface Waiter {
  readonly id: string;
  readonly holder: JsonValue;
}

/** A question that the client was sent and has not answered. */
export interface PendingAsk {
  readonly key: string;
  /** Digest of the exact question. */
  readonly question: string;
  /** Digest of key and question: what a requestState names the ask by. */
  readonly asked: string;
  /** `{method, params}` as it goes on the wire. */
  readonly wire: { readonly method: string; readonly params?: JsonObject };
  /** What a person reads, for the error that shows two questions. */
  readonly text: string;
  /** How many times in a row, within one handler version, the question under this key has changed. */
  readonly changes: number;
  /** How many times a URL ask was accepted without being completed. */
  readonly unfinished: number;
  /** What is asked. Absent in records of older releases, and in sealed states. */
  readonly kind?: "confirm" | "elicit" | "elicitUrl" | "sample" | "listRoots";
  /** When this very question was first sent. Absent in records of older releases. */
  readonly askedAt?: number;
  /** Of a URL ask: its stable id, and whether its page was given that. The wire of 2026-07-28 has no id. */
  readonly elicitation?: { readonly id: string; readonly completable: boolean };
}

/** A client's answer that no ask has taken yet. */
export interface BroughtAnswer {
  readonly value: JsonValue;
  /** Of the value's canonical form, or of the error: equal answers have equal digests. */
  readonly digest: string;
  /** The client answered with an error; `value` is null. Only a carrier says so, no client's `inputResponses` can. */
  readonly error?: ClientError;
  /** Given for answers that an ask took once, behind a failure that runs again: digest of the question. */
  readonly question?: string;
}

/** An answer that an ask took. */
export interface SettledAnswer {
  /** The ask: digest of key and question. */
  readonly asked: string;
  /** Digest of the answer. */
  readonly answer: string;
}

/** The newest response of a run, without what is made anew each time it is sent. */
export type RecordedResponse =
  | { readonly kind: "complete"; readonly result: JsonObject }
  | { readonly kind: "question" }
  | {
      readonly kind: "error";
      readonly code: string;
      readonly message: string;
      readonly data: JsonObject | undefined;
    };

/** A started step that no entry closes. */
export interface StepMark {
  /** When its first try began; the remote's memory of the key is counted from here. */
  readonly firstTriedAt: number;
}

/** What is, or was, to be undone of a run; nothing else of it goes on once this stands (docs/design.md 4.5). */
export interface RunUndo {
  /** The handler threw, the run was cancelled, or its question was not answered in time. */
  readonly why: "failed" | "cancelled" | "expired";
  /** What callers get once it is undone; of a failure the handler's own response. */
  readonly response: Exclude<RecordedResponse, { readonly kind: "question" }>;
  /** When the first attempt that undoes was given out: the remote's memory of undo keys is counted from here. */
  readonly triedAt?: number | undefined;
  /** Attempts that undo, so far. Absent is none. */
  readonly attempts?: number | undefined;
  /** The lease is still that of the attempt that was cancelled, which may be in a step. Absent is false. */
  readonly awaits?: boolean | undefined;
}

/** Facts of a run that change. */
export interface RunHead {
  readonly status: RunStatus;
  readonly round: number;
  /** Counts the attempts of the run; every transition of an attempt carries it. */
  readonly epoch: number;
  /** Random, so that two attempts never take each other for themselves, even after a restored backup.
   * Of the newest attempt, also after its lease ended: tells its re-sends from a stranger's. */
  readonly token: string;
  /** Present while an attempt has the run, and after it died; a run that a draining process released has none. */
  readonly lease: Lease | undefined;
  /** True while the newest attempt waits for a worker: it has no lease, `claimedAt` is when it was queued. Absent is false. */
  readonly queued?: boolean | undefined;
  /** Requests that wait for the live attempt. */
  readonly waiters: readonly Waiter[];
  /** False for attempts of a sweep or an operator: a disconnect never stops those. */
  readonly stoppable: boolean;
  /** The last waiter has left: final for the live attempt. */
  readonly stopping: boolean;
  /** Deaths of attempts in this round; above MAX_TAKEOVERS the run is parked. */
  readonly takeovers: number;
  /** A live step was ever started. Durable before its function is entered. */
  readonly stepStarted: boolean;
  /** A step has a recorded result. */
  readonly stepCompleted: boolean;
  /** An attempt died when a step that no entry shows may have been running: the key is never free again. */
  readonly openStepPossible: boolean;
  /** Earliest time at which such a step of this round may have started. */
  readonly openStepSince: number | undefined;
  /** When the newest attempt was claimed: no step of it can have started before. */
  readonly claimedAt: number;
  readonly marks: Readonly<Record<string, StepMark>>;
  /** Every step that was started so far wrote a mark first, so none can have been running unseen. Absent is unknown. */
  readonly stepsMarked?: boolean | undefined;
  /** Steps with an undo function that are recorded or in doubt, and not undone. Absent is none. */
  readonly undoable?: readonly string[] | undefined;
  /** The run is undone, by the attempts that come; with another status than `running`, that is over or stands still. */
  readonly undo?: RunUndo | undefined;
  /** Marked steps behind a failure that runs again: the handler may go another way and need not come to them. */
  readonly passable?: readonly string[] | undefined;
  /** The open questions of the last suspended round; empty when none. */
  readonly pending: readonly PendingAsk[];
  /** Answers that the attempt was claimed with, by ask key. */
  readonly brought: Readonly<Record<string, BroughtAnswer>>;
  /** Answers that asks took, by ask key: settled for ever. */
  readonly settled: Readonly<Record<string, SettledAnswer>>;
  /** `ctx.state` as the last round ended. */
  readonly state: Readonly<Record<string, string>>;
  /** `ctx.state` writes of this round that a started step may have seen: by key, in order; null is a delete. */
  readonly drafts: Readonly<Record<string, readonly (string | null)[]>>;
  /** The drafts that the steps before the first failure that no completed step follows may have seen. */
  readonly draftsAtFailure?: RunHead["drafts"] | undefined;
  readonly response: RecordedResponse | undefined;
  readonly entryCount: number;
  /** Index of the attempt's newest transition, so that a re-send gets the first reply. */
  readonly sequence: number;
  /** Handler version of the newest attempt. */
  readonly version: string;
  /** Handler version of the attempt that asked `pending`. */
  readonly askedVersion: string;
  /** Handler version of the attempt that recorded the newest entry: what a mismatch reports. */
  readonly entriesVersion: string;
  readonly mismatchedAt: number | undefined;
  /** The key is free: the next first call starts a new run. */
  readonly keyFree: boolean;
  /** A requestState was given out. */
  readonly stateGivenOut: boolean;
  /** When the newest given-out state expires; 0 when none was. */
  readonly stateExpiresAt: number;
  /** An operator wants it to go on: a sweep drives it, whoever may come again, until its round ends. Absent is false. */
  readonly wanted?: boolean | undefined;
  /** An operator ended it by hand: `response` stands for every later call. Absent is false. */
  readonly finished?: boolean | undefined;
  readonly updatedAt: number;
  readonly expiresAt: number;
}

/** A whole run. */
export interface RunRecord {
  readonly origin: RunOrigin;
  readonly head: RunHead;
  readonly entries: readonly Entry[];
}

/** What (scope, tool, key) leads to. */
export interface KeyRecord {
  readonly format: number;
  readonly runId: string;
  readonly generation: number;
  readonly argsDigest: string;
  readonly principal: string;
  readonly free: boolean;
  readonly expiresAt: number;
}

/** Deaths of attempts in one round after which a run is parked. */
export const MAX_TAKEOVERS: number = 5;
/** How long a run without an open question is kept after its newest change. Default `retention`. */
export const DEFAULT_RETENTION_MS: number = 24 * 60 * 60 * 1000;
/** How long interrupted, mismatched and parked runs are kept, and those that are being undone. */
export const ATTENTION_RETENTION_MS: number = 30 * 24 * 60 * 60 * 1000;
/** How long a mismatched run waits for an instance that fits before it is parked. */
export const MISMATCH_GRACE_MS: number = 10 * 60 * 1000;
