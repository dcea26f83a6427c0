/**
 * The body of a legacy POST: a request, a notification, the response to an ask, or on 2025-03-26 a batch of them.
 *
 * The front calls `isLegacyOnly` for bodies that `readMessage` refuses (responses and arrays are no messages of the
 * modern revision), and `readLegacyBody` once it knows the session's revision. Throws INVALID_REQUEST and nothing else;
 * of a batch either every message comes in or none.
 *
 * 1. A response has an id, and either a result that is an object or an error with an integer code and a message.
 * 2. A batch has 1 to `maxBatch` messages with distinct ids: requests and notifications, or responses, never both
 *    (MCP 2025-03-26, transports, "Sending Messages to the Server").
 * 3. `initialize` stands alone (same revision, lifecycle, "Initialization").
 */
import { RepriseError } from "@reprise/errors";
import { isLegacyVersion } from "../constants.ts";
import { type Headers, headerOf } from "../headerRules.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type Message, type RequestId, readMessage, requestIdOf } from "../jsonRpc.ts";
import { rulesOf } from "./loweringTable.ts";
import type { LegacyRevision } from "./revisions.ts";

/** How many messages a batch may have: a small body must not become thousands of calls at once. */
export const maxBatch = 100;

/** What the client answered to an ask. */
export type ResponseMessage = {
  readonly kind: "response";
  readonly id: RequestId;
} & (
  | { readonly result: JsonObject; readonly error?: undefined }
  | { readonly error: { readonly code: number; readonly message: string } }
);

/** A body, read. A body that is one message has exactly one in the list. */
export type LegacyBody =
  | { readonly kind: "calls"; readonly isBatch: boolean; readonly messages: readonly Message[] }
  | {
      readonly kind: "responses";
      readonly isBatch: boolean;
      readonly messages: readonly ResponseMessage[];
    };

/**
 * Whether a parsed body can only be meant for the legacy lane: a response or an array, and no header that names a
 * modern revision. Requests and notifications are told apart by `admit`.
 */
export function isLegacyOnly(body: JsonValue, headers: Headers): boolean {
  const header = headerOf(headers, "mcp-protocol-version");
  if (header !== undefined && !isLegacyVersion(header)) return false;
  return Array.isArray(body) || isResponse(body);
}

/**
 * Reads a parsed body. `revision` is the session's; undefined where there is no session, as with `initialize`.
 * @throws RepriseError INVALID_REQUEST
 */
export function readLegacyBody(body: JsonValue, revision: LegacyRevision | undefined): LegacyBody {
  if (!Array.isArray(body)) {
    return isResponse(body)
      ? { kind: "responses", isBatch: false, messages: [readResponse(body)] }
      : { kind: "calls", isBatch: false, messages: [readMessage(body)] };
  }
  // Without a session there is nothing but `initialize`, which stands alone.
  if (revision === undefined || !rulesOf(revision).has.batches) {
    throw invalid("Batches are not part of this revision: send one message");
  }
  const items = body as readonly JsonValue[];
  if (items.length === 0) throw invalid("A batch must not be empty");
  if (items.length > maxBatch) throw invalid(`A batch may have ${maxBatch} messages`);
  refuseRepeatedIds(items);
  if (!items.some(isResponse)) {
    const messages = items.map(readBatchedCall);
    return { kind: "calls", isBatch: true, messages };
  }
  if (!items.every(isResponse)) throw invalid("A batch mixes responses with requests");
  return { kind: "responses", isBatch: true, messages: items.map(readResponse) };
}

function isResponse(body: JsonValue): body is JsonObject {
  return (
    isJsonObject(body) &&
    !Object.hasOwn(body, "method") &&
    (Object.hasOwn(body, "result") || Object.hasOwn(body, "error"))
  );
}

function readBatchedCall(item: JsonValue): Message {
  if (Array.isArray(item)) throw invalid("A batch must not hold another");
  const message = readMessage(item);
  if (message.method === "initialize") throw invalid("initialize must not be part of a batch");
  return message;
}

function readResponse(body: JsonObject): ResponseMessage {
  const { result, error } = body;
  const id = requestIdOf(body);
  if (body["jsonrpc"] !== "2.0") throw invalid('"jsonrpc" must be "2.0"');
  if (id === undefined) throw invalid("A response must have the id of its request");
  if (result !== undefined && error !== undefined) {
    throw invalid("A response has either a result or an error");
  }
  if (result !== undefined) {
    if (!isJsonObject(result)) throw invalid("result must be an object");
    return { kind: "response", id, result };
  }
  if (!isJsonObject(error)) throw invalid("error must be an object");
  const { code, message } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code) || typeof message !== "string") {
    throw invalid("error must have an integer code and a message");
  }
  return { kind: "response", id, error: { code, message } };
}

/** The number 1 and the string "1" are two ids. */
function refuseRepeatedIds(items: readonly JsonValue[]): void {
  const seen = new Set<RequestId>();
  for (const item of items) {
    const id = requestIdOf(item);
    if (id === undefined) continue;
    if (seen.has(id)) throw invalid("Two messages of a batch have the same id");
    seen.add(id);
  }
}

function invalid(rule: string): RepriseError {
  return new RepriseError("INVALID_REQUEST", `${rule}.`);
}
