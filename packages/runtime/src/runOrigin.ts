/**
 * The facts of a run that never change, taken from its first request.
 */

import { stableParams } from "./digest.ts";
import type { EngineDeps } from "./engineDeps.ts";
import { RECORD_FORMAT, type RunOrigin } from "./runRecord.ts";
import type { Catalog, RunRequest } from "./runtimeTypes.ts";
import { traceparentOf } from "./traceparent.ts";

/** The origin of a run that this request starts. */
export function newOrigin(
  deps: Pick<EngineDeps, "random" | "catalog">,
  request: RunRequest,
  runId: string,
  startedAt: number,
  key: RunOrigin["key"],
): RunOrigin {
  const { method, target, handler, caller, client } = request;
  const isOwing = method === "tools/call" && hasOutputSchema(deps.catalog, handler.name);
  const traceparent = request.traceparent ?? traceparentOf(request.params);
  return {
    format: RECORD_FORMAT,
    runId,
    method,
    handler: { kind: handler.kind, name: handler.name },
    target,
    params: stableParams(request.params),
    caller,
    client,
    seed: deps.random(),
    ...(isOwing ? { owesStructure: true as const } : {}),
    ...(traceparent === undefined ? {} : { traceparent }),
    key,
    startedAt,
  };
}

/** Whether a tool's results have a form: clients refuse text alone then (MCP 2026-07-28, tools, "Output Schema"). */
export function hasOutputSchema({ tools }: Catalog, name: string): boolean {
  return tools.find(({ handler }) => handler.name === name)?.wire["outputSchema"] !== undefined;
}
