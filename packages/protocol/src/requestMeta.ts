/**
 * `_meta` of a request: what revision 2026-07-28 carries per request instead of a session.
 *
 * Called once a modern request, after its version was compared with the header. Throws INVALID_META (HTTP 400:
 * MCP 2026-07-28, basic, "Per-request protocol fields") and nothing else.
 */
import { RepriseError } from "@reprise/errors";
import { type LogLevelName, logLevels, metaKeys } from "./constants.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** The protocol's own part of a request's `_meta`. */
export interface RequestMeta {
  readonly protocolVersion: string;
  /** Self-reported; undefined when the client keeps it to itself. */
  readonly clientInfo: { readonly name: string; readonly version: string } | undefined;
  readonly clientCapabilities: JsonObject;
  /** Undefined: no log notification may be sent for this request. */
  readonly logLevel: LogLevelName | undefined;
  /** Undefined: no progress notification may be sent. */
  readonly progressToken: string | number | undefined;
  /** `_meta` as received. */
  readonly all: JsonObject;
}

/** Reads `params._meta` whose protocol version is already known. */
export function readRequestMeta(meta: JsonObject, protocolVersion: string): RequestMeta {
  const clientCapabilities = meta[metaKeys.clientCapabilities];
  if (!isJsonObject(clientCapabilities)) {
    throw invalid(metaKeys.clientCapabilities, "must be an object, {} for none");
  }
  const clientInfo = meta[metaKeys.clientInfo];
  const logLevel = meta[metaKeys.logLevel];
  const progressToken = meta["progressToken"];
  if (clientInfo !== undefined && !isClientInfo(clientInfo)) {
    throw invalid(metaKeys.clientInfo, "must have name and version as strings");
  }
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    throw invalid(metaKeys.logLevel, `must be one of ${logLevels.join(", ")}`);
  }
  if (progressToken !== undefined && !isProgressToken(progressToken)) {
    throw invalid("progressToken", "must be a string or an integer");
  }
  return { protocolVersion, clientInfo, clientCapabilities, logLevel, progressToken, all: meta };
}

function invalid(key: string, rule: string): RepriseError {
  return new RepriseError("INVALID_META", `params._meta["${key}"] ${rule}.`);
}

function isClientInfo(
  value: unknown,
): value is { readonly name: string; readonly version: string } {
  return (
    isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string"
  );
}

function isLogLevel(value: unknown): value is LogLevelName {
  return (logLevels as readonly unknown[]).includes(value);
}

function isProgressToken(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}
