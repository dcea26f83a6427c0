/**
 * What operators do to runs (docs/design.md 10). Offered by the runtime as `runtime.operator`, to the dashboard and the command.
 *
 * Every action is one transition of the store, judged on the run as it stands: the outcome says what it found. A client that comes
 * again gets what the action left behind.
 */
import type { RunRecord, RunStatus } from "./runRecord.ts";

/** What an action came to. */
export type OperatorOutcome =
  | { readonly kind: "done"; readonly status: RunStatus }
  /** The run does not stand where the action applies; nothing changed. */
  | { readonly kind: "not_applicable"; readonly status: RunStatus; readonly why: string }
  | { readonly kind: "unknown" };

/** How an operator ends a run by hand. */
export interface FinishOptions {
  /** `completed`: the caller gets `text` as the result; `failed`: as an error that is meant for the caller. */
  readonly as: "completed" | "failed";
  /** What the caller is told. 1 to 2,000 characters. */
  readonly text: string;
}

/**
 * Actions on runs. All reject with RepriseError STORE_UNAVAILABLE only, and `finish` with RangeError for a text of another length.
 *
 * What a client gets that comes again, by its round (the same `requestState`) or by its idempotency key:
 * - after `cancel`: RUN_CANCELLED; its key is free when no step was ever started. With something to undo, what undo left.
 * - after `retry`: it joins the new attempt and gets its outcome; later the recorded outcome. A joiner that waited before is not
 *   there any more: the run had ended, and was told so.
 * - after `finish`: the text, from the record, also for a repeated first call that would have gone on from a failed step.
 * - after `release`: nothing is refused any more: who comes first goes on with the run, or joins whoever does.
 */
export interface RunOperator {
  /** The whole record; values in it are the author's and the caller's: show them only to who may see them. */
  show(runId: string): Promise<RunRecord | undefined>;
  /** The run that an idempotency key leads to; `principal` for keys with scope `caller`. */
  findByKey(tool: string, key: string, principal?: string): Promise<string | undefined>;
  /** Ends the run; undo follows where there is one. Waiting, running, interrupted, mismatched, parked. */
  cancel(runId: string, reason?: string): Promise<OperatorOutcome>;
  /**
   * A new attempt of the last round, from the failed step, whose outcome replaces the recorded one. For failed and interrupted runs,
   * and completed ones that end with a failed step. Executed by the sweep or a worker.
   */
  retry(runId: string): Promise<OperatorOutcome>;
  /** Ends a run that nothing executes: interrupted, mismatched, parked, waiting. Nothing is undone, its key stays taken. */
  finish(runId: string, options: FinishOptions): Promise<OperatorOutcome>;
  /** Lets a parked or mismatched run go on with whoever comes next, deaths forgotten. */
  release(runId: string): Promise<OperatorOutcome>;
}
