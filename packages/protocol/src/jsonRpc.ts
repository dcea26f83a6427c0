/**
 * One JSON-RPC message: from the bytes of a body to a typed message, or to the refusal that body deserves.
 *
 * The front calls `parseBody` and `readMessage` for every POST. Both throw RepriseError and nothing else.
 *
 * 1. What comes out of `parseBody` has no member named `__proto__` and is nested less than `maxDepth` deep, so
 *    that code behind it may recurse and copy without a thought for either.
 * 2. Every number in it is finite: one that JSON.parse makes Infinity of could be neither compared nor recorded.
 * 3. An id is echoed exactly: one that JSON.parse would change (a float, more than 2^53) is refused instead.
 */
import { isUtf8 } from "node:buffer";
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** The id of a request: MCP allows strings and integers, not null. */
export type RequestId = string | number;

/** A JSON-RPC request or notification, shape checked, meaning not. */
export type Message =
  | {
      readonly kind: "request";
      readonly id: RequestId;
      readonly method: string;
      readonly params: JsonObject | undefined;
    }
  | {
      readonly kind: "notification";
      readonly method: string;
      readonly params: JsonObject | undefined;
    };

/** How deep a body may be nested. Far above any schema in use, far below what exhausts a stack. */
export const maxDepth = 256;

/**
 * Parses a body.
 * @throws RepriseError PARSE_ERROR, or INVALID_REQUEST for what is JSON but must not come further in
 */
export function parseBody(body: Buffer): JsonValue {
  // Node's decoder would replace broken bytes in silence, and what was checked upstream would not be what runs.
  if (!isUtf8(body)) throw new RepriseError("PARSE_ERROR", "The body is not UTF-8.");
  // A level costs two bytes, so short bodies can't be too deep; long ones are measured before they are parsed.
  if (body.length > maxDepth * 2 && isDeeperThan(body, maxDepth)) {
    throw new RepriseError("INVALID_REQUEST", `The body is nested more than ${maxDepth} deep.`);
  }
  const written = body.toString("utf8");
  // Some writers of UTF-8 begin with a byte order mark, which RFC 8259 (8.1) lets a parser ignore.
  const text = written.startsWith("\ufeff") ? written.slice(1) : written;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    throw new RepriseError("PARSE_ERROR", "The body is not JSON.");
  }
  // Any of the name's letters may be written as an escape of the Latin block.
  if ((text.includes("__proto__") || text.includes("\\u00")) && hasProtoMember(value)) {
    throw new RepriseError("INVALID_REQUEST", "The body has a member named __proto__.");
  }
  if (mayOverflow.test(text) && hasInfinity(value)) {
    throw new RepriseError("INVALID_REQUEST", "The body has a number beyond 1.8e308.");
  }
  return value;
}

/**
 * Reads a parsed body as one request or notification.
 * @throws RepriseError INVALID_REQUEST
 */
export function readMessage(body: JsonValue): Message {
  if (Array.isArray(body)) {
    throw new RepriseError(
      "INVALID_REQUEST",
      "Batches are not part of this revision: send one message.",
    );
  }
  if (!isJsonObject(body) || body["jsonrpc"] !== "2.0") {
    throw new RepriseError(
      "INVALID_REQUEST",
      'The body is not a JSON-RPC message: "jsonrpc" must be "2.0".',
    );
  }
  const { method, params, id } = body;
  if (typeof method !== "string") {
    throw new RepriseError("INVALID_REQUEST", "Only requests and notifications may be posted.");
  }
  if (body["result"] !== undefined || body["error"] !== undefined) {
    throw new RepriseError("INVALID_REQUEST", "A message has either a method or a result.");
  }
  if (params !== undefined && !isJsonObject(params)) {
    throw new RepriseError("INVALID_REQUEST", "params must be an object.");
  }
  if (id === undefined) return { kind: "notification", method, params };
  if (!isRequestId(id)) {
    throw new RepriseError("INVALID_REQUEST", "id must be a string or an integer up to 2^53 - 1.");
  }
  return { kind: "request", id, method, params };
}

/** The id to echo in the refusal of a body that may be anything; undefined where it can't be told. */
export function requestIdOf(body: JsonValue | undefined): RequestId | undefined {
  const id = isJsonObject(body) ? body["id"] : undefined;
  return isRequestId(id) ? id : undefined;
}

function isRequestId(id: JsonValue | undefined): id is RequestId {
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id));
}

const quote = 0x22;
const backslash = 0x5c;

function isDeeperThan(body: Buffer, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limit) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    }
  }
  return false;
}

/** An exponent, or more digits than the largest double has: no other number overflows. */
const mayOverflow = /\d[eE]\+?\d{2}|\d{309}/;

function hasInfinity(value: JsonValue): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasInfinity);
}

function hasProtoMember(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasProtoMember);
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoMember);
}
