/**
 * The Redis store: the run store port on Redis, for any number of machines.
 *
 * Called through the port by the runtime, and by whoever composes a process (`openRedisStore`). A transition is decided by
 * the runtime's pure function on a run that was read, and written by a script that checks what the decision rests on.
 *
 * P1 A reply comes after Redis has acknowledged the script, which it does after its append-only file took it (as durable as
 *    `connection.durability` says). Reads are scripts on the same master.
 * P2, P3 by the transition functions; the scripts compare the revision that the decision was made on.
 * P4 Scripts set, extend and compare leases by the server's clock.
 * P5 by `redisErrors.ts` and D2 of `decisions.ts`.
 */
import { randomBytes } from "node:crypto";
import { RepriseError } from "@reprise/errors";
import {
  append,
  claimKnown,
  claimQueued,
  claimRound,
  endRound,
  finish,
  type HistoryStore,
  type RunStore,
  release,
  renew,
  type SharedRecords,
  type StopReason,
  stopOf,
} from "@reprise/runtime";
import { Attempts } from "./attempts.ts";
import { AttemptWrites } from "./attemptWrites.ts";
import { Capacity } from "./capacity.ts";
import { Claims } from "./claims.ts";
import type { RedisClient } from "./connection.ts";
import { Decisions } from "./decisions.ts";
import { InstanceChannel } from "./instanceChannel.ts";
import { isWord, Keys } from "./keys.ts";
import { Listing } from "./listing.ts";
import { Notices } from "./notices.ts";
import { type CheckedStoreOptions, checkStoreOptions, type RedisStoreOptions } from "./options.ts";
import { asStoreError } from "./redisErrors.ts";
import { type HistoryParts, RedisHistory } from "./redisHistory.ts";
import { RedisRecords } from "./redisRecords.ts";
import { watchAttempt } from "./runScripts.ts";
import { RunWriter } from "./runWriter.ts";
import { runScript } from "./script.ts";
import { ServerTime } from "./storeClock.ts";
import { WaitingUse } from "./waitingUse.ts";
import { WATCHER_KEPT_MS, Watches } from "./watches.ts";

/** The Redis store of one process. */
export interface RedisStore extends RunStore {
  /** What this process is called in leases and channels. */
  readonly instance: string;
  /** Records, logs and notices that all processes of the namespace share; closed with the store. */
  readonly shared: SharedRecords;
  /** What operators see of the runs of the namespace. */
  readonly history: HistoryStore;
  /** Epoch milliseconds of the server, as its newest reply lets estimate: what all deadlines in the store are judged by. */
  now(): number;
}

/**
 * Opens the store of a namespace; any number of processes may.
 *
 * @throws RangeError, TypeError for options that can't be meant; STORE_UNAVAILABLE when Redis does not answer
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const checked = checkStoreOptions(options);
  const keys = new Keys(checked.namespace);
  const store = new NetworkStore(checked, keys, checked.connection.duplicate());
  try {
    await store.listen();
    return store;
  } catch (failure) {
    await store.close();
    throw asStoreError(failure);
  }
}

class NetworkStore implements RedisStore {
  readonly leaseMs: number;
  readonly instance: string = randomBytes(9).toString("base64url");
  readonly shared: SharedRecords;
  readonly history: HistoryStore;
  readonly #options: CheckedStoreOptions;
  readonly #keys: Keys;
  readonly #time: ServerTime;
  readonly #decisions: Decisions;
  readonly #writer: RunWriter;
  readonly #claims: Claims;
  readonly #attempts: AttemptWrites;
  readonly #capacity: Capacity;
  readonly #watches: Watches;
  readonly #listing: Listing;
  /** What this process hears from others comes over it. */
  readonly #subscriber: RedisClient;
  readonly #notices: Notices;
  #channel: InstanceChannel | undefined;
  // A count and no set of promises: see the runtime's LiveSet.
  #calls = 0;
  #whenIdle: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(options: CheckedStoreOptions, keys: Keys, subscriber: RedisClient) {
    const { clock, leaseMs, retentionMs, logger, text } = options;
    const { client } = options.connection;
    const { instance } = this;
    const time = new ServerTime(clock);
    const facts = { client, keys, time, text, instance, leaseMs, retentionMs };
    const decisions = new Decisions(facts);
    const writer = new RunWriter(facts);
    const waiting = new WaitingUse(client, keys, options, logger, clock.monotonicNow);
    const watches = new Watches(
      (runId, epoch) => this.#look(runId, epoch),
      (runId, epoch) => this.#stopOf(runId, epoch),
      clock,
    );
    const capacity = new Capacity(client, clock.monotonicNow);
    const attempts = new Attempts();
    const parts = { client, keys, time, decisions, writer, attempts, waiting, capacity, watches };
    this.leaseMs = leaseMs;
    this.#options = options;
    this.#keys = keys;
    this.#time = time;
    this.#decisions = decisions;
    this.#writer = writer;
    this.#capacity = capacity;
    this.#watches = watches;
    this.#claims = new Claims(parts);
    this.#attempts = new AttemptWrites(parts);
    this.#subscriber = subscriber;
    this.#notices = new Notices(subscriber, keys.notices, clock);
    const tracked: HistoryParts["tracked"] = (call) => this.#tracked(call);
    this.shared = new RedisRecords({
      ...{ client, keys, time, text, capacity, tracked },
      notices: this.#notices,
    });
    this.history = new RedisHistory({ client, keys, time, text, tracked });
    this.#listing = new Listing({
      client,
      keys,
      leaseMs,
      now: () => time.now(),
      read: (runId) => decisions.read(runId, false),
      noLongerWaits: (principal, runId) => waiting.ends(principal, runId),
    });
  }

  /** Subscribes, and learns the server's time. */
  async listen(): Promise<void> {
    const channel = this.#keys.channels + this.instance;
    this.#channel = await InstanceChannel.open(this.#subscriber, channel, (news, runId, epoch) => {
      if (news === "ended") this.#watches.ended(runId, epoch);
      else this.#watches.stopped(runId, epoch, news === "cancel" ? "cancelled" : "left");
    });
    // Any reading tells the time; no run has this name.
    await this.#decisions.read(`${this.instance}-time`, false);
  }

  now(): number {
    return this.#time.now();
  }

  createRun: RunStore["createRun"] = (input) => this.#tracked(() => this.#claims.createRun(input));

  claimFirst: RunStore["claimFirst"] = (input) =>
    this.#tracked(() => this.#claims.claimFirst(input));

  claimRound: RunStore["claimRound"] = (input) =>
    this.#tracked(() => {
      const answers = Object.keys(input.answers).length > 0;
      return this.#claims.claim(input.runId, answers, (run, env) => claimRound(run, input, env));
    });

  claimKnown: RunStore["claimKnown"] = (input) =>
    this.#tracked(() => {
      const sweeps = input.waiterId === undefined;
      return this.#claims.claim(input.runId, sweeps, (run, env) => claimKnown(run, input, env));
    });

  claimQueued: RunStore["claimQueued"] = (input) =>
    this.#tracked(() =>
      this.#claims.claim(input.runId, true, (run, env) => claimQueued(run, input, env)),
    );

  append: RunStore["append"] = (ref, progress) =>
    this.#tracked(() =>
      this.#attempts.progress(
        ref,
        (run, env) => append(run, ref, progress, env),
        (on, write) => this.#writer.append(on, write, false),
      ),
    );

  renew: RunStore["renew"] = (ref) =>
    this.#tracked(() =>
      this.#attempts.progress(
        ref,
        (run, env) => renew(run, ref, env),
        (on, write) => this.#writer.append(on, write, true),
      ),
    );

  endRound: RunStore["endRound"] = (ref, progress, end) =>
    this.#tracked(() =>
      this.#attempts.progress(
        ref,
        (run, env) => endRound(run, ref, progress, end, env),
        (on, write) => this.#writer.settle(on, write, "none"),
      ),
    );

  leave: RunStore["leave"] = (runId, epoch, waiterId) =>
    this.#tracked(() => this.#attempts.leave(runId, epoch, waiterId));

  retry: RunStore["retry"] = (input) => this.#tracked(() => this.#claims.retry(input));

  finish: RunStore["finish"] = (input) =>
    this.#tracked(() =>
      this.#claims.claim(input.runId, false, (run, env) => finish(run, input, env)),
    );

  release: RunStore["release"] = (runId) =>
    this.#tracked(() => this.#claims.claim(runId, false, (run, env) => release(run, env)));

  cancel: RunStore["cancel"] = (input) => this.#tracked(() => this.#attempts.cancel(input));

  watch: RunStore["watch"] = (runId, epoch, timeoutMs, signal) =>
    this.#watches.watch(runId, epoch, timeoutMs, signal);

  onStopping: RunStore["onStopping"] = (runId, epoch, listener) =>
    this.#watches.onStopping(runId, epoch, listener);

  findAbandoned: RunStore["findAbandoned"] = (limit) =>
    this.#tracked(() => this.#listing.findAbandoned(limit));

  removeExpired: RunStore["removeExpired"] = (limit) =>
    this.#tracked(() => this.#listing.removeExpired(limit));

  leadsTo: RunStore["leadsTo"] = (scope) =>
    this.#tracked(async () => {
      if (!isWord(scope)) return undefined;
      const runId = await this.#options.connection.client.get(this.#keys.idempotency(scope));
      return runId ?? undefined;
    });

  load: RunStore["load"] = (runId) =>
    this.#tracked(async () => {
      const { run } = await this.#decisions.read(runId, true);
      return run && { origin: run.origin, head: run.head, entries: run.entries() };
    });

  health: RunStore["health"] = async () => {
    if (this.#closing !== undefined) return { ok: false, reason: "the store is closed" };
    try {
      const reason = await this.#capacity.lack();
      const room = this.#capacity.room;
      const held = room === undefined ? {} : { room };
      return reason === undefined ? { ok: true, ...held } : { ok: false, reason, ...held };
    } catch (failure) {
      return { ok: false, reason: asStoreError(failure).message };
    }
  };

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watches.close();
    this.#notices.close();
    this.#channel?.close();
    this.#subscriber.disconnect();
    if (this.#calls === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  /** Whether an attempt stands, and for how long its lease lasts; Redis tells this instance when it no longer does. */
  async #look(
    runId: string,
    epoch: number,
  ): Promise<{ readonly leaseMs: number | undefined } | undefined> {
    if (!isWord(runId)) return undefined;
    const { client } = this.#options.connection;
    const reply = await runScript(client, watchAttempt, this.#keys.ofRun(runId), {
      clock: this.#time.argument,
      epoch,
      instance: this.instance,
      keptMs: WATCHER_KEPT_MS,
    });
    this.#time.note(reply.now);
    if (reply.tag === "GONE") return undefined;
    const { leaseUntil } = reply;
    return { leaseMs: leaseUntil === undefined ? undefined : leaseUntil - reply.now };
  }

  async #stopOf(runId: string, epoch: number): Promise<StopReason | undefined> {
    const head = (await this.#decisions.read(runId, false)).run?.head;
    return head && stopOf(head, epoch);
  }

  /** Runs a call that `close` waits for; what it throws becomes an error of the port. */
  async #tracked<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#closing !== undefined)
      throw new RepriseError("STORE_UNAVAILABLE", "the store is closed");
    this.#calls += 1;
    try {
      return await call();
    } catch (failure) {
      if (failure instanceof RangeError) throw failure;
      throw asStoreError(failure);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#whenIdle();
    }
  }
}
