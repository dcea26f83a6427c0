/**
 * A run store in memory, for authors' tests and for tests of the engine: the same transition functions as the real
 * stores, under a clock that a test moves.
 *
 * Called through the RunStore port. It keeps nothing when the process ends and never touches a disk or a socket.
 *
 * S1 Each call is one synchronous transition; no other call comes between its reading and its writing.
 * S2 Handles made by `another` share the records and are separate processes to leases and waiters.
 * S3 A killed or closed handle changes nothing any more.
 */
import { RepriseError } from "@reprise/errors";
import {
  append,
  type ClaimReply,
  cancel,
  claimFirst,
  claimKnown,
  claimQueued,
  claimRound,
  createProcessRecords,
  createRun,
  DEFAULT_RETENTION_MS,
  endRound,
  finish,
  type HistoryStore,
  isOverdue,
  leave,
  MISMATCH_GRACE_MS,
  type RunHead,
  type RunStore,
  release,
  renew,
  retry,
  type SharedRecords,
  stopOf,
  type Transition,
  type TransitionEnv,
} from "@reprise/runtime";
import { createMemoryHistory } from "./memoryHistory.ts";
import { MemoryRecords, type MemorySnapshot } from "./memoryRecords.ts";
import { sharedOfProcess } from "./sharedOfProcess.ts";

/** A call of the port that changes something. */
export type StoreMethod =
  | "createRun"
  | "claimFirst"
  | "claimRound"
  | "claimKnown"
  | "claimQueued"
  | "append"
  | "endRound"
  | "renew"
  | "cancel"
  | "release"
  | "retry"
  | "finish"
  | "leave";

/** How a memory store behaves. */
export interface MemoryStoreOptions {
  /** Default 10,000. */
  readonly leaseMs?: number;
  /** Default 24 h. */
  readonly retentionMs?: number;
  /** Waiting runs of one principal. Default 1,000. */
  readonly maxWaitingRuns?: number;
  /** Epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number;
  /** What `watch` counts its time with. Default the process's timers; give a manual clock's together with its `now`. */
  readonly setTimer?: (delayMs: number, run: () => void) => () => void;
  /** Called before a transition is made; throw to play a store that cannot be reached: nothing changes. */
  readonly beforeCommit?: (method: StoreMethod) => void | Promise<void>;
  /** Called after a transition is made; throw to play a lost reply: the change stands. */
  readonly afterCommit?: (method: StoreMethod) => void | Promise<void>;
}

/** A RunStore whose data and processes a test can see and end. */
export interface MemoryStore extends RunStore {
  /** Records that all stores on this data share; expiry by `now`. */
  readonly shared: SharedRecords;
  /** What operators see of the runs, on the same clock. */
  readonly history: HistoryStore;
  /** A store of another process on the same data. */
  another(): MemoryStore;
  /** The process behind this handle dies: its leases end at once, its waiters are gone, its calls fail. Idempotent. */
  kill(): void;
  /** All that is stored now. */
  snapshot(): MemorySnapshot;
}

/** What the handles on one data share. */
interface Shared {
  readonly options: MemoryStoreOptions;
  readonly records: MemoryRecords;
  readonly sharedRecords: SharedRecords;
  readonly history: HistoryStore;
  readonly dead: Set<number>;
  handles: number;
}

/** Makes a memory store with no runs in it. */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const sharedRecords = createProcessRecords(options.now);
  const records = new MemoryRecords();
  const history = createMemoryHistory(options.now);
  return openHandle({ options, records, sharedRecords, history, dead: new Set(), handles: 0 });
}

function openHandle(shared: Shared): MemoryStore {
  const { options, records, dead } = shared;
  const leaseMs = options.leaseMs ?? 10_000;
  const retentionMs = options.retentionMs ?? DEFAULT_RETENTION_MS;
  const maxWaitingRuns = options.maxWaitingRuns ?? 1_000;
  const now = options.now ?? Date.now;
  const setTimer = options.setTimer ?? systemTimer;
  shared.handles += 1;
  const holder = shared.handles;
  let open = true;
  const openWatches = new Set<() => void>();
  const ofProcess = sharedOfProcess(shared.sharedRecords);

  const isGone = (other: unknown): boolean => typeof other === "number" && dead.has(other);
  const isOver = (lease: { readonly holder: unknown; readonly until: number }): boolean =>
    lease.until <= now() || isGone(lease.holder);

  const envNow = (): TransitionEnv => ({
    now: now(),
    retentionMs,
    holder,
    newLease: () => ({ holder, until: now() + leaseMs }),
    isLeaseOver: isOver,
    isGone,
    waitingLimit: (principal) => {
      const waiting = records.runIds().filter((runId) => {
        const run = records.run(runId);
        return run?.head.status === "waiting" && run.origin.caller.principal === principal;
      });
      return waiting.length >= maxWaitingRuns ? maxWaitingRuns : undefined;
    },
  });

  const checkOpen = (): void => {
    if (!open) throw new RepriseError("STORE_UNAVAILABLE", "the store is closed");
  };

  /** `decide` returns the transition and the run it is about: a key may lead elsewhere by the time it is made. */
  const transact = async <Reply>(
    method: StoreMethod,
    decide: (env: TransitionEnv) => readonly [transition: Transition<Reply>, runId: string],
    scope?: string,
  ): Promise<Reply> => {
    checkOpen();
    await options.beforeCommit?.(method);
    checkOpen();
    const [transition, runId] = decide(envNow());
    records.apply(transition, runId, scope);
    await options.afterCommit?.(method);
    return transition.reply;
  };

  const end = (): void => {
    open = false;
    ofProcess.end();
    for (const resolve of [...openWatches]) resolve();
  };

  const standsAt = (head: RunHead | undefined, epoch: number): boolean =>
    head?.status === "running" &&
    head.epoch === epoch &&
    !head.stopping &&
    (head.queued === true || (head.lease !== undefined && !isOver(head.lease)));

  const isUnattended = (head: RunHead): boolean =>
    head.queued === true
      ? now() - head.claimedAt > leaseMs
      : head.lease === undefined || isOver(head.lease);

  const isAbandoned = (head: RunHead): boolean =>
    head.status === "running"
      ? isUnattended(head)
      : isOverdue(head, now()) ||
        (head.status === "mismatched" && now() - (head.mismatchedAt ?? now()) > MISMATCH_GRACE_MS);

  return {
    leaseMs,
    shared: ofProcess.shared,
    history: shared.history,
    createRun: (input) => {
      const { runId } = input.origin;
      return transact("createRun", (env) => [createRun(records.run(runId), input, env), runId]);
    },
    claimFirst: (input) => {
      const decide = (env: TransitionEnv): readonly [Transition<ClaimReply>, string] => {
        const key = records.key(input.scope);
        const runId = key?.runId ?? "";
        return [claimFirst(key, records.run(runId), input, env), runId];
      };
      return transact("claimFirst", decide, input.scope);
    },
    claimRound: (input) =>
      transact("claimRound", (env) => [
        claimRound(records.run(input.runId), input, env),
        input.runId,
      ]),
    claimKnown: (input) =>
      transact("claimKnown", (env) => [
        claimKnown(records.run(input.runId), input, env),
        input.runId,
      ]),
    claimQueued: (input) =>
      transact("claimQueued", (env) => [
        claimQueued(records.run(input.runId), input, env),
        input.runId,
      ]),
    append: (ref, progress) =>
      transact("append", (env) => [append(records.run(ref.runId), ref, progress, env), ref.runId]),
    endRound: (ref, progress, roundEnd) =>
      transact("endRound", (env) => [
        endRound(records.run(ref.runId), ref, progress, roundEnd, env),
        ref.runId,
      ]),
    renew: (ref) =>
      transact("renew", (env) => [renew(records.run(ref.runId), ref, env), ref.runId]),
    cancel: (input) =>
      transact("cancel", (env) => [cancel(records.run(input.runId), input, env), input.runId]),
    retry: (input) =>
      transact("retry", (env) => {
        const run = records.run(input.runId);
        const scope = run?.origin.key?.scope;
        const key = scope === undefined ? undefined : records.key(scope);
        return [retry(run, key, input, env), input.runId];
      }),
    finish: (input) =>
      transact("finish", (env) => [finish(records.run(input.runId), input, env), input.runId]),
    release: (runId) => transact("release", (env) => [release(records.run(runId), env), runId]),
    leave: (runId, epoch, waiterId) =>
      transact("leave", (env) => [leave(records.run(runId), epoch, waiterId, env), runId]),
    watch: (runId, epoch, timeoutMs, signal) =>
      new Promise((resolve) => {
        let takeBackLeaseTimer = (): void => {};
        const settle = (): void => {
          takeBackLeaseTimer();
          takeBackTimeout();
          unsubscribe();
          signal.removeEventListener("abort", settle);
          openWatches.delete(settle);
          resolve();
        };
        const look = (): void => {
          takeBackLeaseTimer();
          const head = records.head(runId);
          if (!standsAt(head, epoch)) settle();
          else if (head?.lease !== undefined)
            takeBackLeaseTimer = setTimer(head.lease.until - now(), look);
        };
        const takeBackTimeout = setTimer(timeoutMs, settle);
        const unsubscribe = records.subscribe(runId, look);
        openWatches.add(settle);
        signal.addEventListener("abort", settle);
        if (signal.aborted || !open) settle();
        else look();
      }),
    onStopping: (runId, epoch, listener) => {
      let hasLeft = false;
      const look = (): void => {
        const head = records.head(runId);
        const why = head && stopOf(head, epoch);
        if (why === "cancelled") {
          unsubscribe();
          listener("cancelled");
        } else if (why === "left" && !hasLeft) {
          hasLeft = true;
          listener("left");
        }
      };
      const unsubscribe = records.subscribe(runId, look);
      return unsubscribe;
    },
    findAbandoned: async (limit) => {
      checkOpen();
      const abandoned = records.runIds().filter((runId) => {
        const head = records.head(runId);
        return head !== undefined && isAbandoned(head);
      });
      return abandoned.slice(0, limit);
    },
    leadsTo: async (scope) => {
      checkOpen();
      return records.key(scope)?.runId;
    },
    load: async (runId) => {
      checkOpen();
      const run = records.run(runId);
      return run && { origin: run.origin, head: run.head, entries: run.entries() };
    },
    removeExpired: async (limit) => {
      checkOpen();
      const expired = records
        .runIds()
        .filter((runId) => (records.head(runId)?.expiresAt ?? Infinity) < now())
        .slice(0, limit);
      for (const runId of expired) records.remove(runId);
      return expired.length;
    },
    health: async () => (open ? { ok: true } : { ok: false, reason: "the store is closed" }),
    close: async () => end(),
    another: () => openHandle(shared),
    kill: () => {
      dead.add(holder);
      end();
      records.wakeAll();
    },
    snapshot: () => records.snapshot(),
  };
}

function systemTimer(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}
