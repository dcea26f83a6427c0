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
export type { ClientError, LiftedAnswer, LoweredAsk } from "./legacy/asks.ts";
export { askRequest, liftAnswer, lowerAsk } from "./legacy/asks.ts";
export type { EntryKind, ServerDescription } from "./legacy/descriptions.ts";
export { initializeResult, lowerEntries } from "./legacy/descriptions.ts";
export type { ArgumentsRefusal } from "./legacy/errors.ts";
export {
  legacyErrorResponse,
  refuseArguments,
  unsupportedLegacyVersion,
} from "./legacy/errors.ts";
export type { Feature, RevisionRules, WireKind } from "./legacy/loweringTable.ts";
export { rulesOf } from "./legacy/loweringTable.ts";
export type { LegacyBody, ResponseMessage } from "./legacy/messages.ts";
export { isLegacyOnly, maxBatch, readLegacyBody } from "./legacy/messages.ts";
export type { ChangedList } from "./legacy/notifications.ts";
export {
  cancelledNotification,
  elicitationCompleteNotification,
  listChangedNotification,
  resourceUpdatedNotification,
} from "./legacy/notifications.ts";
export type { InitializeParams } from "./legacy/params.ts";
export {
  clientCapabilities,
  readCancelled,
  readInitialize,
  readProgressToken,
  readSetLevel,
  readSubscription,
} from "./legacy/params.ts";
export type { ResultMethod } from "./legacy/results.ts";
export { lowerResult } from "./legacy/results.ts";
export type { LegacyRevision, Revision } from "./legacy/revisions.ts";
export { isLegacyRevision, legacyRevisions, negotiate } from "./legacy/revisions.ts";
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
export type { ListenFilter } from "./subscriptions.ts";
export {
  acknowledgedNotification,
  listenNotification,
  listenResult,
  readListen,
} from "./subscriptions.ts";
export { UriTemplate } from "./uriTemplate.ts";
