/**
 * JSON as types. This package may import nothing but the error registry, so it has its own; they are
 * structurally the same as those of `@reprise/journal`.
 */

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** Whether `value` is an object in the sense of JSON: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
