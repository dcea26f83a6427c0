/**
 * What a run request names: its handler, what that needs of the client, and its arguments as the handler takes them.
 *
 * Called by both eras before anything runs. The headers that mirror a modern body do not exist in the handshake era.
 */
import { RepriseError } from "@reprise/errors";
import {
  checkNameHeader,
  type Headers,
  isJsonObject,
  type JsonObject,
  missingNeeds,
} from "@reprise/protocol";
import type { ArgsCheck, Catalog, CompiledHandler, RunMethod } from "@reprise/runtime";

/** A handler that was found. */
export interface Target {
  readonly handler: CompiledHandler;
  /** Name or URI as the request gave it. */
  readonly target: string;
  readonly rawArgs: JsonObject | undefined;
}

/**
 * @param headers in which `Mcp-Name` must repeat the name; undefined in the handshake era
 * @throws RepriseError INVALID_PARAMS, HEADER_MISMATCH, UNKNOWN_TARGET
 */
export function findTarget(
  method: RunMethod,
  params: JsonObject,
  catalog: Catalog,
  headers?: Headers,
): Target {
  if (method === "resources/read") {
    const { uri } = params;
    if (typeof uri !== "string") throw invalid("uri must be a string");
    if (headers !== undefined) checkNameHeader(headers, uri);
    const found = catalog.findResource(uri);
    if (found === undefined) {
      throw new RepriseError("UNKNOWN_TARGET", "There is no such resource.", { data: { uri } });
    }
    return { handler: found.handler, target: uri, rawArgs: found.args };
  }
  const { name } = params;
  if (typeof name !== "string") throw invalid("name must be a string");
  if (headers !== undefined) checkNameHeader(headers, name);
  const rawArgs = params["arguments"];
  if (rawArgs !== undefined && !isJsonObject(rawArgs)) throw invalid("arguments must be an object");
  const handler = method === "tools/call" ? catalog.findTool(name) : catalog.findPrompt(name);
  if (handler === undefined) {
    const kind = method === "tools/call" ? "tool" : "prompt";
    throw new RepriseError("UNKNOWN_TARGET", `There is no ${kind} named ${name.slice(0, 128)}.`);
  }
  return { handler, target: name, rawArgs };
}

/** @throws RepriseError MISSING_CAPABILITY */
export function checkNeeds({ needs }: CompiledHandler, capabilities: JsonObject): void {
  const missing = missingNeeds(needs, capabilities);
  if (missing === undefined) return;
  throw new RepriseError("MISSING_CAPABILITY", "The client lacks a capability that this needs.", {
    data: { requiredCapabilities: missing },
  });
}

/** Arguments that were accepted once. @throws RepriseError INVALID_PARAMS when this release refuses them */
export async function checkedArgs(
  handler: CompiledHandler,
  rawArgs: JsonObject | undefined,
): Promise<unknown> {
  const check: ArgsCheck = await handler.checkArgs(rawArgs);
  if (!check.ok) throw invalid(check.message);
  return check.args;
}

function invalid(rule: string): RepriseError {
  return new RepriseError("INVALID_PARAMS", `${rule}.`);
}
