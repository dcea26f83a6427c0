/**
 * A retry's `inputResponses`, read once.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonValue } from "@reprise/journal";
import { digestOf } from "./digest.ts";
import type { BroughtAnswer } from "./runRecord.ts";

/** Answers by ask key. */
export type Answers = Readonly<Record<string, BroughtAnswer>>;

const none: Answers = {};

/**
 * Answers as a repeatable run takes them: nothing is compared, so they have no digests.
 * @throws RepriseError INVALID_PARAMS when it is given and no object (docs/design.md 3.7)
 */
export function readAnswers(inputResponses: unknown): Answers {
  if (inputResponses === undefined) return none;
  if (!isJsonObject(inputResponses)) {
    throw new RepriseError("INVALID_PARAMS", "inputResponses must be an object of answers by key");
  }
  return Object.fromEntries(
    Object.entries(inputResponses).map(([key, value]) => [
      key,
      { value: answerOf(value), digest: "" },
    ]),
  );
}

/** The same answers with their digests: records compare them with what stands or is settled. */
export function comparable(answers: Answers): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([key, { value }]) => [key, { value, digest: digestOf(value) }]),
  );
}

/** `_meta` of an answer is not part of it: clients may change it from retry to retry. */
function answerOf(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Object.hasOwn(value, "_meta")) return value;
  const { _meta: _dropped, ...answer } = value;
  return answer;
}
