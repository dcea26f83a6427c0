/**
 * Which era a message belongs to, and whether a modern one may come in.
 *
 * Called by the front once a POST. The era is read from the envelope (`params._meta`) and the headers, never
 * from the method: an `initialize` with a modern envelope is a modern request for a method that does not exist.
 *
 * Order of the refusals, first match wins:
 * 1. no envelope claim: INVALID_META if the header names a modern revision, UNSUPPORTED_VERSION if it names one that nobody
 *    knows and there is no session, else the message is legacy;
 * 2. version of the envelope unlike the header, or no header: HEADER_MISMATCH;
 * 3. a version that is not served: UNSUPPORTED_VERSION, before the rest of an envelope that may be another's;
 * 4. the envelope incomplete: INVALID_META;
 * 5. `Mcp-Method` missing or unlike the body: HEADER_MISMATCH.
 */
import { RepriseError } from "@reprise/errors";
import { isLegacyVersion, metaKeys, supportedVersions } from "./constants.ts";
import { checkMethodHeader, type Headers, headerOf } from "./headerRules.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Message, RequestId } from "./jsonRpc.ts";
import { type RequestMeta, readRequestMeta } from "./requestMeta.ts";

/** A modern request that may be dispatched. */
export interface ModernRequest {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: RequestMeta;
}

/** A message of the handshake era. `version` is what it names, if anything. */
export interface LegacyMessage {
  readonly kind: "legacy";
  readonly message: Message;
  readonly version: string | undefined;
}

/** A message, admitted. */
export type Inbound =
  | ModernRequest
  | { readonly kind: "notification"; readonly method: string }
  | LegacyMessage;

/**
 * Classifies a message and admits it.
 * @throws RepriseError HEADER_MISMATCH, INVALID_META or UNSUPPORTED_VERSION
 */
export function admit(message: Message, headers: Headers): Inbound {
  const header = headerOf(headers, "mcp-protocol-version");
  const params = message.params;
  const meta = params?.["_meta"];
  const claim = isJsonObject(meta) ? meta[metaKeys.protocolVersion] : undefined;

  if (claim === undefined) return admitWithoutClaim(message, header, headers);
  if (typeof claim !== "string") {
    throw new RepriseError(
      "INVALID_META",
      `params._meta["${metaKeys.protocolVersion}"] must be a string.`,
    );
  }
  if (isLegacyVersion(claim) && (header === undefined || header === claim)) {
    return { kind: "legacy", message, version: claim };
  }
  if (header !== claim) {
    if (header !== undefined) {
      throw new RepriseError(
        "HEADER_MISMATCH",
        "Header mismatch: MCP-Protocol-Version differs from the body.",
      );
    }
    // The revision leaves header rules of notifications open.
    if (message.kind === "request") {
      throw new RepriseError(
        "HEADER_MISMATCH",
        "Header mismatch: the required MCP-Protocol-Version header is missing.",
      );
    }
  }
  if (!supportedVersions.includes(claim)) throw unsupportedVersion(claim);
  if (message.kind === "notification") return admitNotification(message, headers);
  // A claim was found in both, so they are objects.
  const modern: ModernRequest = {
    kind: "request",
    id: message.id,
    method: message.method,
    params: params as JsonObject,
    meta: readRequestMeta(meta as JsonObject, claim),
  };
  checkMethodHeader(headers, message.method);
  return modern;
}

/**
 * The refusal that a server without a legacy lane gives to a legacy request. It names what is served: for a
 * client without fall-forward this message may be the only diagnosis its user sees.
 */
export function legacyRefusal(legacy: LegacyMessage): RepriseError {
  const asked =
    legacy.message.method === "initialize" ? legacy.message.params?.["protocolVersion"] : undefined;
  const requested = typeof asked === "string" ? asked : legacy.version;
  if (requested === undefined) {
    return new RepriseError(
      "HEADER_MISMATCH",
      "Header mismatch: the required MCP-Protocol-Version header is missing.",
    );
  }
  return unsupportedVersion(requested);
}

/** UNSUPPORTED_VERSION with the data that the protocol wants. */
export function unsupportedVersion(requested: string): RepriseError {
  return new RepriseError(
    "UNSUPPORTED_VERSION",
    `Unsupported protocol version: this server speaks ${supportedVersions.join(", ")}.`,
    { data: { supported: supportedVersions, requested } },
  );
}

/** Whether a session's client names a version that nobody knows: its era refuses that in its own words, without -32022. */
function isOfUnknownSession(header: string, headers: Headers): boolean {
  return headers["mcp-session-id"] !== undefined && !supportedVersions.includes(header);
}

function admitWithoutClaim(
  message: Message,
  header: string | undefined,
  headers: Headers,
): Inbound {
  if (header === undefined || isLegacyVersion(header) || isOfUnknownSession(header, headers))
    return { kind: "legacy", message, version: header };
  if (message.kind === "notification") {
    if (!supportedVersions.includes(header)) throw unsupportedVersion(header);
    return { kind: "notification", method: message.method };
  }
  if (!supportedVersions.includes(header)) throw unsupportedVersion(header);
  throw new RepriseError(
    "INVALID_META",
    isJsonObject(message.params?.["_meta"])
      ? `params._meta["${metaKeys.protocolVersion}"] is missing.`
      : "params._meta is missing.",
  );
}

function admitNotification(message: Message, headers: Headers): Inbound {
  if (headers["mcp-method"] !== undefined) checkMethodHeader(headers, message.method);
  return { kind: "notification", method: message.method };
}
