/**
 * A run becomes durable for the first time: with its first live step or its first suspension.
 */
import type { RunHead } from "../runRecord.ts";
import type { CreateReply, CreateRun } from "../storePort.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";
import { applyEnd, applyProgress } from "./progress.ts";

/** The head of a run whose first attempt starts now. */
export function newHead(
  version: string,
  token: string,
  waiterId: string | undefined,
  env: TransitionEnv,
): RunHead {
  return {
    status: "running",
    round: 0,
    epoch: 1,
    token,
    lease: env.newLease(),
    waiters: waiterId === undefined ? [] : [{ id: waiterId, holder: env.holder }],
    stoppable: waiterId !== undefined,
    stopping: false,
    takeovers: 0,
    stepStarted: false,
    stepCompleted: false,
    openStepPossible: false,
    openStepSince: undefined,
    claimedAt: env.now,
    marks: {},
    pending: [],
    brought: {},
    settled: {},
    state: {},
    drafts: {},
    response: undefined,
    entryCount: 0,
    sequence: 0,
    version,
    askedVersion: version,
    entriesVersion: version,
    mismatchedAt: undefined,
    keyFree: false,
    stateGivenOut: false,
    stateExpiresAt: 0,
    updatedAt: env.now,
    expiresAt: 0,
  };
}

/** Creates a run without a key. */
export function createRun(
  existing: StoredRun | undefined,
  input: CreateRun,
  env: TransitionEnv,
): Transition<CreateReply> {
  const { origin, token } = input;
  if (existing !== undefined) {
    // The same attempt sent it again after a lost reply.
    const own = existing.head.token === token && existing.head.epoch === 1;
    if (!own) return { reply: { tag: "EXISTS" } };
    return { reply: { tag: "OK", ref: { runId: origin.runId, epoch: 1, token } } };
  }
  const limit = env.waitingLimit(origin.caller.principal);
  if (limit !== undefined) return { reply: { tag: "TOO_MANY_WAITING", limit } };
  const begun = applyProgress(newHead(input.version, token, input.waiterId, env), input.progress);
  const head = input.end === undefined ? touched(begun, env) : applyEnd(begun, input.end, env);
  return {
    reply: { tag: "OK", ref: { runId: origin.runId, epoch: 1, token } },
    write: { origin, head, append: input.progress.entries, appendAt: 0 },
  };
}
