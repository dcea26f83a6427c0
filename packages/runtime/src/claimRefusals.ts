/**
 * What a request of a once run gets when its claim gave it neither an attempt nor a response.
 */
import { RepriseError } from "@reprise/errors";
import type { EngineDeps } from "./engineDeps.ts";
import { answerSettled, runLost, runParked } from "./replies.ts";
import type { RunRequest } from "./runtimeTypes.ts";
import type { ClaimReply } from "./storePort.ts";

/** The replies that refuse. */
export type Refusal = Exclude<
  ClaimReply,
  { readonly tag: "CLAIMED" | "RUNNING" | "QUEUED" | "RECORDED" }
>;

/** A failed undo is told as it was told first. */
function parkedError({ origin, head }: Extract<Refusal, { readonly tag: "PARKED" }>): RepriseError {
  const { response, round } = head;
  if (response?.kind === "error" && response.code === "UNDO_FAILED") {
    const { message, data } = response;
    return new RepriseError("UNDO_FAILED", message, data === undefined ? {} : { data });
  }
  return runParked(origin.runId, round, response);
}

/** The refusal as an error. What an operator must know goes to the log. */
export function refusalOf(deps: EngineDeps, request: RunRequest, reply: Refusal): RepriseError {
  switch (reply.tag) {
    case "SETTLED":
      return answerSettled(reply);
    case "PARKED":
      if (reply.justNow === true) deps.reporter?.acted(reply, "parked");
      return parkedError(reply);
    case "LOST":
      deps.log.error(
        {
          event: "run_lost",
          reason: reply.reason,
          method: request.method,
          target: request.target,
          principal: request.caller.principal,
        },
        "a request named a run whose record is missing or older",
      );
      // Whether another has a run of that id is nobody's to know.
      return runLost(reply.reason === "older" ? "older" : "missing");
    case "EXPIRED":
      return deps.tokens.refuse("expired", request);
    case "OTHER_ARGUMENTS":
      return new RepriseError(
        "IDEMPOTENCY_CONFLICT",
        "this idempotency key was used with other arguments",
      );
    case "OTHER_CALLER":
      return reply.done
        ? new RepriseError("ALREADY_DONE", "another caller's run did this already")
        : new RepriseError("ALREADY_RUNNING", "another caller's run is doing this", {
            data: { retryAfterMs: 5000 },
          });
    case "TOO_MANY_WAITING":
      return new RepriseError(
        "TOO_MANY_WAITING_RUNS",
        `you have ${reply.limit} runs waiting for answers, which is the limit`,
        { data: { limit: reply.limit, retryAfterMs: 10_000 } },
      );
  }
}
