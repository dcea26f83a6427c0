/**
 * The store port: what the engine needs from a place where once runs live.
 *
 * One method is one atomic transition. Adapters run the pure functions of `transitions/` inside one transaction
 * of theirs (or prove their own scripts equal to them) and make the outcome durable before they reply.
 *
 * P1 A reply is given only after what it says is durable.
 * P2 Every transition of an attempt compares epoch and token; a stale one changes nothing and says LEASE_LOST.
 * P3 A transition sent again with the same epoch, token and sequence gets the first reply and changes nothing. A claim sent
 *    again with the token of the attempt that it was given gets that attempt again until something is recorded in it.
 * P4 Leases are judged by the store's clock (or the machine's monotonic one) and never by a client's wall clock.
 * P5 Failures are RepriseErrors STORE_UNAVAILABLE or STORE_FULL; after one, the caller may not assume either outcome.
 */
import type { Entry } from "@reprise/journal";
import type {
  BroughtAnswer,
  PendingAsk,
  RecordedResponse,
  RunHead,
  RunOrigin,
  RunRecord,
  RunStatus,
  RunUndo,
  SettledAnswer,
  StepMark,
} from "./runRecord.ts";

/** Proof of owning an attempt. */
export interface AttemptRef {
  readonly runId: string;
  readonly epoch: number;
  readonly token: string;
}

/** What changes with an append or an end; all of it in one transition. */
export interface Progress {
  /** Counts the transitions of one attempt from 1 up. */
  readonly sequence: number;
  readonly entries: readonly Entry[];
  /** Marks to set (value) or clear (null). */
  readonly marks: Readonly<Record<string, StepMark | null>>;
  /** A live step starts after this transition: the first of the run, or the first without a mark. */
  readonly stepStarts: boolean;
  /** With `stepStarts`: it has a mark, and so had all before it. Absent is false. */
  readonly stepsMarked?: boolean;
  /** Steps with an undo function that start after this transition; each has its mark in it. */
  readonly undoable?: readonly string[];
  /** Replaces the drafts when given. */
  readonly drafts?: RunHead["drafts"];
  /** Answers taken by the entries, by ask key. */
  readonly settled: Readonly<Record<string, SettledAnswer>>;
}

/** How a round ends. */
export type RoundEnd =
  | {
      readonly to: "waiting";
      readonly pending: readonly PendingAsk[];
      readonly state: Readonly<Record<string, string>>;
      readonly stateExpiresAt: number;
    }
  | {
      readonly to: "completed" | "failed";
      readonly response: RecordedResponse;
      readonly state: Readonly<Record<string, string>>;
      readonly keyFree: boolean;
    }
  /** The attempt was stopped, or a capability is missing: what it took is settled, the round is open. */
  | { readonly to: "interrupted"; readonly why?: EndReason }
  /** The process drains: whoever comes next goes on, as after a crash, but nothing is in doubt. Brought answers stand. */
  | { readonly to: "released" }
  /** The handler does not fit the journal: brought answers stand. */
  | { readonly to: "mismatched"; readonly why?: EndReason }
  | { readonly to: "parked"; readonly response: RecordedResponse }
  /** The run is no longer wanted. */
  | { readonly to: "cancelled"; readonly response: EndReason; readonly keyFree: boolean }
  /** It failed or is no longer wanted, and has something to undo: whoever claims it next does that. */
  | { readonly to: "undoing"; readonly undo: RunUndo }
  /** All of that is undone. */
  | { readonly to: "undone"; readonly response: RunUndo["response"]; readonly keyFree: boolean };

/** Why an attempt ended without a response of its run: for requests that waited for it in another process. */
export type EndReason = Extract<RecordedResponse, { readonly kind: "error" }>;

/** A new run, made durable for the first time. */
export interface CreateRun {
  readonly origin: RunOrigin;
  readonly version: string;
  readonly token: string;
  readonly waiterId: string | undefined;
  readonly progress: Progress;
  /** Absent: the attempt goes on under a lease. Given: the run is created and its round ends in one transition. */
  readonly end?: RoundEnd;
}

/** What all claims carry. */
export interface ClaimCommon {
  readonly version: string;
  /** Random token of the attempt, should the claim give one. */
  readonly token: string;
  /** Expiry of a requestState that is sealed now: recorded when the reply is an open question. */
  readonly stateExpiresAt: number;
  /** True: where this claim would give an attempt, the run is queued for a worker, and the reply is QUEUED. Default false. */
  readonly queue?: boolean;
}

/** A worker's claim of a queued attempt. */
export interface ClaimQueued extends Omit<ClaimCommon, "queue"> {
  readonly runId: string;
  /** The attempt that was queued: an earlier or later one is not given. */
  readonly epoch: number;
}

/** A first call with an idempotency key. */
export interface ClaimFirst extends ClaimCommon {
  /** Digest of scope, tool and key. Starts the run id. */
  readonly scope: string;
  readonly perCaller: boolean;
  readonly argsDigest: string;
  readonly principal: string;
  /** Makes the origin of a new run; called at most once, inside the transaction: must be pure and quick. */
  readonly newOrigin: (runId: string, generation: number, now: number) => RunOrigin;
  /** Random end of a new run id. */
  readonly idSuffix: string;
  readonly waiterId: string;
}

/** A retry with a requestState. */
export interface ClaimRound extends ClaimCommon {
  readonly runId: string;
  /** The round that the state asks to go on with. */
  readonly round: number;
  /** Question-with-key digests that were pending in that state. */
  readonly asked: readonly string[];
  /** The retry's answers by ask key, with digest. Answers to asks that are not in `asked` are left out by the store. */
  readonly answers: Readonly<Record<string, BroughtAnswer>>;
  /** The state itself has expired: only a round that was claimed in time goes on. */
  readonly stateExpired: boolean;
  readonly waiterId: string;
}

/** A known run, by a request that lost its lease and waits for the outcome, or by a sweep (no waiter). */
export interface ClaimKnown extends ClaimCommon {
  readonly runId: string;
  readonly waiterId: string | undefined;
  /** The attempt that this request waited for: if it ended for a recorded reason, that is the reply, and nothing is claimed. */
  readonly seen?: number;
  /** Whose run it must be; another's is LOST, as one that there is not. Absent for a sweep, which goes on with anybody's. */
  readonly principal?: string;
}

/** The end of a run that is no longer wanted. */
export interface CancelRun {
  readonly runId: string;
  /** Whose run it must be. Undefined: anybody's, for operators. */
  readonly principal: string | undefined;
  /** For those who ask for the run later. At most a sentence. */
  readonly reason: string | undefined;
}

/** What a claim gets. */
export type ClaimReply =
  /** The caller owns the attempt. */
  | {
      readonly tag: "CLAIMED";
      readonly record: RunRecord;
      readonly ref: AttemptRef;
      readonly takeover: boolean;
    }
  /** A live attempt has it; the waiter is registered when `joined`. */
  | {
      readonly tag: "RUNNING";
      readonly runId: string;
      readonly epoch: number;
      readonly round: number;
      readonly joined: boolean;
      /** The attempt waits for a worker. */
      readonly queued: boolean;
    }
  /** The run waits for a worker; the claimant is a waiter of this attempt. Only for claims with `queue`. */
  | {
      readonly tag: "QUEUED";
      readonly runId: string;
      readonly epoch: number;
      readonly round: number;
      readonly origin: RunOrigin;
    }
  /** The newest response is recorded: a question (status waiting) or the end. */
  | { readonly tag: "RECORDED"; readonly origin: RunOrigin; readonly head: RunHead }
  | {
      readonly tag: "SETTLED";
      readonly runId: string;
      readonly round: number;
      readonly status: RunStatus;
      readonly key: string;
    }
  /** `justNow`: by this very claim. Absent is false. */
  | {
      readonly tag: "PARKED";
      readonly origin: RunOrigin;
      readonly head: RunHead;
      readonly justNow?: true;
    }
  /** Missing, older than what is known of it, or another principal's. */
  | { readonly tag: "LOST"; readonly reason: "missing" | "older" | "foreign" }
  /** The state has expired and the record does not show its round claimed in time. */
  | { readonly tag: "EXPIRED" }
  | { readonly tag: "OTHER_ARGUMENTS" }
  | { readonly tag: "OTHER_CALLER"; readonly done: boolean }
  | { readonly tag: "TOO_MANY_WAITING"; readonly limit: number };

/** What a worker's claim of a queued attempt gets. */
export type QueuedClaimReply =
  | Extract<ClaimReply, { readonly tag: "CLAIMED" }>
  /** Somebody has it, or it is over: there is nothing to do. */
  | { readonly tag: "STALE" };

/** What a transition of an attempt gets. */
export type TransitionReply =
  | { readonly tag: "OK"; readonly stopping: boolean }
  | { readonly tag: "LEASE_LOST" }
  /** The run was cancelled: nothing is recorded any more, and running steps are to be aborted. */
  | { readonly tag: "CANCELLED" };

/** What cancelling a run gets. */
export type CancelReply =
  /** It has ended, by this call or an earlier one; with `undoing`, what it did is still to be undone. */
  | { readonly tag: "CANCELLED"; readonly round: number; readonly undoing?: boolean }
  /** It had ended otherwise: what was recorded first stands. */
  | { readonly tag: "ENDED"; readonly round: number; readonly status: RunStatus }
  /** There is no such run, or it is another principal's. */
  | { readonly tag: "LOST" };

/** What releasing a run gets. */
export type ReleaseReply =
  | { readonly tag: "RELEASED"; readonly round: number }
  /** It is neither parked nor mismatched: nothing was changed. */
  | { readonly tag: "NOT_PARKED"; readonly round: number; readonly status: RunStatus }
  | { readonly tag: "LOST" };

/** A new attempt of an ended run. */
export interface RetryRun {
  readonly runId: string;
  /** Random: tells this retry, sent again, from another one. No attempt gets it. */
  readonly token: string;
}

/** The end of a run by hand. */
export interface FinishRun {
  readonly runId: string;
  readonly as: "completed" | "failed";
  readonly response: Exclude<RecordedResponse, { readonly kind: "question" }>;
}

/** What an operator's retry or end of a run gets. */
export type OperateReply =
  | { readonly tag: "DONE"; readonly round: number; readonly status: RunStatus }
  /** The run does not stand where this applies; nothing was changed. */
  | { readonly tag: "NOT_APPLICABLE"; readonly status: RunStatus; readonly why: string }
  | { readonly tag: "LOST" };

/** What the creation of a run gets. */
export type CreateReply =
  | { readonly tag: "OK"; readonly ref: AttemptRef }
  /** The run id exists: never for honest random ids. */
  | { readonly tag: "EXISTS" }
  | { readonly tag: "TOO_MANY_WAITING"; readonly limit: number };

/** What leaving an attempt gets. */
export interface LeaveReply {
  /** That was the last waiter: the attempt's stop is final. */
  readonly stopping: boolean;
}

/** Why an attempt is to end: its last waiter has left, or its run was cancelled. */
export type StopReason = "left" | "cancelled";

/** Whether the store can take writes. */
export interface StoreHealth {
  readonly ok: boolean;
  readonly reason?: string;
  /** What it holds and may hold; absent where there is no limit, or it is not known. Of several servers, the fullest. */
  readonly room?: { readonly usedBytes: number; readonly limitBytes: number };
}

/** A place where once runs live. */
export interface RunStore {
  /** The lease's length; renew at a third of it. */
  readonly leaseMs: number;
  createRun(input: CreateRun): Promise<CreateReply>;
  claimFirst(input: ClaimFirst): Promise<ClaimReply>;
  claimRound(input: ClaimRound): Promise<ClaimReply>;
  claimKnown(input: ClaimKnown): Promise<ClaimReply>;
  claimQueued(input: ClaimQueued): Promise<QueuedClaimReply>;
  append(ref: AttemptRef, progress: Progress): Promise<TransitionReply>;
  endRound(ref: AttemptRef, progress: Progress, end: RoundEnd): Promise<TransitionReply>;
  renew(ref: AttemptRef): Promise<TransitionReply>;
  /** Ends a run for good, whoever has it; what its attempt still sends gets CANCELLED. */
  cancel(input: CancelRun): Promise<CancelReply>;
  /** Lets a parked or mismatched run go on: for operators. */
  release(runId: string): Promise<ReleaseReply>;
  /** Lets a failed or interrupted run go on from its failed step, or one that completed with a failed step at its end: for operators. */
  retry(input: RetryRun): Promise<OperateReply>;
  /** Ends a run that no attempt has and that has not ended: for operators. */
  finish(input: FinishRun): Promise<OperateReply>;
  /** A waiter's request is gone. */
  leave(runId: string, epoch: number, waiterId: string): Promise<LeaveReply>;
  /**
   * Resolves when the run no longer stands at `epoch`, queued or with a live lease (or was stopped), at the latest after
   * `timeoutMs`; early wake-ups are allowed: callers look again. Never rejects; an aborted signal resolves.
   */
  watch(runId: string, epoch: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls `listener` within a second when the attempt's stop has become final, and when its run was cancelled, also by another
   * process; at most once for each. Returns how to call that off. A hint: what a lost message leaves out is known at the next
   * renewal.
   */
  onStopping(runId: string, epoch: number, listener: (why: StopReason) => void): () => void;
  /**
   * Run ids whose attempt died or has been queued for longer than a lease, whose mismatch is older than the grace, or whose
   * deadline has passed with something to undo (`isOverdue`); at most `limit`.
   */
  findAbandoned(limit: number): Promise<readonly string[]>;
  /** The run that an idempotency scope leads to: for operators. */
  leadsTo(scope: string): Promise<string | undefined>;
  /** The whole record, for operators and tests. */
  load(runId: string): Promise<RunRecord | undefined>;
  /** Deletes what has expired; returns how many runs. At most `limit` a call. */
  removeExpired(limit: number): Promise<number>;
  health(): Promise<StoreHealth>;
  /** Idempotent. Pending watches resolve. */
  close(): Promise<void>;
}
