/**
 * First calls with an idempotency key (docs/design.md 4.3).
 *
 * F1 The idempotency record and the run it leads to are written in one transition.
 * F2 The generation counts up with every new run under one key, so step keys of different intents differ.
 * F3 Another caller under a tool-wide key never sees the result.
 */
import type { KeyRecord, RunHead } from "../runRecord.ts";
import { RECORD_FORMAT } from "../runRecord.ts";
import type { ClaimFirst, ClaimReply } from "../storePort.ts";
import { claimAfterFailure, claimByStatus, recorded } from "./claim.ts";
import { newHead } from "./create.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";
import { cleared } from "./idle.ts";
import { isRecordedForGood } from "./progress.ts";
import { attemptOf, isQueued, queuedReply, resent, tenure } from "./queue.ts";
import { atDeadline } from "./undo.ts";

/**
 * @param key the idempotency record of `input.scope`
 * @param stored the run that `key` leads to
 */
export function claimFirst(
  key: KeyRecord | undefined,
  stored: StoredRun | undefined,
  input: ClaimFirst,
  env: TransitionEnv,
): Transition<ClaimReply> {
  if (key === undefined || key.free || key.expiresAt < env.now) return newRun(key, input, env);
  if (stored === undefined) return { reply: { tag: "LOST", reason: "missing" } };
  const run = atDeadline(stored, env);
  const again = resent(run, input, env);
  if (again !== undefined) return again;
  if (!input.perCaller && key.principal !== input.principal)
    return otherCaller(key, run, input, env);
  if (key.argsDigest !== input.argsDigest) return { reply: { tag: "OTHER_ARGUMENTS" } };
  const { head } = run;
  const mayGoOn =
    head.status === "failed" || (head.status === "completed" && !isRecordedForGood(head));
  // What an operator ended by hand stands for everybody who calls again.
  if (mayGoOn && head.finished !== true) {
    return claimAfterFailure(run, input, env);
  }
  if (head.status === "waiting") return recorded(run, input, env);
  return claimByStatus(run, input, {}, env);
}

function newRun(
  key: KeyRecord | undefined,
  input: ClaimFirst,
  env: TransitionEnv,
  displaced?: { readonly runId: string; readonly head: RunHead },
): Transition<ClaimReply> {
  const limit = env.waitingLimit(input.principal);
  if (limit !== undefined) return { reply: { tag: "TOO_MANY_WAITING", limit } };
  const generation = (key?.generation ?? 0) + 1;
  const runId = `${input.scope}-${generation}-${input.idSuffix}`;
  const origin = input.newOrigin(runId, generation, env.now);
  const born = newHead(input.version, input.token, input.waiterId, env);
  const head: RunHead = touched({ ...born, ...tenure(input, env) }, env);
  const { argsDigest, principal } = input;
  return {
    reply: isQueued(head) ? queuedReply(origin, head) : attemptOf(origin, head, [], false),
    write: { origin, head },
    key: {
      format: RECORD_FORMAT,
      runId,
      generation,
      argsDigest,
      principal,
      free: false,
      expiresAt: head.expiresAt,
    },
    ...(displaced === undefined ? {} : { displaced }),
  };
}

function otherCaller(
  key: KeyRecord,
  run: StoredRun,
  input: ClaimFirst,
  env: TransitionEnv,
): Transition<ClaimReply> {
  const { head } = run;
  // Nobody answered in time and nothing was started: the question gives way, and can't be answered later.
  if (head.status === "waiting" && !head.stepStarted && head.stateExpiresAt < env.now) {
    const gone = touched(
      {
        ...cleared(head),
        status: "failed" as const,
        pending: [],
        keyFree: true,
        response: {
          kind: "error" as const,
          code: "RUN_CANCELLED",
          message: "the question expired and another caller's request took its place",
          data: undefined,
        },
      },
      env,
    );
    return newRun(key, input, env, { runId: key.runId, head: gone });
  }
  return { reply: { tag: "OTHER_CALLER", done: head.status === "completed" } };
}
