export { decodeValue, encodeValue } from "./codec.ts";
export type {
  AnswerTaken,
  ClientError,
  Entry,
  OperationKind,
  ReadCompleted,
  ReadFailed,
  RecordedError,
  StepCompleted,
  StepFailed,
  StepUndone,
} from "./entry.ts";
export {
  cutAtFailure,
  ENTRY_FORMAT,
  isFailure,
  nameOf,
  operationOf,
  undoneSteps,
  withoutUndone,
} from "./entry.ts";
export type { JsonArray, JsonObject, JsonValue } from "./json.ts";
export { isJsonObject } from "./json.ts";
export type { CursorEvents, Mismatch, Operation, ScheduleTurn } from "./replay.ts";
export { immediateTurns, ReplayCursor } from "./replay.ts";
