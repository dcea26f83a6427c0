/**
 * The run that the golden file holds: a keyed run with an entry of every kind, waiting for its second answer.
 *
 * Whoever changes this writes a new golden file beside the old ones, which later releases must still read.
 */
import type { Entry } from "@reprise/journal";
import type { PendingAsk, RunOrigin, RunRecord, RunStore } from "@reprise/runtime";

const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

export const scope = "golden-scope-0000000000";

const entries: readonly Entry[] = [
  { kind: "read_completed", name: "load order", value: '{"total":{"$bigint":"4990"}}', at: 1 },
  { kind: "read_failed", name: "load notes", error: { name: "Error", message: "gone" }, at: 2 },
  { kind: "answer_taken", key: "confirm", question: "q1", answer: { action: "accept" }, at: 3 },
  {
    kind: "step_failed",
    name: "notify",
    error: { name: "Error", message: "no" },
    outcome: "not_done",
    at: 4,
  },
  { kind: "step_completed", name: "refund", value: '{"id":"re_1","at":{"$date":5}}', at: 5 },
];

const pending: readonly PendingAsk[] = [
  {
    key: "elicit",
    question: "q2",
    asked: "a2",
    wire: { method: "elicitation/create", params: { mode: "form", message: "Where?" } },
    text: "Where?",
    changes: 0,
    unfinished: 0,
  },
];

function origin(runId: string, generation: number): RunOrigin {
  return {
    format: 1,
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "refund_order" },
    target: "refund_order",
    params: { name: "refund_order", arguments: { orderId: "1001" } },
    caller: { principal: "anonymous", person: "anonymous", scopes: [], claims: {} },
    client: {
      info: { name: "golden", version: "1.0.0" },
      capabilities: { elicitation: {} },
      protocolVersion: "2026-07-28",
    },
    seed: "seed",
    key: { scope, generation, argsDigest: "args" },
    startedAt,
  };
}

const common = { version: "1.0.0", token: "token", stateExpiresAt: startedAt + 3_600_000 };

/** Makes the run; returns its id. */
export async function makeGoldenRun(store: RunStore): Promise<string> {
  const claimed = await store.claimFirst({
    ...common,
    scope,
    perCaller: false,
    argsDigest: "args",
    principal: "anonymous",
    newOrigin: origin,
    idSuffix: "golden",
    waiterId: "waiter",
  });
  if (claimed.tag !== "CLAIMED") throw new Error(`the golden run was ${claimed.tag}`);
  await store.append(claimed.ref, {
    sequence: 1,
    entries: entries.slice(0, 4),
    marks: { mail: { firstTriedAt: startedAt } },
    stepStarts: true,
    drafts: { tone: ["kind", null] },
    settled: { confirm: { asked: "a1", answer: "d1" } },
  });
  await store.endRound(
    claimed.ref,
    { sequence: 2, entries: entries.slice(4), marks: {}, stepStarts: false, settled: {} },
    { to: "waiting", pending, state: { tone: "kind" }, stateExpiresAt: common.stateExpiresAt },
  );
  return claimed.ref.runId;
}

/** Answers the open question of a golden run. */
export async function claimGoldenRun(store: RunStore, runId: string): Promise<RunRecord> {
  const claimed = await store.claimRound({
    ...common,
    token: "next",
    runId,
    round: 1,
    asked: ["a2"],
    answers: { elicit: { value: { action: "decline" }, digest: "d2" } },
    stateExpired: false,
    waiterId: "waiter2",
  });
  if (claimed.tag !== "CLAIMED") throw new Error(`the golden run was ${claimed.tag}`);
  return claimed.record;
}

/** What the run holds, whatever release wrote it. */
export const goldenEntries: readonly Entry[] = entries;
