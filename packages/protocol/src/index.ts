export type { AskWire, NeedsWire } from "./asks.ts";
export {
  elicitFormRequest,
  elicitUrlRequest,
  missingCapabilities,
  missingNeeds,
  rootsRequest,
  sampleRequest,
} from "./asks.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export { isJsonObject } from "./json.ts";
