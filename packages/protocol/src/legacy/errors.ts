/**
 * Errors as a legacy client gets them: the right column of the refusal table (docs/design.md section 8).
 *
 * The front calls these where the modern lane calls `errorResponse`. Codes that only 2026-07-28 defines (-32020 to
 * -32022) never go to a legacy client, nor does -32042. On a stream that is already open the same body is the call's
 * response, and the status is of no use. All three revisions agree on everything but wrong arguments of tools.
 *
 * | error                      | legacy                                                   |
 * |----------------------------|----------------------------------------------------------|
 * | METHOD_NOT_FOUND           | 200 -32601                                               |
 * | UNKNOWN_TARGET, resource   | 200 -32002 with data.uri                                 |
 * | MISSING_CAPABILITY         | tools: a result with isError; others: 200 -32603         |
 * | UNSUPPORTED_VERSION        | 400 -32602 (the header; initialize is never refused)     |
 * | HEADER_MISMATCH            | 400 -32600                                               |
 * | wrong tool arguments       | 2025-11-25: a result with isError; older: 200 -32602     |
 * | all others                 | as the registry has them                                 |
 */
import { type ErrorCode, errorSpecs, RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { RequestId } from "../jsonRpc.ts";
import { type ErrorReply, errorObject, resultResponse } from "../responses.ts";
import { rulesOf } from "./loweringTable.ts";
import { type LegacyRevision, legacyRevisions } from "./revisions.ts";

/** HTTP status and JSON-RPC code where they differ from the registry's. */
const rows: Partial<Readonly<Record<ErrorCode, readonly [number, number]>>> = {
  METHOD_NOT_FOUND: [200, -32601],
  MISSING_CAPABILITY: [200, -32603],
  UNSUPPORTED_VERSION: [400, -32602],
  HEADER_MISMATCH: [400, -32600],
};

const resourceNotFound = -32002;

/**
 * The response for an error of the registry. `method` is that of the refused request, undefined where it could not be
 * read; `id` undefined: none is sent.
 */
export function legacyErrorResponse(
  error: RepriseError,
  id: RequestId | undefined,
  method: string | undefined,
): ErrorReply {
  if (error.code === "MISSING_CAPABILITY" && method === "tools/call" && id !== undefined) {
    const result = JSON.stringify(toolError(capabilityText(error)));
    return { status: 200, body: resultResponse(id, result) };
  }
  const [status, code] = rowOf(error, method);
  const object = errorObject(error);
  const data =
    error.code === "MISSING_CAPABILITY" ? { ...error.data, code: error.code } : object["data"];
  const { message } = object;
  const body = { code, message, ...(data === undefined ? {} : { data }) };
  const idMember = id === undefined ? {} : { id };
  return { status, body: JSON.stringify({ jsonrpc: "2.0", ...idMember, error: body }) };
}

function rowOf(error: RepriseError, method: string | undefined): readonly [number, number] {
  const { httpStatus, rpcCode } = errorSpecs[error.code];
  // A bad cursor of resources/list is no resource: only an error that names a URI is about one.
  const isResource =
    error.code === "UNKNOWN_TARGET" &&
    method?.startsWith("resources/") === true &&
    typeof error.data?.["uri"] === "string";
  return isResource ? [httpStatus, resourceNotFound] : (rows[error.code] ?? [httpStatus, rpcCode]);
}

/** What becomes of arguments that a handler's schema refuses; `message` says which and why. */
export type ArgumentsRefusal =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: RepriseError };

/**
 * Since 2025-11-25 a model gets to read what is wrong with a tool's arguments, so that it can mend them; before, and
 * for prompts always, they are an error of the protocol.
 */
export function refuseArguments(
  method: string,
  message: string,
  revision: LegacyRevision,
): ArgumentsRefusal {
  return method === "tools/call" && rulesOf(revision).has.argumentErrorsShown
    ? { kind: "result", result: toolError(message) }
    : { kind: "error", error: new RepriseError("INVALID_PARAMS", message) };
}

/** The refusal of a `MCP-Protocol-Version` header that names no served revision of the handshake era. */
export function unsupportedLegacyVersion(requested: string): RepriseError {
  return new RepriseError(
    "UNSUPPORTED_VERSION",
    `Unsupported protocol version: with a session this server speaks ${legacyRevisions.join(", ")}.`,
    { data: { supported: legacyRevisions, requested: requested.slice(0, 64) } },
  );
}

function toolError(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}

/** The message with the names of what is missing: a result has no data to put them in. */
function capabilityText(error: RepriseError): string {
  const required = error.data?.["requiredCapabilities"];
  if (!isJsonObject(required)) return error.message;
  const names = Object.entries(required).flatMap(([name, modes]) => {
    const parts = isJsonObject(modes) ? Object.keys(modes) : [];
    return parts.length === 0 ? [name] : parts.map((part) => `${name}.${part}`);
  });
  return `${error.message.replace(/\.$/, "")}. Missing: ${names.join(", ")}.`;
}
