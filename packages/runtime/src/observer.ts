/**
 * What happens to runs, told to whoever watches: the history that operators read, metrics, traces (docs/design.md 10).
 *
 * The runtime tells; observers listen. An observer is called in the middle of a run's work: it must return at once, must not throw,
 * and may drop what it can't keep. Nothing here carries a value of author, client or person: names, times and outcomes only.
 *
 * V1 What an observer does never changes or fails a run: what it throws is dropped, and logged the first time. It must return at once:
 *    what takes time is its own to put off.
 * V2 An event is told after what it says is recorded, but for `attempt_started` and `step_started`, which are told before. While the
 *    run of a call without a key has no id, `attempt_started` is told late: with what comes next in it. `at` is when it was.
 * V3 Nothing tells what a process that died had left to tell: of its attempt, only that another took over, or that the run was
 *    interrupted or parked.
 */
import type { RunStatus } from "./runRecord.ts";
import type { RunMethod } from "./runtimeTypes.ts";

/**
 * The run that something happens in, as it is then.
 *
 * A run of a handler whose effects may repeat has no record: what is told of it is all there is.
 */
export interface RunFacts {
  /**
   * Of the run. A once run's is known as soon as it has a record. Undefined for a call that ended without having needed one, unless
   * its carrier drew one.
   */
  readonly runId: string | undefined;
  readonly method: RunMethod;
  /** Kind and name of the handler, as in the catalog: bounded, so fit for a metric's label. */
  readonly handler: { readonly kind: string; readonly name: string };
  /** How the run is executed: with `store: "none"` every run is repeatable. */
  readonly effects: "once" | "repeatable";
  /** Who called; `anonymous` without auth. */
  readonly principal: string;
  /** The client program's name and protocol revision, as it says. */
  readonly client: string | undefined;
  readonly protocolVersion: string;
  readonly round: number;
  /** Of the attempt; 0 while the run has no record. */
  readonly epoch: number;
  /** Counts the attempts of this process: events of one attempt have one number. Absent for what happens outside attempts. */
  readonly attempt?: number;
  /** Handler version of the attempt. */
  readonly version: string;
  /** When the run began, in epoch milliseconds. The runtime always says it. */
  readonly runStartedAt?: number;
  /** Instance that executes the attempt, or that did what is told. */
  readonly instance: string;
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

/** How a step ended. `failed` is said of an undo function alone: a step that fails was certainly not done, or is uncertain. */
export type StepEnd = "completed" | "failed" | "not_done" | "uncertain";

/** What can happen in a run. */
type Happening = {
  /** Epoch milliseconds. */
  readonly at: number;
} & (
  | {
      readonly type: "attempt_started";
      readonly cause: AttemptCause;
      /** How long the attempt waited for a worker; undefined where none is waited for. */
      readonly queuedMs?: number;
      /** The request's `_meta.traceparent`, when it is one of W3 Trace Context. */
      readonly traceparent?: string;
      /** That of the run's first request. */
      readonly firstTraceparent?: string;
    }
  | {
      readonly type: "step_started";
      readonly step: string;
      /** Counts from 1 in each attempt. */
      readonly try: number;
      readonly undo: boolean;
    }
  | {
      readonly type: "step_ended";
      readonly step: string;
      readonly outcome: StepEnd;
      /** Tries that this attempt made; 0 when an earlier one's was found to have happened. */
      readonly tries: number;
      /** From this attempt's first try, pauses between tries included. */
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
      /**
       * From the question's first response to this answer's claim; 0 for an answer to no question of ours, and where an older
       * release asked.
       */
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
  /**
   * Done to the run from outside an attempt, by `instance`. `interrupted` and `parked`: found without a living attempt, by a sweep or
   * a request. `expired`: its question's deadline has passed, and what it did is undone now.
   */
  | {
      readonly type: "acted";
      readonly action:
        | "cancelled"
        | "released"
        | "retried"
        | "finished"
        | "expired"
        | "interrupted"
        | "parked";
      readonly status: RunStatus;
    }
);

/** One happening in a run, as observers hear of it. Happenings share what is said of their run: nobody may change it. */
export type RunNews = { readonly run: RunFacts } & Happening;

/** News of one type. */
export type NewsOf<T extends RunNews["type"]> = Extract<RunNews, { readonly type: T }>;

/** A happening and what is said of its run in one piece, as history keeps it. */
export type RunEvent = RunFacts & Happening;

/** News as history keeps them. */
export function eventOf({ run, ...happening }: RunNews): RunEvent {
  return { ...run, ...happening };
}

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
  run?(news: RunNews): void;
  refused?(event: RefusedState): void;
}
