export type { AskWire, NeedsWire } from "./asks.ts";
export {
  elicitFormRequest,
  elicitUrlRequest,
  missingCapabilities,
  missingNeeds,
  rootsRequest,
  sampleRequest,
} from "./asks.ts";
export type { LogLevelName } from "./constants.ts";
export { isLegacyVersion, logLevels, metaKeys, supportedVersions } from "./constants.ts";
export type { HeaderParamRule, Headers } from "./headerRules.ts";
export { checkNameHeader, checkParamHeaders, headerOf } from "./headerRules.ts";
export { decodeHeaderValue, encodeHeaderValue } from "./headerValue.ts";
export type { Inbound, LegacyMessage, ModernRequest } from "./inbound.ts";
export { admit, legacyRefusal, unsupportedVersion } from "./inbound.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export { isJsonObject } from "./json.ts";
export type { Message, RequestId } from "./jsonRpc.ts";
export { maxDepth, parseBody, readMessage, requestIdOf } from "./jsonRpc.ts";
export type { RequestMeta } from "./requestMeta.ts";
export { readRequestMeta } from "./requestMeta.ts";
export type { CacheHints, ErrorReply, ResultEnding } from "./responses.ts";
export {
  completeResult,
  errorObject,
  errorResponse,
  inputRequiredResult,
  logNotification,
  progressNotification,
  resultEnding,
  resultResponse,
} from "./responses.ts";
export { UriTemplate } from "./uriTemplate.ts";
