/**
 * The embedded store: the run store port on lmdb, durable on one machine and shared by its processes.
 *
 * Called through the port by the runtime, and by whoever composes a server (`openLmdbStore`, `stateKey`). One transition is
 * one write transaction around one pure function of the runtime; rules P1 to P5 of the port hold as follows.
 *
 * P1, P5 by the environment (E1, E4). P2, P3 by the transition functions, which read the head inside the transaction.
 * P4 leases carry the holder's process and an end on the boot's monotonic clock; the wall clock only dates records.
 * A1 Claims never answer from the read view: it may show a commit before it is flushed. Only wake-ups and hints use it.
 */
import { RepriseError } from "@reprise/errors";
import {
  append,
  cancel,
  claimFirst,
  claimKnown,
  claimQueued,
  claimRound,
  createRun,
  endRound,
  finish,
  type HistoryStore,
  isOverdue,
  type Lease,
  leave,
  MISMATCH_GRACE_MS,
  type RunHead,
  type RunRecord,
  type RunStore,
  release,
  renew,
  retry,
  type SharedRecords,
  type Transition,
  type TransitionEnv,
} from "@reprise/runtime";
import { Capacity } from "./capacity.ts";
import { Environment } from "./environment.ts";
import { prepareDirectory } from "./fileSystem.ts";
import { readWaiting } from "./indexes.ts";
import { expiredRange, mismatchedRange, overdueRange, runIdOf, runningRange } from "./keys.ts";
import { LmdbHistory } from "./lmdbHistory.ts";
import { LmdbRecords, type RecordParts } from "./lmdbRecords.ts";
import { type CheckedOptions, checkOptions, type LmdbStoreOptions } from "./options.ts";
import { type ReadRun, RunTable } from "./runTable.ts";
import { Watches } from "./watches.ts";

/** The embedded store of one directory. */
export interface LmdbStore extends RunStore {
  /** The directory's real path. */
  readonly directory: string;
  /** Records, logs and notices that all processes on this directory share; closed with the store. */
  readonly shared: SharedRecords;
  /** What operators see of the runs, in the same directory. */
  readonly history: HistoryStore;
  /** A secret of 32 bytes that all processes on this directory share and a restart finds again. */
  stateKey(): Promise<Uint8Array>;
}

/**
 * Opens the store of a directory; any number of processes may.
 *
 * @throws RangeError, TypeError for options that can't be meant; STORE_UNUSABLE with what to do for a directory that can't
 *   hold a store or holds one of a newer release; STORE_FULL and STORE_UNAVAILABLE when the database refuses.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<LmdbStore> {
  const checked = checkOptions(options);
  const directory = prepareDirectory(checked.directory, checked.fileSystem);
  const environment = await Environment.open(directory, checked.maxBytes, checked.fileSystem);
  return new EmbeddedStore(checked, environment);
}

class EmbeddedStore implements LmdbStore {
  readonly leaseMs: number;
  readonly directory: string;
  readonly shared: SharedRecords;
  readonly history: HistoryStore;
  readonly #records: LmdbRecords;
  readonly #history: LmdbHistory;
  readonly #options: CheckedOptions;
  readonly #environment: Environment;
  readonly #runs: RunTable;
  readonly #capacity: Capacity;
  readonly #watches: Watches;
  // A count and no set of promises: see the runtime's LiveSet.
  #calls = 0;
  #whenIdle: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(options: CheckedOptions, environment: Environment) {
    const { clock } = options;
    this.leaseMs = options.leaseMs;
    this.directory = environment.directory;
    this.#options = options;
    this.#environment = environment;
    this.#runs = new RunTable(environment.database);
    this.#capacity = new Capacity(environment, options, options.fileSystem, clock.monotonicNow);
    const view = {
      lastCommit: () => environment.lastCommit(),
      readHead: (runId: string) => {
        environment.database.resetReadTxn();
        return this.#runs.readHead(runId);
      },
      isDead: (head: RunHead) => this.#isDead(head),
    };
    const parts: RecordParts = {
      environment,
      capacity: this.#capacity,
      clock,
      tracked: (call) => this.#tracked(call),
    };
    this.#records = new LmdbRecords(parts);
    this.shared = this.#records;
    this.#history = new LmdbHistory(parts);
    this.history = this.#history;
    this.#watches = new Watches(view, clock);
    watchesOf(environment).add(this.#watches);
  }

  createRun: RunStore["createRun"] = (input) => {
    const { runId } = input.origin;
    return this.#transition(runId, (run, env) => createRun(run, input, env));
  };

  claimFirst: RunStore["claimFirst"] = (input) =>
    this.#transact((env) => {
      const key = this.#runs.readKey(input.scope);
      const run = key === undefined ? undefined : this.#runs.read(key.runId);
      return this.#written(claimFirst(key, run, input, env), run, input.scope);
    });

  claimRound: RunStore["claimRound"] = (input) =>
    this.#transition(input.runId, (run, env) => claimRound(run, input, env));

  claimKnown: RunStore["claimKnown"] = (input) =>
    this.#transition(input.runId, (run, env) => claimKnown(run, input, env));

  claimQueued: RunStore["claimQueued"] = (input) =>
    this.#transition(input.runId, (run, env) => claimQueued(run, input, env));

  append: RunStore["append"] = (ref, progress) =>
    this.#transition(ref.runId, (run, env) => append(run, ref, progress, env));

  endRound: RunStore["endRound"] = (ref, progress, end) =>
    this.#transition(ref.runId, (run, env) => endRound(run, ref, progress, end, env));

  renew: RunStore["renew"] = (ref) =>
    this.#transition(ref.runId, (run, env) => renew(run, ref, env));

  cancel: RunStore["cancel"] = (input) =>
    this.#transition(input.runId, (run, env) => cancel(run, input, env));

  retry: RunStore["retry"] = (input) =>
    this.#transact((env) => {
      const run = this.#runs.read(input.runId);
      const scope = run?.origin.key?.scope;
      const key = scope === undefined ? undefined : this.#runs.readKey(scope);
      return this.#written(retry(run, key, input, env), run);
    });

  finish: RunStore["finish"] = (input) =>
    this.#transition(input.runId, (run, env) => finish(run, input, env));

  release: RunStore["release"] = (runId) =>
    this.#transition(runId, (run, env) => release(run, env));

  leave: RunStore["leave"] = (runId, epoch, waiterId) =>
    this.#transition(runId, (run, env) => leave(run, epoch, waiterId, env));

  watch: RunStore["watch"] = (runId, epoch, timeoutMs, signal) =>
    this.#watches.watch(runId, epoch, timeoutMs, signal);

  onStopping: RunStore["onStopping"] = (runId, epoch, listener) =>
    this.#watches.onStopping(runId, epoch, listener);

  findAbandoned: RunStore["findAbandoned"] = (limit) =>
    this.#look((database) => {
      const found: string[] = [];
      const now = this.#options.clock.wallNow();
      for (const range of [runningRange, mismatchedRange, overdueRange(now)]) {
        for (const key of database.getKeys(range)) {
          if (found.length >= limit) return found;
          const head = this.#runs.readHead(runIdOf(key));
          if (head !== undefined && this.#isAbandoned(head, now)) found.push(runIdOf(key));
        }
      }
      return found;
    });

  leadsTo: RunStore["leadsTo"] = (scope) => this.#look(() => this.#runs.readKey(scope)?.runId);

  load: RunStore["load"] = (runId) =>
    this.#look((): RunRecord | undefined => {
      const run = this.#runs.read(runId);
      return run && { origin: run.origin, head: run.head, entries: run.entries() };
    });

  removeExpired: RunStore["removeExpired"] = async (limit) => {
    const removed = await this.#tracked(() =>
      this.#environment.transact(() => {
        const now = this.#options.clock.wallNow();
        const expired: string[] = [];
        for (const key of this.#environment.database.getKeys(expiredRange(now))) {
          if (expired.length >= limit) break;
          const head = this.#runs.readHead(runIdOf(key));
          if (head === undefined || head.expiresAt >= now) continue;
          // A wall clock that jumps ahead must not delete what an attempt is still writing.
          const isWritten = head.status === "running" && head.queued !== true;
          if (isWritten && !this.#isDead(head)) continue;
          expired.push(runIdOf(key));
        }
        for (const runId of expired) this.#runs.remove(runId);
        return expired;
      }),
    );
    this.#announce(removed);
    await this.#records.removeExpired(limit);
    await this.#history.removeExpired(limit);
    return removed.length;
  };

  health: RunStore["health"] = async () => {
    if (this.#closing !== undefined) return { ok: false, reason: "the store is closed" };
    try {
      const reason = this.#capacity.lack();
      const room = this.#capacity.room();
      return reason === undefined ? { ok: true, room } : { ok: false, reason, room };
    } catch (failure) {
      return { ok: false, reason: (await this.#environment.errorOf(failure)).message };
    }
  };

  stateKey(): Promise<Uint8Array> {
    return this.#tracked(() => this.#environment.stateSecret());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#records.close();
    this.#watches.close();
    watchesOf(this.#environment).delete(this.#watches);
    if (this.#calls > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    await this.#environment.release();
  }

  #transition<Reply>(
    runId: string,
    decide: (run: ReadRun | undefined, env: TransitionEnv) => Transition<Reply>,
  ): Promise<Reply> {
    return this.#transact((env) => {
      const run = this.#runs.read(runId);
      return this.#written(decide(run, env), run);
    });
  }

  /** One transition, committed; wakes the watches of the runs it changed. */
  async #transact<Reply>(
    make: (env: TransitionEnv) => { readonly reply: Reply; readonly changed: readonly string[] },
  ): Promise<Reply> {
    const { reply, changed } = await this.#tracked(() =>
      this.#environment.transact(() => make(this.#envNow())),
    );
    this.#announce(changed);
    return reply;
  }

  #written<Reply>(
    transition: Transition<Reply>,
    run: ReadRun | undefined,
    scope?: string,
  ): { readonly reply: Reply; readonly changed: readonly string[] } {
    if (transition.write !== undefined) this.#capacity.check(transition.write.origin !== undefined);
    return { reply: transition.reply, changed: this.#runs.write(transition, run, scope) };
  }

  /** Runs a call that `close` waits for; rejects once the store is closed. */
  async #tracked<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#closing !== undefined)
      throw new RepriseError("STORE_UNAVAILABLE", "the store is closed");
    this.#calls += 1;
    try {
      return await call();
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#whenIdle();
    }
  }

  /** A look at the newest commit that this process can see. */
  #look<Value>(read: (database: Environment["database"]) => Value): Promise<Value> {
    return this.#tracked(async () => {
      try {
        const { database } = this.#environment;
        database.resetReadTxn();
        return read(database);
      } catch (failure) {
        throw await this.#environment.errorOf(failure);
      }
    });
  }

  #announce(runIds: readonly string[]): void {
    if (runIds.length === 0) return;
    for (const watches of watchesOf(this.#environment)) {
      for (const runId of runIds) watches.changed(runId);
    }
  }

  #envNow(): TransitionEnv {
    const { clock, liveness, leaseMs, retentionMs, maxWaitingRuns, maxBytesPerCaller } =
      this.#options;
    return {
      now: clock.wallNow(),
      retentionMs,
      holder: liveness.self,
      newLease: () => ({ holder: liveness.self, until: clock.monotonicNow() + leaseMs }),
      isLeaseOver: (lease) => this.#isLeaseOver(lease),
      isGone: liveness.isGone,
      waitingLimit: (principal) => {
        const { runs, bytes } = readWaiting(this.#environment.database, principal);
        if (runs >= maxWaitingRuns) return maxWaitingRuns;
        return bytes >= maxBytesPerCaller ? runs : undefined;
      },
    };
  }

  #isLeaseOver(lease: Lease): boolean {
    const { clock, liveness } = this.#options;
    return lease.until <= clock.monotonicNow() || liveness.isGone(lease.holder);
  }

  /** Whether the attempt is known to be over; one that waits for a worker is not. */
  #isDead(head: RunHead): boolean {
    if (head.queued === true) return false;
    return head.lease === undefined || this.#isLeaseOver(head.lease);
  }

  #isAbandoned(head: RunHead, now: number): boolean {
    if (head.queued === true) return now - head.claimedAt > this.leaseMs;
    if (head.status === "running") return this.#isDead(head);
    if (isOverdue(head, now)) return true;
    return head.status === "mismatched" && now - (head.mismatchedAt ?? now) > MISMATCH_GRACE_MS;
  }
}

/** The watches of all stores of this process on one database: a write by one wakes those of the others. */
const watchesByEnvironment = new WeakMap<Environment, Set<Watches>>();

function watchesOf(environment: Environment): Set<Watches> {
  const known = watchesByEnvironment.get(environment);
  if (known !== undefined) return known;
  const made = new Set<Watches>();
  watchesByEnvironment.set(environment, made);
  return made;
}
