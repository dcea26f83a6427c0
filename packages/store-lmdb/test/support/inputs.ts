/**
 * Inputs of the store port for tests of the embedded store alone.
 */
import {
  anonymous,
  type ClaimFirst,
  type ClaimKnown,
  type CreateRun,
  type Progress,
  RECORD_FORMAT,
  type RoundEnd,
  type RunOrigin,
} from "@reprise/runtime";

export function origin(runId: string, over: Partial<RunOrigin> = {}): RunOrigin {
  return {
    format: RECORD_FORMAT,
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "refund" },
    target: "refund",
    params: { name: "refund" },
    caller: anonymous,
    client: { info: undefined, capabilities: {}, protocolVersion: "2026-07-28" },
    seed: "seed",
    key: undefined,
    startedAt: 1,
    ...over,
  };
}

export function progress(sequence: number, over: Partial<Progress> = {}): Progress {
  return { sequence, entries: [], marks: {}, stepStarts: false, settled: {}, ...over };
}

export function creation(runId: string, over: Partial<CreateRun> = {}): CreateRun {
  const token = `token-${runId}`;
  const common = { origin: origin(runId), version: "1", token, waiterId: "creator" };
  return { ...common, progress: progress(1), ...over };
}

export function known(runId: string, waiterId: string | undefined): ClaimKnown {
  return { version: "1", token: `token-${waiterId}`, stateExpiresAt: 1, runId, waiterId };
}

export function first(waiterId: string, over: Partial<ClaimFirst> = {}): ClaimFirst {
  const scope = over.scope ?? "scope1";
  return {
    version: "1",
    token: `token-${waiterId}`,
    stateExpiresAt: 1,
    scope,
    perCaller: true,
    argsDigest: "args1",
    principal: "anonymous",
    newOrigin: (runId, generation) =>
      origin(runId, { key: { scope, generation, argsDigest: "args1" } }),
    idSuffix: `x${waiterId}`,
    waiterId,
    ...over,
  };
}

export const completed: RoundEnd = {
  to: "completed",
  response: { kind: "complete", result: { content: [] } },
  state: {},
  keyFree: false,
};

export function waiting(stateExpiresAt: number): RoundEnd {
  return { to: "waiting", pending: [], state: {}, stateExpiresAt };
}
