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

/** @throws RepriseError INVALID_PARAMS when it is given and no object (docs/design.md 3.7) */
export function readAnswers(inputResponses: unknown): Answers {
  if (inputResponses === undefined) return none;
  if (!isJsonObject(inputResponses)) {
    throw new RepriseError("INVALID_PARAMS", "inputResponses must be an object of answers by key");
  }
  return Object.fromEntries(
    Object.entries(inputResponses).map(([key, value]) => [key, brought(value)]),
  );
}

/** `_meta` of an answer is not part of it: clients may change it from retry to retry. */
function brought(value: JsonValue): BroughtAnswer {
  if (!isJsonObject(value) || !Object.hasOwn(value, "_meta"))
    return { value, digest: digestOf(value) };
  const { _meta: _dropped, ...answer } = value;
  return { value: answer, digest: digestOf(answer) };
}
