/**
 * What the cases of the store suite are made of: inputs of the port with everything but the point of the case filled in.
 *
 * Called by the cases only. Nothing here looks at a clock or draws a random number: a failing case fails again.
 */
import assert from "node:assert/strict";
import type { AnswerTaken, Entry, JsonValue, StepCompleted, StepFailed } from "@reprise/journal";
import {
  type AttemptRef,
  anonymous,
  type BroughtAnswer,
  type ClaimFirst,
  type ClaimKnown,
  type ClaimQueued,
  type ClaimReply,
  type ClaimRound,
  type CreateRun,
  type PendingAsk,
  type Progress,
  type QueuedClaimReply,
  RECORD_FORMAT,
  type RoundEnd,
  type RunOrigin,
  type RunRecord,
  type RunStore,
} from "@reprise/runtime";

/** Places where an adapter's data lives, as the suite uses them. A fresh one for each case. */
export interface StoreHarness {
  /** Opens the data as another process would; may be called any number of times. */
  open(): Promise<RunStore>;
  /** Epoch milliseconds of the stores' clock. */
  now(): number;
  /** Moves the time of all stores, leases included. */
  advance(ms: number): void | Promise<void>;
  /** Ends the process behind a store without giving it a chance to do anything. */
  kill(store: RunStore): void | Promise<void>;
  /** Whether a killed process's leases end at once; else they end with their time. */
  readonly seesDeath: boolean;
  readonly retentionMs: number;
  /** What each store was opened with. Small, so that the suite can reach it. */
  readonly maxWaitingRuns: number;
}

/** One promise of the store port. */
export interface StoreCase {
  /** The promise, as a sentence. */
  readonly title: string;
  /** Rejects when the store breaks the promise. */
  run(harness: StoreHarness): Promise<void>;
}

/** Expiry of sealed states when a case does not say another. */
export const STATE_LIFETIME_MS: number = 60_000;

export const noSignal: AbortSignal = new AbortController().signal;

export function origin(runId: string, over: Partial<RunOrigin> = {}): RunOrigin {
  return {
    format: RECORD_FORMAT,
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "refund" },
    target: "refund",
    params: { name: "refund", arguments: { orderId: "o-1" } },
    caller: anonymous,
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

export function stepDone(name: string, value: string = "1"): StepCompleted {
  return { kind: "step_completed", name, value, at: 5 };
}

export function stepFailed(name: string): StepFailed {
  return {
    kind: "step_failed",
    name,
    error: { name: "Error", message: "declined" },
    outcome: "uncertain",
    at: 5,
  };
}

export function taken(key: string, answer: JsonValue = true): AnswerTaken {
  return { kind: "answer_taken", key, question: `${key}?`, answer, at: 5 };
}

export function ask(key: string, question: string = `${key}?`): PendingAsk {
  return {
    key,
    question,
    asked: askedDigest(key, question),
    wire: { method: "elicitation/create" },
    text: question,
    changes: 0,
    unfinished: 0,
  };
}

export const askedDigest = (key: string, question: string = `${key}?`): string =>
  `${key}/${question}`;

export function answer(value: JsonValue): BroughtAnswer {
  return { value, digest: JSON.stringify(value) };
}

/** The settlement of an answer that an ask took. */
export function settles(key: string, value: JsonValue): Progress["settled"] {
  return { [key]: { asked: askedDigest(key), answer: JSON.stringify(value) } };
}

export function waitingFor(harness: StoreHarness, ...keys: readonly string[]): RoundEnd {
  return {
    to: "waiting",
    pending: keys.map((key) => ask(key)),
    state: {},
    stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
  };
}

export function completedWith(text: string, keyFree: boolean = false): RoundEnd {
  return {
    to: "completed",
    response: { kind: "complete", result: { content: [{ type: "text", text }] } },
    state: {},
    keyFree,
  };
}

export function failedWith(code: string, keyFree: boolean = false): RoundEnd {
  return {
    to: "failed",
    response: { kind: "error", code, message: "it failed", data: undefined },
    state: {},
    keyFree,
  };
}

export function creation(
  runId: string,
  waiterId: string | undefined,
  over: Partial<CreateRun> = {},
): CreateRun {
  return {
    origin: origin(runId),
    version: "1",
    token: `token-${runId}`,
    waiterId,
    progress: progress(1),
    ...over,
  };
}

export function round(
  harness: StoreHarness,
  runId: string,
  number: number,
  over: Partial<ClaimRound> = {},
): ClaimRound {
  return {
    version: "1",
    token: `token-${over.waiterId ?? "retry"}`,
    stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
    runId,
    round: number,
    asked: [askedDigest("confirm")],
    answers: {},
    stateExpired: false,
    waiterId: "retry",
    ...over,
  };
}

export function known(
  harness: StoreHarness,
  runId: string,
  waiterId: string | undefined,
): ClaimKnown {
  return {
    version: "1",
    token: `token-${waiterId ?? "sweep"}`,
    stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
    runId,
    waiterId,
  };
}

/** A worker's claim of a queued attempt. */
export function queued(
  harness: StoreHarness,
  runId: string,
  epoch: number,
  worker: string = "worker",
): ClaimQueued {
  return {
    version: "2",
    token: `token-${worker}`,
    stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
    runId,
    epoch,
  };
}

export function first(
  harness: StoreHarness,
  waiterId: string,
  over: Partial<ClaimFirst> = {},
): ClaimFirst {
  const scope = over.scope ?? "scope1";
  const principal = over.principal ?? "alice";
  const argsDigest = over.argsDigest ?? "args1";
  return {
    version: "1",
    token: `token-${waiterId}`,
    stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
    scope,
    perCaller: true,
    argsDigest,
    principal,
    newOrigin: (runId, generation, now) =>
      origin(runId, {
        key: { scope, generation, argsDigest },
        caller: { ...anonymous, principal },
        startedAt: now,
      }),
    idSuffix: `x${waiterId}`,
    waiterId,
    ...over,
  };
}

/** Narrows a reply to one tag; fails the case with the whole reply when it has another. */
export function expectTag<Reply extends { readonly tag: string }, Tag extends Reply["tag"]>(
  reply: Reply,
  tag: Tag,
): Extract<Reply, { readonly tag: Tag }> {
  assert.equal(reply.tag, tag, `expected ${tag}, got ${JSON.stringify(reply)}`);
  return reply as Extract<Reply, { readonly tag: Tag }>;
}

/** The attempt that a claim gave out. */
export function claimed(reply: ClaimReply | QueuedClaimReply): {
  readonly record: RunRecord;
  readonly ref: AttemptRef;
  readonly takeover: boolean;
} {
  return expectTag(reply, "CLAIMED");
}

/** Creates a run whose first round ended with open questions. Returns its id. */
export async function createWaiting(
  store: RunStore,
  harness: StoreHarness,
  runId: string,
  keys: readonly string[] = ["confirm"],
): Promise<string> {
  const input = creation(runId, "creator", { end: waitingFor(harness, ...keys) });
  expectTag(await store.createRun(input), "OK");
  return runId;
}

/** Creates a run whose first attempt goes on. */
export async function createRunning(
  store: RunStore,
  runId: string,
  over: Partial<CreateRun> = {},
): Promise<AttemptRef> {
  return expectTag(await store.createRun(creation(runId, "creator", over)), "OK").ref;
}

/** The whole record; fails the case when there is none. */
export async function loaded(store: RunStore, runId: string): Promise<RunRecord> {
  const record = await store.load(runId);
  assert.ok(record, `run ${runId} is not in the store`);
  return record;
}

/** Entries by what they are matched by, for short comparisons. */
export function namesOf(entries: readonly Entry[]): readonly string[] {
  return entries.map((entry) => (entry.kind === "answer_taken" ? entry.key : entry.name));
}
