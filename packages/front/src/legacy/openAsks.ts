/**
 * From a round's questions to requests: which are new, which stay open, which are withdrawn.
 *
 * Pure. The driver calls it with every `input_required`, writes what it says into the call's record, and sends it then.
 *
 * A question that stays open under the same key and in the same words is not sent again: the person has it before them.
 * One whose answer was given to the run and that the run asks again was not usable; it gets a new id.
 */
import { RepriseError } from "@reprise/errors";
import {
  type AskWire,
  askRequest,
  type ClientError,
  cancelledNotification,
  type JsonObject,
  type LegacyRevision,
  lowerAsk,
} from "@reprise/protocol";
import { askIdOf, shortDigest } from "./callId.ts";
import type { OpenAsk } from "./callRecord.ts";

/** A person mends a wrong answer sooner; a program that can't would be asked for ever. */
const mostUnusable = 20;

/** What there was before the round. */
export interface AsksBefore {
  readonly callId: string;
  readonly revision: LegacyRevision;
  readonly asks: Readonly<Record<string, OpenAsk>>;
  readonly asked: number;
  /** Ids whose answers the run has had. */
  readonly given: ReadonlySet<string>;
  /** Ids that are recorded as open and were never sent: their front died in between. */
  readonly unsent: ReadonlySet<string>;
}

/** What the round makes of it. */
export interface AskPlan {
  readonly asks: Readonly<Record<string, OpenAsk>>;
  readonly asked: number;
  /** Messages to the client, in order. */
  readonly messages: readonly string[];
  /** Keys of questions that the revision can't carry, with the error in place of the client's. */
  readonly refused: Readonly<Record<string, ClientError>>;
}

/**
 * Plans a round. `elicitationIds` has the stable ids of URL asks, by key.
 * @throws RepriseError CLIENT_CANNOT_ANSWER for a client that keeps on giving unusable answers
 */
export function planAsks(
  before: AsksBefore,
  inputRequests: Readonly<Record<string, JsonObject>>,
  elicitationIds: Readonly<Record<string, string>>,
): AskPlan {
  const { callId, revision, given, unsent } = before;
  const open = Object.entries(before.asks).filter(([id]) => !given.has(id));
  const answeredBefore = Object.entries(before.asks).filter(([id]) => given.has(id));
  const asks: Record<string, OpenAsk> = {};
  const refused: Record<string, ClientError> = {};
  const messages: string[] = [];
  let { asked } = before;
  for (const [key, wire] of Object.entries(inputRequests)) {
    // The runtime makes these, in this shape.
    const ask = wire as unknown as AskWire;
    const elicitationId = elicitationIds[key];
    const lowered = lowerAsk(ask, revision, elicitationId);
    if (lowered.kind === "refused") {
      refused[key] = lowered.error;
      continue;
    }
    const question = shortDigest(JSON.stringify(lowered.ask));
    const isSame = ([, each]: readonly [string, OpenAsk]): boolean =>
      each.key === key && each.question === question;
    const standing = open.find(isSame);
    const unusable = (answeredBefore.find(isSame)?.[1].unusable ?? -1) + 1;
    if (unusable > mostUnusable) {
      throw new RepriseError(
        "CLIENT_CANNOT_ANSWER",
        `The client answered "${key}" ${unusable} times with what does not fit the question.`,
        { data: { key } },
      );
    }
    let id = standing?.[0];
    if (id === undefined) {
      asked += 1;
      id = askIdOf(callId, key, asked);
    }
    asks[id] = standing?.[1] ?? {
      key,
      question,
      method: ask.method,
      unusable,
      ...(elicitationId === undefined ? {} : { elicitationId }),
    };
    if (standing === undefined || unsent.has(id)) messages.push(askRequest(id, lowered.ask));
  }
  const withdrawn = open.filter(([id, ask]) => asks[id] === undefined && ask.answer === undefined);
  return {
    asks,
    asked,
    refused,
    messages: [
      ...withdrawals(
        withdrawn.map(([id]) => id),
        "it is no longer asked",
      ),
      ...messages,
    ],
  };
}

/** Notifications that withdraw questions. */
export function withdrawals(ids: readonly string[], reason: string): readonly string[] {
  return ids.map((id) => cancelledNotification(id, reason));
}

/** Ids of the questions that have no answer. */
export function unanswered(asks: Readonly<Record<string, OpenAsk>>): readonly string[] {
  return Object.entries(asks).flatMap(([id, ask]) => (ask.answer === undefined ? [id] : []));
}
