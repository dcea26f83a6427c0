/**
 * The trace that a request belongs to, as its client says (W3 Trace Context, version 00).
 *
 * Text of a client: taken only in its exact form, so that what is recorded and told of it is bounded.
 */
import { isJsonObject, type JsonObject } from "@reprise/journal";

const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** `_meta.traceparent` of a request's `params`; undefined when there is none, or it is none. */
export function traceparentOf(params: JsonObject): string | undefined {
  const meta = params["_meta"];
  if (meta === undefined || !isJsonObject(meta)) return undefined;
  const given = meta["traceparent"];
  return typeof given === "string" && FORM.test(given) ? given : undefined;
}
