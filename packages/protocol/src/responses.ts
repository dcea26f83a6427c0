/**
 * Outgoing messages as JSON text.
 *
 * The front sends what these functions return. Results come as objects that are serialized once and completed
 * by cutting text into text: `resultType` and the server's identity are the same for every result, and copying
 * a large result only to add them would cost more than the rest of the response.
 */
import { errorSpecs, type RepriseError } from "@reprise/errors";
import { metaKeys } from "./constants.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { RequestId } from "./jsonRpc.ts";

/** A response and the HTTP status it goes out with while nothing was sent. */
export interface ErrorReply {
  readonly status: number;
  readonly body: string;
}

/** What a refused request state is told, whatever was wrong with it: docs/design.md section 5. */
const requestStateRefusal = "the requestState is not valid";

/**
 * The error response for an error of the registry. `id` undefined: it could not be read, and none is sent
 * (MCP 2026-07-28 has no null ids).
 *
 * `error.data` is what the error brought. Where the JSON-RPC code alone does not tell which of our errors it is
 * (own codes, and author errors under -32603), `data.code` has the registry's name of it; errors that the
 * protocol defines carry its data and nothing else.
 */
export function errorResponse(error: RepriseError, id: RequestId | undefined): ErrorReply {
  const spec = errorSpecs[error.code];
  return {
    status: spec.httpStatus,
    body: `{"jsonrpc":"2.0",${idMember(id)}"error":${JSON.stringify(errorObject(error))}}`,
  };
}

/** The `error` member of `errorResponse`. */
export function errorObject(error: RepriseError): JsonObject {
  const { rpcCode } = errorSpecs[error.code];
  if (error.code === "REQUEST_STATE_INVALID")
    return { code: rpcCode, message: requestStateRefusal };
  const isOurs =
    rpcCode > -32000 || rpcCode < -32768 || (rpcCode === -32603 && error.code !== "INTERNAL");
  const brought = error.data as JsonObject | undefined;
  const data = isOurs ? { ...brought, code: error.code } : brought;
  return data === undefined
    ? { code: rpcCode, message: error.message }
    : { code: rpcCode, message: error.message, data };
}

/** Members that every result of one kind ends with, as object and as text. */
export interface ResultEnding {
  readonly members: JsonObject;
  readonly serverInfo: JsonObject;
  /** The members and `_meta` without the opening brace. */
  readonly text: string;
}

/** How long and for whom a result may be cached: MCP 2026-07-28, "Caching". */
export interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

/** Prepares the ending of complete results, once at start. */
export function resultEnding(serverInfo: JsonObject, hints?: CacheHints): ResultEnding {
  const members = { ...hints, resultType: "complete" };
  const text = JSON.stringify({ ...members, _meta: { [metaKeys.serverInfo]: serverInfo } });
  return { members, serverInfo, text: text.slice(1) };
}

/** The text of a complete result: the members of `result`, then those of `ending`, which win. */
export function completeResult(result: JsonObject, ending: ResultEnding): string {
  if (hasMemberOf(result, ending)) {
    const { _meta, resultType: _, ...rest } = result;
    return JSON.stringify({
      ...rest,
      ...ending.members,
      _meta: { ...(isJsonObject(_meta) ? _meta : {}), [metaKeys.serverInfo]: ending.serverInfo },
    });
  }
  const text = JSON.stringify(result);
  return text === "{}" ? `{${ending.text}` : `${text.slice(0, -1)},${ending.text}`;
}

/** Whether cutting text into text would write a member twice. */
function hasMemberOf(result: JsonObject, ending: ResultEnding): boolean {
  if (result["_meta"] !== undefined) return true;
  for (const member in ending.members) if (result[member] !== undefined) return true;
  return false;
}

/** The text of an `input_required` result. `answerBeforeMs` is epoch milliseconds. */
export function inputRequiredResult(
  inputRequests: Readonly<Record<string, JsonObject>>,
  requestState: string,
  answerBeforeMs: number,
  serverInfo: JsonObject,
): string {
  return JSON.stringify({
    inputRequests,
    requestState,
    resultType: "input_required",
    _meta: {
      [metaKeys.serverInfo]: serverInfo,
      [metaKeys.answerBefore]: new Date(answerBeforeMs).toISOString(),
    },
  });
}

/** A response from an id and the text of its result. */
export function resultResponse(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0",${idMember(id)}"result":${result}}`;
}

/** `notifications/progress`. */
export function progressNotification(
  progressToken: string | number,
  progress: number,
  total: number | undefined,
  message: string | undefined,
): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    },
  });
}

/** `notifications/message`. */
export function logNotification(
  level: string,
  data: JsonValue,
  logger: string | undefined,
): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level, ...(logger === undefined ? {} : { logger }), data },
  });
}

function idMember(id: RequestId | undefined): string {
  if (id === undefined) return "";
  return typeof id === "number" ? `"id":${id},` : `"id":${JSON.stringify(id)},`;
}
