/**
 * What observers are told of an attempt of a once run: how it began, and how it ended. Called by onceAttempt.ts.
 */
import { isRepriseError, type RepriseError } from "@reprise/errors";
import type { AttemptOutcome } from "./attemptOutcome.ts";
import type { AttemptReporter } from "./attemptReporter.ts";
import { isDrain } from "./engineDeps.ts";
import type { AttemptEnd } from "./observer.ts";
import type { OnceOutcome, OnceStart } from "./onceAttempt.ts";
import type { OnceSink } from "./onceSink.ts";
import type { RunStatus } from "./runRecord.ts";
import type { RunReporter } from "./runReporter.ts";

/** A reporter for an attempt that begins now. */
export function reporterOf(
  reporter: RunReporter,
  sink: OnceSink,
  { handler, caller, client, head, startedAt, origin, begun }: OnceStart,
): AttemptReporter {
  const came = begun();
  return reporter.attempt({
    handler,
    effects: "once",
    caller,
    client,
    round: head?.round ?? 0,
    runStartedAt: startedAt,
    ref: () => sink.ref,
    begun: head?.undo === undefined ? came : { ...came, cause: "undo" },
    // Without a record, this is its first request.
    firstTraceparent: head === undefined ? came.traceparent : origin().traceparent,
  });
}

/** Told once what came of the attempt is recorded, or can't be. @param hasRecord whether the run has one now */
export function tellEnd(
  report: AttemptReporter,
  ended: AttemptOutcome,
  outcome: OnceOutcome,
  hasRecord: boolean,
): void {
  switch (outcome.kind) {
    case "suspended":
      return report.asked(outcome.pending, outcome.stateExpiresAt);
    case "fenced":
      return report.ended("lost", undefined);
    case "undoing":
      return report.ended(isFailure(ended) ? "failed" : "cancelled", "running");
    case "recorded":
      return outcome.failed
        ? report.ended("failed", "failed", codeOf(ended))
        : report.ended("completed", "completed");
    case "failed": {
      const { error } = outcome;
      const [end, status] = failureOf(ended, error);
      return report.ended(end, hasRecord ? status : undefined, error.code);
    }
  }
}

/** Whether that is why the run is undone; else it was cancelled. */
function isFailure({ kind }: AttemptOutcome): boolean {
  return kind === "returned" || kind === "threw";
}

/** How an attempt ended that gave no response of the run, and where that left the run. */
function failureOf(
  ended: AttemptOutcome,
  error: RepriseError,
): readonly [AttemptEnd, RunStatus | undefined] {
  const isUnwritten = error.code === "STORE_UNAVAILABLE" || error.code === "STORE_FULL";
  if (ended.kind === "unrecorded" || isUnwritten) return ["lost", undefined];
  if (ended.kind === "mismatched") return ["mismatched", "mismatched"];
  // The question could not be recorded: too many are open.
  if (ended.kind !== "interrupted") return ["failed", undefined];
  if (error.code === "RUN_CANCELLED") return ["cancelled", "cancelled"];
  return isDrain(error) ? ["released", "running"] : ["interrupted", "interrupted"];
}

/** Of what the handler threw, where that has one. */
function codeOf(ended: AttemptOutcome): string | undefined {
  return ended.kind === "threw" && isRepriseError(ended.error) ? ended.error.code : undefined;
}
