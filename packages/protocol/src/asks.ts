/**
 * Asks as they go on the wire, and which client capabilities each needs.
 *
 * The runtime calls the builders when a handler asks, and `missingCapabilities` before anything of that round
 * is sent; the front calls `missingNeeds` before a handler is entered (docs/design.md 8.3). Nothing here looks
 * at a request: capabilities come in as the client declared them, from the request's own `_meta`, never from
 * an earlier request (MCP 2026-07-28, basic, "Per-request protocol fields").
 */
import { isJsonObject, type JsonObject } from "./json.ts";

/** One input request, as it stands in `inputRequests` under its key. */
export type AskWire = {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: JsonObject;
};

/** What a handler declares that it can't do without. */
export interface NeedsWire {
  readonly elicitation?: boolean | { readonly form?: boolean; readonly url?: boolean };
  readonly sampling?: boolean | { readonly tools?: boolean };
  readonly roots?: boolean;
}

/** A form. `mode` is written out although the protocol has it as default: proxies and people read the wire. */
export function elicitFormRequest(message: string, requestedSchema: JsonObject): AskWire {
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

/**
 * A page to visit. Revision 2026-07-28 has no `elicitationId` (completion is learnt by retrying); the legacy
 * lowering adds the one that 2025-11-25 requires.
 */
export function elicitUrlRequest(message: string, url: string): AskWire {
  return { method: "elicitation/create", params: { mode: "url", message, url } };
}

/** A model completion; `params` are those of `sampling/createMessage`. */
export function sampleRequest(params: JsonObject): AskWire {
  return { method: "sampling/createMessage", params };
}

/** The client's roots; the request has no parameters. */
export function rootsRequest(): AskWire {
  return { method: "roots/list" };
}

/**
 * The capabilities that `ask` needs and `capabilities` lacks, in the shape of `data.requiredCapabilities`;
 * undefined when it may be asked.
 */
export function missingCapabilities(
  ask: AskWire,
  capabilities: JsonObject,
): JsonObject | undefined {
  switch (ask.method) {
    case "elicitation/create":
      return ask.params?.["mode"] === "url"
        ? missingElicitation(capabilities, false, true)
        : missingElicitation(capabilities, true, false);
    case "sampling/createMessage": {
      const params = ask.params ?? {};
      const tools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
      const includeContext = params["includeContext"];
      const context = includeContext !== undefined && includeContext !== "none";
      return missingSampling(capabilities, tools, context);
    }
    case "roots/list":
      return isJsonObject(capabilities["roots"]) ? undefined : { roots: {} };
  }
}

/** As `missingCapabilities`, for everything that a handler declares in `needs`. */
export function missingNeeds(
  needs: NeedsWire | undefined,
  capabilities: JsonObject,
): JsonObject | undefined {
  if (needs === undefined) return undefined;
  let missing: JsonObject | undefined;
  const elicitation = needs.elicitation;
  if (elicitation !== undefined && elicitation !== false) {
    // `true` and `{}` mean what the protocol means by an empty declaration: forms.
    const url = elicitation !== true && elicitation.url === true;
    const form = elicitation === true || elicitation.form === true || !url;
    missing = { ...missing, ...missingElicitation(capabilities, form, url) };
  }
  const sampling = needs.sampling;
  if (sampling !== undefined && sampling !== false) {
    const tools = sampling !== true && sampling.tools === true;
    missing = { ...missing, ...missingSampling(capabilities, tools, false) };
  }
  if (needs.roots === true && !isJsonObject(capabilities["roots"])) {
    missing = { ...missing, roots: {} };
  }
  return missing === undefined || Object.keys(missing).length === 0 ? undefined : missing;
}

function missingElicitation(
  capabilities: JsonObject,
  form: boolean,
  url: boolean,
): JsonObject | undefined {
  const declared = capabilities["elicitation"];
  const modes = isJsonObject(declared) ? declared : undefined;
  const hasUrl = isJsonObject(modes?.["url"]);
  // An empty declaration means forms, and only an empty one: {url:{}} is a client without forms
  // (MCP 2026-07-28, elicitation, "Capabilities").
  const implicitForm =
    modes !== undefined && modes["form"] === undefined && modes["url"] === undefined;
  const hasForm = implicitForm || isJsonObject(modes?.["form"]);
  const lacksForm = form && !hasForm;
  const lacksUrl = url && !hasUrl;
  if (!lacksForm && !lacksUrl) return undefined;
  return { elicitation: { ...(lacksForm ? { form: {} } : {}), ...(lacksUrl ? { url: {} } : {}) } };
}

function missingSampling(
  capabilities: JsonObject,
  tools: boolean,
  context: boolean,
): JsonObject | undefined {
  const declared = capabilities["sampling"];
  if (!isJsonObject(declared)) {
    return { sampling: { ...(tools ? { tools: {} } : {}), ...(context ? { context: {} } : {}) } };
  }
  const lacksTools = tools && !isJsonObject(declared["tools"]);
  const lacksContext = context && !isJsonObject(declared["context"]);
  if (!lacksTools && !lacksContext) return undefined;
  return {
    sampling: { ...(lacksTools ? { tools: {} } : {}), ...(lacksContext ? { context: {} } : {}) },
  };
}
