/**
 * The dispatcher port: how a front that does not execute handlers itself gets them executed (docs/design.md 7).
 *
 * Called by the lanes and the sweep of a runtime that was given one; without one, everything runs inline. Whoever implements it
 * carries jobs to a process that has a runtime over the same definition, which hands them to that runtime's `runQueued` and
 * `runCall`.
 *
 * D1 A queued run is carried by its record: a job that is lost, doubled or late does no harm, because only a worker's claim
 *    of exactly that attempt executes it.
 * D2 A call has no record yet, or never one. Its reply is the worker's, or `unanswered`; the runtime then decides whether it
 *    may be called again. A call may be executed twice, also at the same time.
 * D3 Nothing here decides who may execute a run, and nothing here is needed to answer from a record.
 */
import type { ClientError, JsonObject, JsonValue } from "@reprise/journal";
import type { Caller, ClientIdentity } from "./caller.ts";
import type { RunOrigin } from "./runRecord.ts";
import type { NotificationSink, RunMethod, RunRequest } from "./runtimeTypes.ts";
import type { LogLevel } from "./wireTypes.ts";

/** The names that a handler is found by in the catalog of another process. */
export type HandlerName = RunOrigin["handler"];

/** A queued attempt of a once run. */
export interface RunJob {
  readonly runId: string;
  readonly round: number;
  readonly epoch: number;
  readonly queue: string;
  readonly handler: HandlerName;
  /** Whose capacity it takes. */
  readonly principal: string;
  /** Of the request that queued it, where they differ from those that the run began with. */
  readonly caller?: Caller;
  readonly client?: ClientIdentity;
  readonly logLevel?: LogLevel;
  /** `_meta.traceparent` of that request. */
  readonly traceparent?: string;
}

/** A request that is executed elsewhere without a record: of a repeatable run, or a first call without a key. */
export interface RemoteCall {
  /** Drawn by the front. A once run that needs a record gets this id, so that of two executions only one can make it. */
  readonly runId: string;
  readonly method: RunMethod;
  readonly queue: string;
  readonly handler: HandlerName;
  readonly target: string;
  /** Without `_meta`, `inputResponses` and `requestState`. */
  readonly params: JsonObject;
  readonly caller: Caller;
  readonly client: ClientIdentity;
  readonly requestState?: JsonValue;
  readonly inputResponses?: JsonValue;
  readonly clientErrors?: Readonly<Record<string, ClientError>>;
  readonly logLevel?: LogLevel;
  /** `_meta.traceparent` of the request. */
  readonly traceparent?: string;
}

/** What a call gets, as JSON. */
export type CallReply =
  | { readonly kind: "complete"; readonly result: JsonObject }
  | {
      readonly kind: "input_required";
      readonly inputRequests: Readonly<Record<string, JsonObject>>;
      readonly requestState: string;
      readonly elicitationIds?: Readonly<Record<string, string>>;
      readonly runId?: string;
      readonly answerBeforeMs: number;
    }
  | {
      readonly kind: "error";
      readonly code: string;
      readonly message: string;
      readonly data?: JsonObject;
    }
  /** Nobody executed it to its end. `died`: its worker is gone; else it was given back, or another attempt has the run. */
  | { readonly kind: "unanswered"; readonly died: boolean };

/** The one who waits for a job. */
export type Sender = Pick<RunRequest, "isGone" | "onGone" | "cancelled">;

/** A job that was enqueued. */
export interface QueuedJob {
  /** Resolves when its worker is done with it, or when nobody knows it any more: look at the record. Never rejects. */
  readonly ended: Promise<void>;
  /** Nobody waits for it here any more; the job itself stays. */
  release(): void;
}

/** Carries jobs to workers. */
export interface Dispatcher {
  /**
   * Whether a job of this principal can be taken now; called before anything is recorded.
   * @throws RepriseError BUSY with `data.retryAfterMs`
   */
  admit(queue: string, principal: string): void;
  /** Takes a queued attempt; a second time the same one does nothing. Never throws: the sweep finds what is lost. */
  enqueue(job: RunJob, notifications: NotificationSink | undefined): QueuedJob;
  /**
   * Has a request executed. A sender that goes away meanwhile stops it within a second, one that cancels it ends it.
   * @throws RepriseError BUSY, STORE_UNAVAILABLE
   */
  call(
    call: RemoteCall,
    notifications: NotificationSink | undefined,
    sender: Sender,
  ): Promise<CallReply>;
  /** Whether jobs can be carried now. */
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  /** Takes no more jobs; what waits is unanswered. Idempotent. */
  close(): Promise<void>;
}

/** What a worker's runtime does with jobs. Both never reject. */
export interface Executor {
  /** Claims the queued attempt and executes it to its recorded end; does nothing when somebody else has it. */
  runQueued(job: RunJob, notifications: NotificationSink | undefined): Promise<void>;
  runCall(
    call: RemoteCall,
    notifications: NotificationSink | undefined,
    sender: Sender,
  ): Promise<CallReply>;
}
