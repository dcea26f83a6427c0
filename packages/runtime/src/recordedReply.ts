/**
 * The reply of a record: a recorded end as it is, an open question sealed anew for a client that can answer it.
 */
import { RepriseError } from "@reprise/errors";
import { missingCapabilities } from "@reprise/protocol";
import type { EngineDeps } from "./engineDeps.ts";
import { elicitationIdsOf, inFlight, inputRequestsOf, replyOfRecorded } from "./replies.ts";
import type { RunHead, RunOrigin } from "./runRecord.ts";
import type { RunReply, RunRequest } from "./runtimeTypes.ts";
import type { OnceState } from "./stateTokens.ts";

/**
 * The newest response of a run.
 * @throws RepriseError MISSING_CAPABILITY for a question that the client can't answer
 */
export async function recordedReply(
  deps: EngineDeps,
  request: RunRequest,
  origin: RunOrigin,
  head: RunHead,
): Promise<RunReply> {
  const { response } = head;
  if (response === undefined) throw inFlight(origin.runId, head.round);
  if (response.kind !== "question") return replyOfRecorded(response);
  for (const ask of head.pending) {
    const required = missingCapabilities(
      ask.wire as Parameters<typeof missingCapabilities>[0],
      request.client.capabilities,
    );
    if (required !== undefined) {
      throw new RepriseError(
        "MISSING_CAPABILITY",
        "the client did not declare a capability that the open question needs",
        { data: { requiredCapabilities: required } },
      );
    }
  }
  return questionReply(deps, request, origin.runId, head.round, head.pending, head.stateExpiresAt);
}

/** Open questions of a once run, with a state that names them. */
export async function questionReply(
  { tokens, elicitations }: EngineDeps,
  request: RunRequest,
  runId: string,
  round: number,
  pending: RunHead["pending"],
  answerBeforeMs: number,
): Promise<RunReply> {
  const state: OnceState = {
    kind: "once",
    run: runId,
    round,
    asked: pending.map((ask) => ask.asked),
  };
  await elicitations.open(pending, request.caller.person, answerBeforeMs);
  const requestState = await tokens.seal(state, tokens.bindingOf(request), answerBeforeMs);
  return {
    kind: "input_required",
    inputRequests: inputRequestsOf(pending),
    ...elicitationIdsOf(pending),
    requestState,
    runId,
    answerBeforeMs,
  };
}
