/**
 * A retry's `inputResponses`, read once.
 */
import { RepriseError } from "@reprise/errors";
import { type ClientError, isJsonObject, type JsonValue } from "@reprise/journal";
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

/** Longest message of a client's error that is kept, in characters: it is recorded with the run. */
const MAX_MESSAGE = 1000;

/**
 * The answers together with what the client answered with an error, which counts before a result under the same key. Errors
 * come from the carrier alone: no text of `inputResponses` can look like one.
 */
export function withClientErrors(
  answers: Answers,
  errors: Readonly<Record<string, ClientError>> | undefined,
): Answers {
  if (errors === undefined) return answers;
  const failed = Object.entries(errors).map(([key, { code, message }]): [string, BroughtAnswer] => [
    key,
    { value: null, digest: "", error: { code, message: message.slice(0, MAX_MESSAGE) } },
  ]);
  return Object.fromEntries([...Object.entries(answers), ...failed]);
}

/** The same answers with their digests: records compare them with what stands or is settled. */
export function comparable(answers: Answers): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([key, answer]) => [key, { ...answer, digest: digestFor(answer) }]),
  );
}

/** No result has the digest of an error: those have no blank. */
function digestFor({ value, error }: BroughtAnswer): string {
  if (error === undefined) return digestOf(value);
  const { code, message } = error;
  return `error ${digestOf({ code, message })}`;
}

/** `_meta` of an answer is not part of it: clients may change it from retry to retry. */
function answerOf(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Object.hasOwn(value, "_meta")) return value;
  const { _meta: _dropped, ...answer } = value;
  return answer;
}
