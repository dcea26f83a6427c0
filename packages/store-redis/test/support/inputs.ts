/**
 * Inputs of the store port for the tests of the Redis store alone.
 */
import type { Entry } from "@reprise/journal";
import {
  anonymous,
  type ClaimFirst,
  type CreateRun,
  type Progress,
  RECORD_FORMAT,
  type RunOrigin,
} from "@reprise/runtime";

export function origin(runId: string, over: Partial<RunOrigin> = {}): RunOrigin {
  return {
    format: RECORD_FORMAT,
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "refund" },
    target: "refund",
    params: { name: "refund", arguments: { orderId: "o-1" } },
    caller: { ...anonymous, principal: "alice" },
    client: { info: undefined, capabilities: {}, protocolVersion: "2026-07-28" },
    seed: "0123456789abcdef0123456789abcdef",
    key: undefined,
    startedAt: 1,
    ...over,
  };
}

export function progress(sequence: number, over: Partial<Progress> = {}): Progress {
  return { sequence, entries: [], marks: {}, stepStarts: false, settled: {}, ...over };
}

export function createRun(runId: string, over: Partial<CreateRun> = {}): CreateRun {
  return {
    origin: origin(runId),
    version: "1",
    token: `token-${runId}`,
    waiterId: "creator",
    progress: progress(1),
    ...over,
  };
}

/** A first call. Its origin says what the call says. */
export function claimFirst(over: Omit<ClaimFirst, "newOrigin">): ClaimFirst {
  const { scope, argsDigest, principal } = over;
  return {
    ...over,
    newOrigin: (runId, generation, now) =>
      origin(runId, {
        key: { scope, generation, argsDigest },
        caller: { ...anonymous, principal },
        startedAt: now,
      }),
  };
}

export function stepDone(name: string, value: string = "1"): Entry {
  return { kind: "step_completed", name, value, at: 5 };
}

export function stepFailed(name: string): Entry {
  const error = { name: "Error", message: "declined" };
  return { kind: "step_failed", name, error, outcome: "uncertain", at: 5 };
}
