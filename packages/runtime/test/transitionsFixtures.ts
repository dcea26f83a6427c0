/**
 * What the tests of the transition functions share: a store of one run and one key, without time of its own.
 *
 * It keeps what a transition returns and nothing else, and freezes everything that it hands out: a function that changes
 * its input throws.
 */
import type { Entry } from "@reprise/journal";
import {
  anonymous,
  type ClaimFirst,
  type ClaimRound,
  type KeyRecord,
  keyAfter,
  type Progress,
  RECORD_FORMAT,
  type RoundEnd,
  type RunHead,
  type RunOrigin,
  type StoredRun,
  type Transition,
  type TransitionEnv,
} from "@reprise/runtime";

export const LEASE_MS = 10_000;
export const RETENTION_MS = 3_600_000;

export function origin(runId: string, over: Partial<RunOrigin> = {}): RunOrigin {
  return {
    format: RECORD_FORMAT,
    runId,
    method: "tools/call",
    handler: { kind: "tool", name: "t" },
    target: "t",
    params: {},
    caller: anonymous,
    client: { info: undefined, capabilities: {}, protocolVersion: "2026-07-28" },
    seed: "seed",
    key: undefined,
    startedAt: 0,
    ...over,
  };
}

export function progress(sequence: number, over: Partial<Progress> = {}): Progress {
  return { sequence, entries: [], marks: {}, stepStarts: false, settled: {}, ...over };
}

export const stepDone = (name: string): Entry => ({
  kind: "step_completed",
  name,
  value: "1",
  at: 1,
});

export const waitingFor = (...keys: readonly string[]): RoundEnd => ({
  to: "waiting",
  pending: keys.map((key) => ({
    key,
    question: `${key}?`,
    asked: `${key}/${key}?`,
    wire: { method: "elicitation/create" },
    text: key,
    changes: 0,
    unfinished: 0,
  })),
  state: {},
  stateExpiresAt: 60_000,
});

export const completed = (keyFree: boolean = false): RoundEnd => ({
  to: "completed",
  response: { kind: "complete", result: {} },
  state: {},
  keyFree,
});

export function round(number: number, over: Partial<ClaimRound> = {}): ClaimRound {
  return {
    runId: "run1",
    round: number,
    version: "1",
    token: "retry",
    stateExpiresAt: 60_000,
    asked: ["a/a?", "b/b?"],
    answers: {},
    stateExpired: false,
    waiterId: "w",
    ...over,
  };
}

export function first(over: Partial<ClaimFirst> = {}): ClaimFirst {
  return {
    version: "1",
    token: "first",
    stateExpiresAt: 60_000,
    scope: "scope",
    perCaller: true,
    argsDigest: "args",
    principal: "alice",
    newOrigin: (runId, generation) =>
      origin(runId, { key: { scope: "scope", generation, argsDigest: "args" } }),
    idSuffix: "x",
    waiterId: "w",
    ...over,
  };
}

/** A store of one run. */
export class OneRun {
  now = 1_000;
  goneHolders: Set<unknown> = new Set();
  limit: number | undefined;
  origin: RunOrigin | undefined;
  head: RunHead | undefined;
  entries: readonly Entry[] = [];
  key: KeyRecord | undefined;
  writes = 0;

  env(holder: string = "p1"): TransitionEnv {
    return {
      now: this.now,
      retentionMs: RETENTION_MS,
      holder,
      newLease: () => ({ holder, until: this.now + LEASE_MS }),
      isLeaseOver: (lease) => lease.until <= this.now || this.goneHolders.has(lease.holder),
      isGone: (other) => this.goneHolders.has(other),
      waitingLimit: () => this.limit,
    };
  }

  stored(): StoredRun | undefined {
    if (this.head === undefined || this.origin === undefined) return undefined;
    const { entries } = this;
    return deepFreeze({ origin: this.origin, head: this.head, entries: () => entries });
  }

  /** The head; for tests that know that there is one. */
  get known(): RunHead {
    if (this.head === undefined) throw new Error("no run is stored");
    return this.head;
  }

  /** Keeps what a transition decided, as a store would, and gives its reply. */
  keep<Reply>({ reply, write, key }: Transition<Reply>): Reply {
    if (write === undefined) return reply;
    this.writes += 1;
    if (write.origin !== undefined) {
      this.origin = write.origin;
      this.entries = [];
    }
    this.head = write.head;
    this.entries = [...this.entries.slice(0, write.cutEntriesAt), ...(write.append ?? [])];
    if (key !== undefined) this.key = key;
    else if (this.origin !== undefined) {
      this.key = keyAfter(this.key, this.origin, write.head) ?? this.key;
    }
    return reply;
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
