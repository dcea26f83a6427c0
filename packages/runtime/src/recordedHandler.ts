/**
 * The handler and the arguments of a request that another process received.
 */
import { isJsonObject, type JsonObject } from "@reprise/journal";
import type { RunnableHandler } from "./compile.ts";
import type { HandlerName } from "./dispatcher.ts";
import type { Catalog } from "./runtimeTypes.ts";

/** The handler that has this name here; undefined when this release has none. */
export function handlerNamed(
  catalog: Catalog,
  named: HandlerName,
  target: string,
): RunnableHandler | undefined {
  switch (named.kind) {
    case "tool":
      return catalog.findTool(named.name) as RunnableHandler | undefined;
    case "prompt":
      return catalog.findPrompt(named.name) as RunnableHandler | undefined;
    default:
      return catalog.findResource(target)?.handler as RunnableHandler | undefined;
  }
}

/** The arguments that the request's `params` have for the handler; checked again, because schemas may transform them. */
export async function argsOf(
  catalog: Catalog,
  handler: RunnableHandler,
  target: string,
  params: JsonObject,
): Promise<unknown> {
  if (handler.kind === "resource" || handler.kind === "resourceTemplate") {
    return catalog.findResource(target)?.args;
  }
  const raw = params["arguments"];
  const checked = await handler.checkArgs(isJsonObject(raw) ? raw : undefined);
  return checked.ok ? checked.args : raw;
}
