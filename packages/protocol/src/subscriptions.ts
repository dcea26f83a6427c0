/**
 * subscriptions/listen: what a client asks to hear of, and the messages of the stream that it gets (MCP 2026-07-28,
 * "Subscriptions").
 *
 * The front calls `readListen` once a request and sends the texts. Pure; what is served and who may read what is decided
 * there. Every message of a stream carries the id of the request that opened it.
 */
import { RepriseError } from "@reprise/errors";
import { metaKeys } from "./constants.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { RequestId } from "./jsonRpc.ts";

/** What a client asks for. What it leaves out, or sets to false, it must not get. */
export interface ListenFilter {
  readonly toolsListChanged: boolean;
  readonly promptsListChanged: boolean;
  readonly resourcesListChanged: boolean;
  /** Each URI once; undefined: not asked for. */
  readonly resourceSubscriptions: readonly string[] | undefined;
}

/** A stream may be open for days, so what it keeps is bounded: URIs, their characters together, and the id. */
const maxUris = 1000;
const maxUriChars = 65_536;
const maxIdChars = 256;

/** Reads a request's id and parameters. @throws RepriseError INVALID_PARAMS */
export function readListen(id: RequestId, params: JsonObject): ListenFilter {
  if (typeof id === "string" && id.length > maxIdChars) {
    // Every notification repeats it.
    throw invalid(`the id of a subscription may have ${maxIdChars} characters`);
  }
  const { notifications } = params;
  if (!isJsonObject(notifications)) throw invalid("notifications must be an object");
  const { resourceSubscriptions } = notifications;
  return {
    toolsListChanged: readFlag(notifications, "toolsListChanged"),
    promptsListChanged: readFlag(notifications, "promptsListChanged"),
    resourcesListChanged: readFlag(notifications, "resourcesListChanged"),
    resourceSubscriptions:
      resourceSubscriptions === undefined ? undefined : readUris(resourceSubscriptions),
  };
}

function readFlag(notifications: JsonObject, name: string): boolean {
  const value = notifications[name];
  if (value === undefined || typeof value === "boolean") return value === true;
  throw invalid(`notifications.${name} must be a boolean`);
}

function readUris(value: JsonValue): readonly string[] {
  const where = "notifications.resourceSubscriptions";
  if (!Array.isArray(value)) throw invalid(`${where} must be an array of URIs`);
  if (value.length > maxUris) throw invalid(`${where} may have ${maxUris} URIs`);
  const uris = new Set<string>();
  let chars = 0;
  for (const uri of value) {
    if (typeof uri !== "string" || uri === "") throw invalid(`${where} must be an array of URIs`);
    uris.add(uri);
    chars += uri.length;
  }
  if (chars > maxUriChars) throw invalid(`${where} may have ${maxUriChars} characters together`);
  return [...uris];
}

/** The first message of a stream: what of the filter the server honours. */
export function acknowledgedNotification(id: RequestId, honoured: JsonObject): string {
  return listenNotification("notifications/subscriptions/acknowledged", id, {
    notifications: honoured,
  });
}

/** A notification of a stream. `params` must have no `_meta`. */
export function listenNotification(method: string, id: RequestId, params: JsonObject = {}): string {
  const _meta = { [metaKeys.subscriptionId]: id };
  return JSON.stringify({ jsonrpc: "2.0", method, params: { _meta, ...params } });
}

/** The result that ends a stream in order; without the members that every result has. */
export function listenResult(id: RequestId): JsonObject {
  return { _meta: { [metaKeys.subscriptionId]: id } };
}

function invalid(rule: string): RepriseError {
  return new RepriseError("INVALID_PARAMS", `${rule}.`);
}
