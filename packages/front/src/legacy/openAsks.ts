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
  readonly runId: string;
  readonly revision: LegacyRevision;
  readonly asks: Readonly<Record<string, OpenAsk>>;
  readonly asked: number;
  /** Ids whose answers the run has had. */
  readonly given: ReadonlySet<string>;
  /** Ids that are open and that the client may not have: never sent, or sent while it was away and no longer kept. */
  readonly unsent: ReadonlySet<string>;
}

/** What the round makes of it. */
export interface AskPlan {
  readonly asks: Readonly<Record<string, OpenAsk>>;
  readonly asked: number;
  /** Notifications that withdraw questions; they go first. */
  readonly withdrawn: readonly string[];
  /** Questions to be sent, in order. */
  readonly requests: readonly { readonly id: string; readonly text: string }[];
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
  const { callId, runId, revision, given, unsent } = before;
  const open = Object.entries(before.asks).filter(([id]) => !given.has(id));
  const answeredBefore = Object.entries(before.asks).filter(([id]) => given.has(id));
  const asks: Record<string, OpenAsk> = {};
  const refused: Record<string, ClientError> = {};
  const requests: { readonly id: string; readonly text: string }[] = [];
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
      id = askIdOf(callId, runId, key, asked);
    }
    asks[id] = standing?.[1] ?? {
      key,
      question,
      method: ask.method,
      unusable,
      ...(elicitationId === undefined ? {} : { elicitationId }),
    };
    const isMissing = unsent.has(id) && asks[id]?.answer === undefined;
    if (standing === undefined || isMissing)
      requests.push({ id, text: askRequest(id, lowered.ask) });
  }
  const withdrawn = open.filter(([id, ask]) => asks[id] === undefined && ask.answer === undefined);
  return {
    asks,
    asked,
    refused,
    requests,
    withdrawn: withdrawals(
      withdrawn.map(([id]) => id),
      "it is no longer asked",
    ),
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
