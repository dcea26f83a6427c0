/**
 * A once attempt's side of the store: creates the record when it is first needed, numbers the transitions, keeps the lease.
 *
 * O1 The record exists from the keyed first call, the first live step or the first suspension, and only these make one.
 * O2 A write that holds an effect's result is tried again while the lease lives; any other fails at once, before its step.
 * O3 A transition is re-sent with its own sequence number until its outcome is known; nothing else is sent meanwhile.
 * O4 Once the lease is over by this process's clock, no step starts before the store has renewed it: a process that was
 *    paused may find that another instance went on.
 * O5 A stop or a cancel by another process is heard through the store within a second, or else with the next reply.
 * O6 Of a run that was cancelled elsewhere only that its attempt is over is told, once: the lease ends by itself if that fails.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { Fenced } from "./attemptOutcome.ts";
import { type Clock, pause } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { FactSink, Facts } from "./recorder.ts";
import type { RunOrigin } from "./runRecord.ts";
import type { AttemptRef, RoundEnd, RunStore, TransitionReply } from "./storePort.ts";

/** What a sink tells its attempt. */
export interface SinkEvents {
  /** Another attempt has the run. */
  fenced(): void;
  /** The last waiter has left: the stop is final. */
  stopping(): void;
  /** The run was cancelled: running steps are to be aborted. */
  cancelled(): void;
}

/** How the record comes into being, for runs that have none yet. */
export interface Creation {
  readonly origin: RunOrigin;
  readonly version: string;
  readonly token: string;
  readonly waiterId: string;
}

const RETRY_PAUSE_MS = 100;

/** One attempt's sink. */
export class OnceSink implements FactSink {
  readonly #store: RunStore;
  readonly #clock: Clock;
  #log: Logger;
  readonly #makeCreation: (() => Creation) | undefined;
  #creation: Creation | undefined;
  #events: SinkEvents = {
    fenced: () => undefined,
    stopping: () => undefined,
    cancelled: () => undefined,
  };
  #ref: AttemptRef | undefined;
  #sequence = 0;
  #leaseUntil: number;
  #cancelRenewal: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #closed = false;
  #isCancelled = false;

  /**
   * @param ref the claimed attempt; undefined while the run has no record
   * @param creation how to make the record then
   * @param claimedAt when the claim was sent: the lease runs at least from there
   */
  constructor(
    store: RunStore,
    clock: Clock,
    log: Logger,
    ref: AttemptRef | undefined,
    creation: (() => Creation) | undefined,
    claimedAt: number,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#ref = ref;
    this.#makeCreation = creation;
    this.#leaseUntil = claimedAt + store.leaseMs;
  }

  /** The attempt in the store; undefined while the run has no record. */
  get ref(): AttemptRef | undefined {
    return this.#ref;
  }

  /** Starts keeping the lease. @param log of the attempt */
  attach(events: SinkEvents, log: Logger): void {
    this.#events = events;
    this.#log = log;
    this.#keep();
  }

  write(facts: Facts, holdsEffect: boolean): Promise<void> {
    return this.#send(facts, undefined, holdsEffect);
  }

  /** See O4. Rejects with Fenced or a store error. */
  confirm(): Promise<void> | undefined {
    const ref = this.#ref;
    if (ref === undefined || this.#clock.monotonic() < this.#leaseUntil) return undefined;
    return this.#confirm(ref);
  }

  async #confirm(ref: AttemptRef): Promise<void> {
    const sentAt = this.#clock.monotonic();
    this.#accept(await this.#store.renew(ref));
    this.#leaseUntil = sentAt + this.#store.leaseMs;
  }

  /** Records the end of the round; tried again while the lease lives. Rejects with Fenced or a store error. */
  async end(facts: Facts, end: RoundEnd): Promise<void> {
    await this.#send(facts, end, true);
    this.close();
  }

  /** Whether another process has cancelled the run, as far as is known. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** How long the lease lasts by this process's clock. */
  get leaseLeftMs(): number {
    return Math.max(0, this.#leaseUntil - this.#clock.monotonic());
  }

  /** Leaves a run that was cancelled elsewhere to whoever undoes it (O6). False: nobody has it before the lease ends. Never rejects. */
  async handOver(): Promise<boolean> {
    const ref = this.#ref;
    this.close();
    if (ref === undefined || !this.#isCancelled) return false;
    const nothing = { entries: [], marks: {}, settled: {}, stepStarts: false };
    const progress = { ...nothing, sequence: this.#sequence + 1 };
    try {
      return (await this.#store.endRound(ref, progress, { to: "released" })).tag === "OK";
    } catch (error) {
      this.#log.warn({ err: error, run: ref.runId }, "a cancelled run could not be handed over");
      return false;
    }
  }

  /** Gives an attempt back that has not begun. Tried once: if it fails, the lease ends by itself. Never rejects. */
  async release(): Promise<void> {
    const ref = this.#ref;
    this.close();
    if (ref === undefined) return;
    const nothing = { sequence: 1, entries: [], marks: {}, settled: {}, stepStarts: false };
    try {
      await this.#store.endRound(ref, nothing, { to: "released" });
    } catch (error) {
      this.#log.warn({ err: error, run: ref.runId }, "a run could not be given back");
    }
  }

  /** No more renewals. */
  close(): void {
    this.#closed = true;
    this.#cancelRenewal?.();
    this.#stopListening?.();
  }

  async #send(facts: Facts, end: RoundEnd | undefined, persistent: boolean): Promise<void> {
    const progress = { ...facts, sequence: this.#sequence + 1 };
    for (;;) {
      const sentAt = this.#clock.monotonic();
      try {
        const ref = this.#ref;
        if (ref === undefined) await this.#create(progress, end);
        else if (end === undefined) this.#accept(await this.#store.append(ref, progress));
        else this.#accept(await this.#store.endRound(ref, progress, end));
        this.#sequence = progress.sequence;
        this.#leaseUntil = sentAt + this.#store.leaseMs;
        return;
      } catch (error) {
        const mayRetry =
          persistent &&
          isRepriseError(error) &&
          error.spec.retryable &&
          this.#clock.monotonic() < this.#leaseUntil;
        if (!mayRetry || error.code === "TOO_MANY_WAITING_RUNS") throw error;
        this.#log.warn(
          { err: error, run: this.#ref?.runId },
          "a write is held and tried again while the lease lives",
        );
        await pause(this.#clock, RETRY_PAUSE_MS);
      }
    }
  }

  async #create(
    progress: Facts & { readonly sequence: number },
    end: RoundEnd | undefined,
  ): Promise<void> {
    // Made once: a re-send must carry the same token (P3).
    this.#creation ??= this.#makeCreation?.();
    const creation = this.#creation;
    if (creation === undefined)
      throw new Error("an attempt without a record needs a way to make one");
    const { version, token, waiterId } = creation;
    const reply = await this.#store.createRun({
      origin: creation.origin,
      version,
      token,
      waiterId,
      progress,
      ...(end === undefined ? {} : { end }),
    });
    if (reply.tag === "TOO_MANY_WAITING") {
      throw new RepriseError(
        "TOO_MANY_WAITING_RUNS",
        `you have ${reply.limit} runs waiting for answers, which is the limit`,
        {
          data: { limit: reply.limit, retryAfterMs: 10_000 },
        },
      );
    }
    if (reply.tag === "EXISTS") throw new Fenced("the run id is taken");
    this.#ref = reply.ref;
    if (end === undefined) this.#keep();
  }

  #accept(reply: TransitionReply): void {
    if (reply.tag === "CANCELLED") {
      this.#cancelled();
      throw new Fenced("the run was cancelled");
    }
    if (reply.tag === "LEASE_LOST") throw new Fenced("the lease is lost");
    if (reply.stopping) this.#events.stopping();
  }

  #cancelled(): void {
    this.#isCancelled = true;
    this.#events.cancelled();
  }

  #keep(): void {
    const ref = this.#ref;
    if (ref === undefined || this.#closed) return;
    this.#stopListening = this.#store.onStopping(ref.runId, ref.epoch, (why) => {
      if (this.#closed) return;
      if (why === "cancelled") this.#cancelled();
      else this.#events.stopping();
    });
    this.#scheduleRenewal();
  }

  #scheduleRenewal(): void {
    if (this.#closed) return;
    this.#cancelRenewal?.();
    this.#cancelRenewal = this.#clock.after(this.#store.leaseMs / 3, () => {
      void this.#renew();
    });
  }

  async #renew(): Promise<void> {
    const ref = this.#ref;
    if (this.#closed || ref === undefined) return;
    const sentAt = this.#clock.monotonic();
    try {
      const reply = await this.#store.renew(ref);
      if (this.#closed) return;
      if (reply.tag !== "OK") {
        this.close();
        if (reply.tag === "CANCELLED") this.#cancelled();
        else this.#events.fenced();
        return;
      }
      this.#leaseUntil = sentAt + this.#store.leaseMs;
      if (reply.stopping) this.#events.stopping();
    } catch (error) {
      // The store is away: the lease runs on, and whether it was lost is known at the next write.
      this.#log.warn({ err: error, run: ref.runId }, "the lease could not be renewed");
    }
    this.#scheduleRenewal();
  }
}
