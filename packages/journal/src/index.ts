export type { JsonArray, JsonObject, JsonValue } from "./json.ts";
export { isJsonObject } from "./json.ts";
