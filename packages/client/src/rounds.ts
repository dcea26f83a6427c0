/**
 * How a call goes from one round to the next.
 *
 * Called by the call loop; the limit also by calls of the handshake era, whose rounds are counted alike. Pure.
 */
import type { InputResponse } from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import type { RoundResult } from "./connection.ts";
import type { CallRequest, PendingRound, SavedCall } from "./savedCall.ts";

/** The call after a response that asked: its questions, state and deadline replace those of the round before. */
export function nextRound(
  call: SavedCall,
  round: RoundResult & { readonly kind: "input_required" },
): SavedCall {
  const answerBefore = readDeadline(round.meta["reprise/answerBefore"]);
  return {
    ...call,
    round: call.round + 1,
    pending: {
      inputRequests: round.inputRequests,
      answers: {},
      ...(round.requestState === undefined ? {} : { requestState: round.requestState }),
      ...(answerBefore === undefined ? {} : { answerBefore }),
    },
  };
}

/** The open round with what was answered so far. */
export function withAnswers(
  pending: PendingRound,
  answers: ReadonlyMap<string, InputResponse>,
): PendingRound {
  return { ...pending, answers: Object.fromEntries(answers) };
}

// A date as text or as milliseconds; anything else is as good as absent, since it only informs.
function readDeadline(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** What a call ends with whose server asks without end. */
export function tooManyRounds(maxInputRounds: number, { method }: CallRequest): RepriseError {
  return new RepriseError(
    "TOO_MANY_ROUNDS",
    `The server asked again after ${maxInputRounds} rounds of answers (maxInputRounds); the call was given up.`,
    { data: { maxInputRounds, method } },
  );
}
