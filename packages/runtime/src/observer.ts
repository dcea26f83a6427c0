/**
 * What happens to runs, told to whoever watches: the history that operators read, metrics, traces (docs/design.md 10).
 *
 * The runtime tells; observers listen. An observer is called in the middle of a run's work: it must return at once, must not throw,
 * and may drop what it can't keep. Nothing here carries a value of author, client or person: names, times and outcomes only.
 *
 * V1 What an observer does never changes, delays or fails a run: what it throws is logged once and dropped.
 * V2 An event is told after what it says is recorded, but for `attempt_started` and `step_started`, which are told before.
 */
import type { RunStatus } from "./runRecord.ts";
import type { RunMethod } from "./runtimeTypes.ts";

/** What every event of a run says. */
export interface RunFacts {
  /** Of the run; undefined while the run of a call without a key has no record, and then never known. */
  readonly runId: string | undefined;
  readonly method: RunMethod;
  /** Kind and name of the handler, as in the catalog: bounded, so fit for a metric's label. */
  readonly handler: { readonly kind: string; readonly name: string };
  readonly effects: "once" | "repeatable";
  /** Who called; `anonymous` without auth. */
  readonly principal: string;
  /** The client program's name and protocol revision, as it says. */
  readonly client: string | undefined;
  readonly protocolVersion: string;
  readonly round: number;
  /** Of the attempt; 0 while the run has no record. */
  readonly epoch: number;
  /** Handler version of the attempt. */
  readonly version: string;
  /** Instance that executes the attempt. */
  readonly instance: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Why an attempt began. */
export type AttemptCause = "call" | "answer" | "again" | "takeover" | "sweep" | "operator" | "undo";

/** How an attempt ended. */
export type AttemptEnd =
  | "suspended"
  | "completed"
  | "failed"
  | "interrupted"
  | "released"
  | "mismatched"
  | "parked"
  | "cancelled"
  | "undone"
  /** Another attempt has the run, or the record could not be written. */
  | "lost";

/** How a step ended. */
export type StepEnd = "completed" | "failed" | "not_done" | "uncertain";

/** One happening in a run. */
export type RunEvent = RunFacts &
  (
    | {
        readonly type: "attempt_started";
        readonly cause: AttemptCause;
        /** How long the attempt waited for a worker; undefined where none is waited for. */
        readonly queuedMs?: number;
        /** The request's `_meta.traceparent`. */
        readonly traceparent?: string;
      }
    | {
        readonly type: "step_started";
        readonly step: string;
        readonly try: number;
        readonly undo: boolean;
      }
    | {
        readonly type: "step_ended";
        readonly step: string;
        readonly outcome: StepEnd;
        /** Tries that this attempt made. */
        readonly tries: number;
        readonly durationMs: number;
        readonly undo: boolean;
      }
    | {
        readonly type: "asked";
        /** Keys and kinds of the open questions. */
        readonly asks: readonly { readonly key: string; readonly kind: AskKind }[];
        /** Epoch milliseconds: until when an answer is taken. */
        readonly until: number;
      }
    | {
        readonly type: "answered";
        readonly key: string;
        readonly kind: AskKind;
        readonly action: "accept" | "decline" | "cancel" | "error" | "result";
        /** From the question's first response to this answer's claim. */
        readonly waitedMs: number;
      }
    | {
        readonly type: "attempt_ended";
        readonly outcome: AttemptEnd;
        /** Of the response, when it is an error. */
        readonly code?: string;
        /** From the attempt's start. */
        readonly durationMs: number;
        /** Status of the run now. */
        readonly status: RunStatus | undefined;
      }
    /** A request was answered from the record. */
    | { readonly type: "replayed"; readonly status: RunStatus }
    /** Done to the run from outside an attempt. */
    | {
        readonly type: "acted";
        readonly action: "cancelled" | "released" | "retried" | "finished" | "expired";
        readonly status: RunStatus;
      }
  );

/** What is asked. */
export type AskKind = "confirm" | "elicit" | "elicitUrl" | "sample" | "listRoots";

/** A request that never came to a run. */
export interface RefusedState {
  readonly type: "state_refused";
  /** The cause, as in the audit log; never told to the client. */
  readonly cause: string;
  readonly at: number;
}

/** Listens to what happens. See V1. */
export interface RunObserver {
  run?(event: RunEvent): void;
  refused?(event: RefusedState): void;
}
