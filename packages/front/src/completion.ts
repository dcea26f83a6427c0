/**
 * completion/complete: suggestions for arguments of prompts and resource templates.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/protocol";
import type { Caller, Catalog } from "@reprise/runtime";
import type { Challenged, ScopeRule } from "./auth/scopes.ts";

/** The protocol's bound on one response. */
const maxValues = 100;

/** A request's reference and argument, parsed. */
interface Wanted {
  readonly ref:
    | { readonly type: "ref/prompt"; readonly name: string }
    | { readonly type: "ref/resource"; readonly uri: string };
  readonly argument: string;
  readonly value: string;
  readonly others: Readonly<Record<string, string>>;
}

/**
 * The result.
 * @throws RepriseError INVALID_PARAMS, UNKNOWN_TARGET or INSUFFICIENT_SCOPE; and whatever the author's function throws
 */
export async function complete(
  params: JsonObject,
  catalog: Catalog,
  caller: Caller,
  response: Challenged,
  scopes: ScopeRule | undefined,
): Promise<JsonObject> {
  const wanted = readWanted(params);
  const handler =
    wanted.ref.type === "ref/prompt"
      ? catalog.findPrompt(wanted.ref.name)
      : findResourceRef(catalog, wanted.ref.uri);
  if (handler === undefined) {
    throw new RepriseError("UNKNOWN_TARGET", "There is no such prompt or resource template.");
  }
  // Suggestions can tell as much as the handler itself would.
  scopes?.check(caller, handler.scopes, response);
  const suggest = catalog.findCompletion(wanted.ref, wanted.argument);
  const values =
    suggest === undefined ? [] : await suggest(wanted.value, { arguments: wanted.others, caller });
  return {
    completion: {
      values: values.slice(0, maxValues),
      total: values.length,
      hasMore: values.length > maxValues,
    },
  };
}

function findResourceRef(catalog: Catalog, uri: string): { scopes: readonly string[] } | undefined {
  const entries = [...catalog.resourceTemplates, ...catalog.resources];
  return entries.find((entry) => entry.handler.name === uri)?.handler;
}

function readWanted(params: JsonObject): Wanted {
  const { ref, argument, context } = params;
  if (!isJsonObject(ref)) throw invalid("ref must be an object");
  if (!isJsonObject(argument)) throw invalid("argument must be an object");
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw invalid("argument.name and argument.value must be strings");
  }
  return { ref: readRef(ref), argument: name, value, others: readOthers(context) };
}

function readRef(ref: JsonObject): Wanted["ref"] {
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string") return { type, name };
  if (type === "ref/resource" && typeof uri === "string") return { type, uri };
  throw invalid("ref must be a ref/prompt with a name or a ref/resource with a uri");
}

function readOthers(context: JsonValue | undefined): Readonly<Record<string, string>> {
  if (context === undefined) return {};
  const others = isJsonObject(context) ? (context["arguments"] ?? {}) : undefined;
  if (!isJsonObject(others) || !Object.values(others).every((each) => typeof each === "string")) {
    throw invalid("context.arguments must be an object of strings");
  }
  // Just checked; the type system can't narrow the members of an index signature.
  return others as Readonly<Record<string, string>>;
}

function invalid(rule: string): RepriseError {
  return new RepriseError("INVALID_PARAMS", `${rule}.`);
}
