/**
 * The edge where `inputRequests` of a result, and requests of a server of the handshake era, become asks.
 *
 * Called with every round, with every saved call that is resumed, and with every request of such a server. Pure. What this client did not declare or cannot show is
 * CLIENT_CANNOT_ANSWER, before the person sees any question of that round: answering half a round would commit the person to
 * a call that cannot end.
 */
import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  isSpecType,
} from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import { formFields } from "./form.ts";
import type { Ask, Host } from "./host.ts";
import { reviewUrl } from "./reviewUrl.ts";

/** The capabilities that a host stands for; sent with every request, or with `initialize`. */
export function hostCapabilities(host: Host): ClientCapabilities {
  const elicitation = {
    ...(host.form === undefined ? {} : { form: {} }),
    ...(host.url === undefined ? {} : { url: {} }),
  };
  return {
    ...(Object.keys(elicitation).length === 0 ? {} : { elicitation }),
    ...(host.sample === undefined ? {} : { sampling: {} }),
    ...(host.roots === undefined ? {} : { roots: {} }),
  };
}

/** The asks of a round, in the order in which the server gave them. */
export function parseAsks(inputRequests: Readonly<Record<string, unknown>>): readonly Ask[] {
  return Object.entries(inputRequests).map(([key, request]) => parseAsk(key, request));
}

/** One ask; also that of a server of the handshake era, whose request has the same form. */
export function parseAsk(key: string, request: unknown): Ask {
  if (!isObject(request)) throw cannot(key, "it is no request");
  const params = isObject(request["params"]) ? request["params"] : {};
  switch (request["method"]) {
    case "elicitation/create":
      return parseElicitation(key, params);
    case "sampling/createMessage":
      return parseSample(key, params);
    case "roots/list":
      return { kind: "roots", key };
    default:
      throw cannot(key, "it is of a kind that this client does not know");
  }
}

function parseElicitation(key: string, params: Readonly<Record<string, unknown>>): Ask {
  const { mode, message, url, requestedSchema, elicitationId } = params as {
    readonly elicitationId?: unknown;
    readonly mode?: unknown;
    readonly message?: unknown;
    readonly url?: unknown;
    readonly requestedSchema?: unknown;
  };
  if (typeof message !== "string") throw cannot(key, "it has no message");
  // Without a mode it is a form (elicitation, "Elicitation Requests").
  if (mode === undefined || mode === "form") {
    return { kind: "form", key, message, fields: formFields(requestedSchema) };
  }
  if (mode === "url" && typeof url === "string") {
    return {
      kind: "url",
      key,
      message,
      url: reviewUrl(url),
      ...(typeof elicitationId === "string" ? { elicitationId } : {}),
    };
  }
  throw cannot(key, "it is of a mode that this client does not know");
}

function parseSample(key: string, params: Readonly<Record<string, unknown>>): Ask {
  if (!isSpecType.CreateMessageRequestParams(params)) throw cannot(key, "its prompt is malformed");
  const prompt = params as CreateMessageRequestParams;
  // This client never declares sampling.tools: a person cannot stand in for a model that calls tools.
  if (prompt.tools !== undefined) throw cannot(key, "it wants a model that calls tools");
  return { kind: "sample", key, params: prompt };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cannot(key: string, why: string): RepriseError {
  return new RepriseError("CLIENT_CANNOT_ANSWER", `The question "${key}" can't be shown: ${why}.`, {
    data: { key },
  });
}
