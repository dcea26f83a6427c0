/**
 * A client that goes through a scenario and repeats what a client would repeat when its connection breaks: the round
 * with its state, the first call with its key. Nothing else: an error reply ends the dialogue, and the test.
 */
import { randomBytes } from "node:crypto";
import type { Scenario, ScenarioCall } from "./scenarios.ts";
import { type CallParams, ConnectionLost, type WireReply, type WireResult } from "./wire.ts";

/** Sends a call to whoever serves now. Rejects with ConnectionLost when the reply did not come through. */
export type Exchange = (params: CallParams) => Promise<WireReply>;

/** What a client has seen of a scenario: per call the questions of each round, and the result. Equal but `_meta`. */
export type Seen = readonly { readonly questions: readonly unknown[]; readonly result: unknown }[];

const mostRepeats = 5;
const mostRounds = 8;

/** Goes through a scenario. */
export async function converse(scenario: Scenario, exchange: Exchange): Promise<Seen> {
  const seen: { questions: unknown[]; result: unknown }[] = [];
  for (const call of scenario.calls) {
    const { questions, last, lastRequest } = await carryOut(call, exchange);
    // A client that did not see the end asks once more, and must get the same.
    const repeated = await untilAnswered(lastRequest, exchange);
    const result = withoutMeta(last);
    if (JSON.stringify(withoutMeta(repeated)) !== JSON.stringify(result)) {
      throw new Error(`repeated: ${JSON.stringify(repeated)}, first: ${JSON.stringify(last)}`);
    }
    seen.push({ questions, result });
  }
  return seen;
}

/** The params of a call's first request. */
export function firstRequest({ tool, args, keyed }: ScenarioCall): CallParams {
  const key = keyed === true ? { idempotencyKey: randomBytes(24).toString("base64url") } : {};
  return { name: tool, arguments: args, ...key };
}

/** The params of the request that answers a question of the call. */
export function answerTo(
  first: CallParams,
  { answers }: ScenarioCall,
  { inputRequests = {}, requestState }: WireResult,
): CallParams {
  if (requestState === undefined) throw new Error("a question came without a state");
  const asked = Object.keys(inputRequests).map((key) => [key, answers[key]] as const);
  return { ...first, requestState, inputResponses: Object.fromEntries(asked) };
}

/** The result of a reply. @throws Error when it is none */
export function resultOf({ result, error }: WireReply): WireResult {
  if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
  return result;
}

/** A result without what may differ each time. */
export function withoutMeta({ _meta, requestState: _state, ...rest }: WireResult): unknown {
  return rest;
}

async function carryOut(
  call: ScenarioCall,
  exchange: Exchange,
): Promise<{ questions: unknown[]; last: WireResult; lastRequest: CallParams }> {
  const first = firstRequest(call);
  const questions: unknown[] = [];
  let lastRequest = first;
  for (let round = 0; round < mostRounds; round += 1) {
    const result = await untilAnswered(lastRequest, exchange);
    if (result.resultType !== "input_required") return { questions, last: result, lastRequest };
    questions.push(result.inputRequests);
    lastRequest = answerTo(first, call, result);
  }
  throw new Error(`still asked after ${mostRounds} rounds`);
}

async function untilAnswered(params: CallParams, exchange: Exchange): Promise<WireResult> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return resultOf(await exchange(params));
    } catch (error) {
      if (!(error instanceof ConnectionLost) || repeats === mostRepeats) throw error;
    }
  }
}
