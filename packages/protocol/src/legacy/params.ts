/**
 * Parameters of the messages that only the handshake era has.
 *
 * The front calls these once a message. Requests with wrong parameters throw INVALID_PARAMS; a malformed cancellation
 * is undefined instead, because those are to be ignored (MCP 2025-11-25, cancellation, "Error Handling"). `ping` has no
 * parameters to read.
 */
import { RepriseError } from "@reprise/errors";
import { type LogLevelName, logLevels } from "../constants.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { RequestId } from "../jsonRpc.ts";
import { rulesOf } from "./loweringTable.ts";
import type { LegacyRevision } from "./revisions.ts";

type Params = JsonObject | undefined;

/** How much of a name or a version is kept: both travel in every session id. */
const maxInfoChars = 128;

/** The longest URI that can be subscribed to, in characters: subscriptions are kept as long as the session. */
const maxUriChars = 2048;

/** `initialize`, read. */
export interface InitializeParams {
  /** The version that the client asked for, served or not. */
  readonly requested: string;
  /** As declared; `clientCapabilities` says what it means on a revision. */
  readonly capabilities: JsonObject;
  /** Self-reported, cut to 128 characters each. */
  readonly clientInfo: { readonly name: string; readonly version: string };
}

/** Reads the parameters of `initialize`. @throws RepriseError INVALID_PARAMS */
export function readInitialize(params: Params): InitializeParams {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  if (typeof protocolVersion !== "string") throw invalid("protocolVersion must be a string");
  if (!isJsonObject(capabilities)) throw invalid("capabilities must be an object, {} for none");
  if (!isJsonObject(clientInfo)) throw invalid("clientInfo must be an object");
  const { name, version } = clientInfo;
  if (typeof name !== "string" || typeof version !== "string") {
    throw invalid("clientInfo must have name and version as strings");
  }
  return {
    requested: protocolVersion,
    capabilities,
    clientInfo: { name: name.slice(0, maxInfoChars), version: version.slice(0, maxInfoChars) },
  };
}

/**
 * What declared capabilities mean on a revision, in the words of the modern one, so that `missingCapabilities` and
 * `missingNeeds` can judge them. Only what asks depend on is kept: it travels in every session id.
 *
 * - elicitation: unknown before 2025-06-18; that revision has forms only, whatever the object holds. On 2025-11-25 an
 *   empty object is forms only, and stays empty.
 * - sampling: before 2025-11-25 without tools, and `includeContext` needed no declaration of its own.
 */
export function clientCapabilities(declared: JsonObject, revision: LegacyRevision): JsonObject {
  const { has } = rulesOf(revision);
  const { elicitation, sampling, roots } = declared;
  const modes = has.elicitation && isJsonObject(elicitation) ? elicitation : undefined;
  return {
    ...(modes === undefined
      ? {}
      : { elicitation: has.elicitationModes ? flags(modes, "form", "url") : { form: {} } }),
    ...(isJsonObject(sampling)
      ? {
          sampling: has.samplingContextNeeded
            ? flags(sampling, "tools", "context")
            : { context: {} },
        }
      : {}),
    ...(isJsonObject(roots) ? { roots: {} } : {}),
  };
}

/**
 * The declared ones of `names`. One that is there but no object becomes null: it declares nothing, yet the declaration
 * is not empty and so not the short form for forms.
 */
function flags(declared: JsonObject, ...names: readonly string[]): JsonObject {
  const present = names.filter((name) => declared[name] !== undefined);
  return Object.fromEntries(
    present.map((name) => [name, isJsonObject(declared[name]) ? {} : null]),
  );
}

/** What the client cancels; undefined when it can't be told. */
export function readCancelled(
  params: Params,
): { readonly requestId: RequestId; readonly reason: string | undefined } | undefined {
  const { requestId, reason } = params ?? {};
  if (!isRequestId(requestId)) return undefined;
  return { requestId, reason: typeof reason === "string" ? reason.slice(0, 500) : undefined };
}

/** The level of `logging/setLevel`. @throws RepriseError INVALID_PARAMS */
export function readSetLevel(params: Params): LogLevelName {
  const level = params?.["level"];
  const found = logLevels.find((known) => known === level);
  if (found === undefined) throw invalid(`level must be one of ${logLevels.join(", ")}`);
  return found;
}

/** The URI of `resources/subscribe` and `resources/unsubscribe`. @throws RepriseError INVALID_PARAMS */
export function readSubscription(params: Params): string {
  const uri = params?.["uri"];
  if (typeof uri !== "string" || uri === "") throw invalid("uri must be a string");
  if (uri.length > maxUriChars) throw invalid(`uri may have ${maxUriChars} characters`);
  return uri;
}

/** `_meta.progressToken` of a legacy request; undefined: no progress may be sent. @throws RepriseError INVALID_PARAMS */
export function readProgressToken(params: Params): RequestId | undefined {
  const meta = params?.["_meta"];
  if (meta === undefined) return undefined;
  if (!isJsonObject(meta)) throw invalid("_meta must be an object");
  const token = meta["progressToken"];
  if (token === undefined || isRequestId(token)) return token;
  throw invalid("_meta.progressToken must be a string or an integer");
}

function isRequestId(value: JsonValue | undefined): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

function invalid(rule: string): RepriseError {
  return new RepriseError("INVALID_PARAMS", `${rule}.`);
}
