/**
 * What operators do to a run that nothing executes: another try from its failed step, or an end by hand (docs/design.md 10).
 *
 * O1 Nothing is done to a run that an attempt has, nor to one that was cancelled or is being undone or was: what ended for good stands.
 * O2 A retried run is claimed by whoever comes first, a request or a sweep, at an epoch that no attempt has had. A sweep takes it also
 *    when no client can come again, and goes on taking it until the round ends.
 * O3 A run whose key leads to another run by now is not retried: the same intent would happen under two step keys.
 * O4 An end by hand is an end like a handler's, but that no repeated first call goes on from a failed step; the key stays taken.
 * O5 A retry that is sent again with its token says what the first one did.
 */
import { cutAtFailure } from "@reprise/journal";
import type { KeyRecord, RunHead } from "../runRecord.ts";
import type { FinishRun, OperateReply, RetryRun } from "../storePort.ts";
import { type StoredRun, type Transition, type TransitionEnv, touched } from "./env.ts";
import { beforeFailure } from "./failure.ts";
import { cleared } from "./idle.ts";

/** A new attempt of the last round. @param key the idempotency record of the run's scope, if it has one */
export function retry(
  run: StoredRun | undefined,
  key: KeyRecord | undefined,
  input: RetryRun,
  env: TransitionEnv,
): Transition<OperateReply> {
  if (run === undefined) return { reply: { tag: "LOST" } };
  const { head, origin } = run;
  const { round, status } = head;
  if (status === "running" && head.token === input.token)
    return { reply: { tag: "DONE", round, status } };
  const hindrance = whyNoRetry(run) ?? keyHindrance(origin, key);
  if (hindrance !== undefined) return notApplicable(head, hindrance);
  const isOpen = status === "interrupted";
  const before = isOpen ? undefined : beforeFailure(run);
  const { finished: _finished, ...from } = before?.head ?? head;
  const next: RunHead = touched(
    {
      ...cleared(from),
      status: "running",
      epoch: head.epoch + 1,
      token: input.token,
      stoppable: false,
      takeovers: 0,
      brought: before?.brought ?? head.brought,
      sequence: 0,
      claimedAt: env.now,
      response: undefined,
      keyFree: false,
      wanted: true,
    },
    env,
  );
  const write = before === undefined ? {} : { cutEntriesAt: before.kept.length };
  return {
    reply: { tag: "DONE", round, status: "running" },
    write: { head: next, ...write },
  };
}

/** Ends a run by hand. */
export function finish(
  run: StoredRun | undefined,
  input: FinishRun,
  env: TransitionEnv,
): Transition<OperateReply> {
  if (run === undefined) return { reply: { tag: "LOST" } };
  const { head } = run;
  const { round, status } = head;
  const idle = ["interrupted", "mismatched", "parked", "waiting"];
  if (!idle.includes(status)) {
    return notApplicable(
      head,
      status === "running" ? "an attempt has it, or is about to: cancel it first" : "it has ended",
    );
  }
  const { wanted: _wanted, ...from } = cleared(head);
  const next: RunHead = touched(
    {
      ...from,
      status: input.as,
      takeovers: 0,
      mismatchedAt: undefined,
      pending: [],
      brought: {},
      response: input.response,
      keyFree: false,
      finished: true,
    },
    env,
  );
  return { reply: { tag: "DONE", round, status: input.as }, write: { head: next } };
}

/** What stands in the way of another try; undefined when nothing does. */
function whyNoRetry(run: StoredRun): string | undefined {
  const { head } = run;
  if (head.undo !== undefined) return "what it did is undone, or was to be";
  switch (head.status) {
    case "failed":
    case "interrupted":
      return undefined;
    case "completed": {
      const entries = run.entries();
      const hasFailed = cutAtFailure(entries).kept.length < entries.length;
      return hasFailed ? undefined : "it completed, and no step of it failed at the end";
    }
    case "running":
      return "an attempt has it, or is about to";
    case "waiting":
      return "it waits for an answer";
    case "mismatched":
    case "parked":
      return "release it instead: nothing of it has ended that could be tried again";
    case "cancelled":
    case "undone":
      return "it has ended for good";
  }
}

function keyHindrance(
  { runId, key }: StoredRun["origin"],
  record: KeyRecord | undefined,
): string | undefined {
  if (key === undefined || record?.runId === runId) return undefined;
  return record === undefined
    ? "its idempotency record is gone"
    : `its idempotency key leads to run ${record.runId} by now`;
}

function notApplicable({ status }: RunHead, why: string): Transition<OperateReply> {
  return { reply: { tag: "NOT_APPLICABLE", status, why } };
}
