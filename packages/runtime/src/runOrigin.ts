/**
 * The facts of a run that never change, taken from its first request.
 */

import { stableParams } from "./digest.ts";
import type { EngineDeps } from "./engineDeps.ts";
import { RECORD_FORMAT, type RunOrigin } from "./runRecord.ts";
import type { RunRequest } from "./runtimeTypes.ts";
import { traceparentOf } from "./traceparent.ts";

/** The origin of a run that this request starts. */
export function newOrigin(
  deps: Pick<EngineDeps, "random">,
  request: RunRequest,
  runId: string,
  startedAt: number,
  key: RunOrigin["key"],
): RunOrigin {
  const { method, target, handler, caller, client } = request;
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
    ...(handler.owesStructure ? { owesStructure: true as const } : {}),
    ...(traceparent === undefined ? {} : { traceparent }),
    key,
    startedAt,
  };
}
