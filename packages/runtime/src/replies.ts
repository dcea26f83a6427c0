/**
 * Replies: what goes back to the carrier for what is recorded or decided.
 */
import { type ErrorCode, errorSpecs, RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject } from "@reprise/journal";
import type { PendingAsk, RecordedResponse, RunStatus, RunUndo } from "./runRecord.ts";
import type { RunReply } from "./runtimeTypes.ts";
import type { EndReason } from "./storePort.ts";

/** The reply of a recorded end; never called with a question, which is sealed anew by the lane. */
export function replyOfRecorded(response: RecordedResponse): RunReply {
  switch (response.kind) {
    case "complete":
      return { kind: "complete", result: response.result };
    case "error": {
      const code = Object.hasOwn(errorSpecs, response.code)
        ? (response.code as ErrorCode)
        : "INTERNAL";
      const data = response.data === undefined ? {} : { data: response.data };
      return { kind: "error", error: new RepriseError(code, response.message, data) };
    }
    case "question":
      throw new TypeError("a question is sealed anew, not replayed");
  }
}

/** `inputRequests` of open questions, by key. */
export function inputRequestsOf(
  pending: readonly PendingAsk[],
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(pending.map((ask) => [ask.key, ask.wire as JsonObject]));
}

/** The ids of open URL asks, by key, as a member of the reply. */
export function elicitationIdsOf(pending: readonly PendingAsk[]): {
  readonly elicitationIds?: Readonly<Record<string, string>>;
} {
  const ids = pending.flatMap(({ key, elicitation }) =>
    elicitation === undefined ? [] : [[key, elicitation.id] as const],
  );
  return ids.length === 0 ? {} : { elicitationIds: Object.fromEntries(ids) };
}

/** Another request executes the round and did not end in time. */
export function inFlight(runId: string, round: number): RepriseError {
  return new RepriseError(
    "IN_FLIGHT",
    "another request is executing this round; repeat the same request",
    {
      data: { runId, round, retryAfterMs: 1000 },
    },
  );
}

/** An answer contradicts what stands or is settled. */
export function answerSettled(found: {
  readonly runId: string;
  readonly round: number;
  readonly status: RunStatus;
  readonly key: string;
}): RepriseError {
  const { runId, round, status, key } = found;
  return new RepriseError(
    "ANSWER_SETTLED",
    `the question "${key}" was answered otherwise already; nothing was run`,
    {
      data: { runId, round, status, key },
    },
  );
}

/** The record is missing or older than the state. */
export function runLost(reason: "missing" | "older"): RepriseError {
  return new RepriseError(
    "RUN_LOST",
    "the record of this run is gone; nothing was run, and what it did before is not known here",
    { data: { reason } },
  );
}

/** The run is no longer wanted. Without an id: nothing of it was begun, or recorded. */
export function runCancelled(runId?: string, round = 0): RepriseError {
  const named = runId === undefined ? {} : { runId };
  return new RepriseError("RUN_CANCELLED", "the run was cancelled", {
    data: { ...named, round, status: "cancelled" },
  });
}

/** Only an operator goes on with the run. @param response what it was parked with: a mismatch is told */
export function runParked(runId: string, round: number, response?: RecordedResponse): RepriseError {
  const why =
    response?.kind === "error" && response.code === "JOURNAL_MISMATCH"
      ? response.message
      : undefined;
  const message = "the run waits for an operator";
  return new RepriseError("RUN_PARKED", why === undefined ? message : `${message}: ${why}`, {
    data: { runId, round },
  });
}

/** What the run did stands, and only an operator can have it tried again. */
export function undoFailed(
  runId: string,
  round: number,
  step: string,
  undone: readonly string[],
): RepriseError {
  return new RepriseError(
    "UNDO_FAILED",
    `step "${step}" could not be undone; the run waits for an operator`,
    { data: { runId, round, step, undone } },
  );
}

/** An error as it is recorded. */
export function reasonOf({ code, message, data }: RepriseError): EndReason {
  return { kind: "error", code, message, data: data as JsonObject | undefined };
}

/** A response that says what of the run was undone: in an error's data, in a result's `_meta`. */
export function withUndone(
  response: RunUndo["response"],
  undone: readonly string[],
): RunUndo["response"] {
  if (undone.length === 0) return response;
  if (response.kind === "error") return { ...response, data: { ...response.data, undone } };
  const { _meta: meta } = response.result;
  const known = isJsonObject(meta ?? null) ? (meta as JsonObject) : {};
  return {
    kind: "complete",
    result: { ...response.result, _meta: { ...known, "reprise/undone": undone } },
  };
}
