/**
 * Runs as records and as events, full of one secret that no page may show before it is revealed.
 */
import type { RunEvent, RunRecord } from "@reprise/runtime";

/** A secret that is in every value of these records: it must be nowhere but in what was revealed. */
export const secret = "s3cret-of-a-caller";

/** A record that is full of values. */
export function recordOf(
  runId: string,
  status: RunRecord["head"]["status"] = "waiting",
): RunRecord {
  const value = JSON.stringify({ card: secret });
  return {
    origin: {
      format: 1,
      runId,
      method: "tools/call",
      handler: { kind: "tool", name: "refund" },
      target: "refund",
      params: { name: "refund", arguments: { note: secret } },
      caller: { principal: "ann", person: "ann", scopes: [], claims: { email: secret } },
      client: {
        info: { name: "desk", version: "1" },
        capabilities: {},
        protocolVersion: "2026-07-28",
      },
      seed: secret,
      key: { scope: "sc", generation: 0, argsDigest: secret },
      startedAt: 1_799_999_000_000,
    },
    head: {
      status,
      round: 1,
      epoch: 2,
      token: secret,
      lease: undefined,
      waiters: [],
      stoppable: true,
      stopping: false,
      takeovers: 0,
      stepStarted: true,
      stepCompleted: true,
      openStepPossible: false,
      openStepSince: undefined,
      claimedAt: 1_799_999_000_000,
      marks: { "send mail": { firstTriedAt: 1_799_999_000_000 } },
      pending: [
        {
          key: "confirm",
          question: "d",
          asked: "d",
          wire: { method: "elicitation/create", params: { message: secret } },
          text: `Refund ${secret}?`,
          changes: 0,
          unfinished: 0,
        },
      ],
      brought: { confirm: { value: secret, digest: "d" } },
      settled: {},
      state: { cart: secret },
      drafts: {},
      response: { kind: "error", code: "STEP_UNCERTAIN", message: secret, data: { secret } },
      entryCount: 4,
      sequence: 4,
      version: "1.2.3",
      askedVersion: "1.2.3",
      entriesVersion: "1.2.3",
      mismatchedAt: undefined,
      keyFree: false,
      stateGivenOut: true,
      stateExpiresAt: 1_800_000_600_000,
      updatedAt: 1_799_999_500_000,
      expiresAt: 1_800_090_000_000,
    },
    entries: [
      { kind: "read_completed", name: "load order", value, at: 1_799_999_100_000 },
      { kind: "step_completed", name: "charge", value, at: 1_799_999_200_000 },
      {
        kind: "answer_taken",
        key: "confirm",
        question: "d",
        answer: secret,
        at: 1_799_999_300_000,
      },
      {
        kind: "step_failed",
        name: "send mail",
        error: { name: "Error", message: secret },
        outcome: "uncertain",
        at: 1_799_999_400_000,
      },
    ],
  };
}

/** What every event of a run says. */
const facts = {
  method: "tools/call",
  handler: { kind: "tool", name: "refund" },
  effects: "once",
  principal: "ann",
  client: "desk",
  protocolVersion: "2026-07-28",
  round: 0,
  epoch: 1,
  version: "1.2.3",
  instance: "worker-1",
} as const;

/** A run that waits for an answer to its confirm. */
export function waitingEvents(
  runId: string,
  at: number,
  given: Partial<RunEvent> = {},
): readonly RunEvent[] {
  const own = { ...facts, ...given, runId };
  return [
    { ...own, type: "attempt_started", cause: "call", at },
    { ...own, type: "step_started", step: "charge", try: 1, undo: false, at: at + 1 },
    {
      ...own,
      type: "step_ended",
      step: "charge",
      outcome: "completed",
      tries: 1,
      durationMs: 40,
      undo: false,
      at: at + 41,
    },
    {
      ...own,
      type: "asked",
      asks: [{ key: "confirm", kind: "confirm" }],
      until: at + 3_600_000,
      at: at + 50,
    },
    {
      ...own,
      type: "attempt_ended",
      outcome: "suspended",
      durationMs: 50,
      status: "waiting",
      at: at + 50,
    },
  ] as readonly RunEvent[];
}

/** A run that ended. */
export function endedEvents(
  runId: string,
  at: number,
  outcome: "completed" | "failed" | "interrupted" | "parked",
  given: Partial<RunEvent> = {},
): readonly RunEvent[] {
  const own = { ...facts, ...given, runId };
  const code = outcome === "failed" ? { code: "STEP_FAILED" } : {};
  return [
    { ...own, type: "attempt_started", cause: "call", at },
    {
      ...own,
      type: "attempt_ended",
      outcome,
      durationMs: 30,
      status: outcome,
      at: at + 30,
      ...code,
    },
  ] as readonly RunEvent[];
}
