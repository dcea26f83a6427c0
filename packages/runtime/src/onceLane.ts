/**
 * Requests of once runs: claim, join or answer from the record (docs/design.md 4.2, 4.3, 3.6).
 *
 * L1 A request that can't claim waits for whoever has the round, bounded, and looks again; it never executes beside it.
 * L2 A request that is gone leaves its attempt; only the last to leave stops it (4.5).
 * L3 A recorded question is sealed anew, and only for a client that can answer it.
 * L4 A first call that joined an attempt gets that attempt's outcome; only a call that comes after a failure goes on from it.
 */
import type { Answers } from "./answers.ts";
import { refusalOf } from "./claimRefusals.ts";
import { pause } from "./clock.ts";
import type { Dispatcher, QueuedJob } from "./dispatcher.ts";
import { type EngineDeps, runnable, stateExpiry } from "./engineDeps.ts";
import { idempotencyOf } from "./idempotency.ts";
import { growing } from "./notifications.ts";
import { type OnceOutcome, type RunningOnce, startOnce } from "./onceAttempt.ts";
import { type Creation, OnceSink } from "./onceSink.ts";
import { called, Deaths, remoteCallOf, replyOf, runJobOf } from "./pooled.ts";
import { questionReply, recordedReply } from "./recordedReply.ts";
import { inFlight, replyOfRecorded } from "./replies.ts";
import { newOrigin } from "./runOrigin.ts";
import type { RunOrigin } from "./runRecord.ts";
import type { NotificationSink, RunReply, RunRequest } from "./runtimeTypes.ts";
import type { OnceState } from "./stateTokens.ts";
import type { ClaimCommon, ClaimReply, RunStore } from "./storePort.ts";
import { type Awaited, untilOver } from "./waiting.ts";

/** What a retry brought. */
export interface OpenedOnce {
  readonly state: OnceState;
  readonly expired: boolean;
}

/** Longest wait for a queued attempt before the record is looked at again; its end is no deadline. */
const LOOK_AGAIN_MS = 3_600_000;
/** How long an attempt that no worker took waits before it is put into the queue again. */
const REQUEUE_PAUSE_MS = 500;

type Claim = () => Promise<ClaimReply>;

/** Executes one request. Rejects with RepriseErrors that are replies. */
export async function executeOnce(
  deps: EngineDeps,
  store: RunStore,
  request: RunRequest,
  answers: Answers,
  opened: OpenedOnce | undefined,
): Promise<RunReply> {
  const visit = new Visit(deps, store, request);
  if (opened === undefined) {
    const idempotency = idempotencyOf(deps, request);
    if (idempotency === undefined) {
      const { dispatcher } = deps;
      return dispatcher === undefined ? visit.unrecorded() : visit.called(dispatcher);
    }
    const claim: Claim = () =>
      store.claimFirst({
        ...visit.common(),
        ...idempotency,
        principal: request.caller.principal,
        newOrigin: (runId, generation, now) =>
          newOrigin(deps, request, runId, now, {
            scope: idempotency.scope,
            generation,
            argsDigest: idempotency.argsDigest,
          }),
        idSuffix: deps.random(),
        waiterId: visit.waiterId,
      });
    return visit.follow(claim, true);
  }
  const { run, round, asked } = opened.state;
  return visit.follow(() =>
    store.claimRound({
      ...visit.common(),
      runId: run,
      round,
      asked,
      answers,
      stateExpired: opened.expired,
      waiterId: visit.waiterId,
    }),
  );
}

/**
 * Executes a first call without a key for a front that waits for it elsewhere. Undefined: another attempt has the run of that
 * id. Rejects with RepriseErrors that are replies.
 */
export function executeFirstOnce(
  deps: EngineDeps,
  store: RunStore,
  request: RunRequest,
  runId: string,
): Promise<RunReply | undefined> {
  return new Visit(deps, store, request).first(() => runId);
}

/** One request's way through the records. */
class Visit {
  readonly #deps: EngineDeps;
  readonly #store: RunStore;
  readonly #request: RunRequest;
  readonly #notifications: NotificationSink | undefined;
  readonly #deadline: number;
  #waiterId: string | undefined;
  /** The attempt that this request has queued. */
  #queuedEpoch: number | undefined;
  /** The attempt that was put into the queue last, by whomever it was recorded. */
  #enqueuedEpoch: number | undefined;

  constructor(deps: EngineDeps, store: RunStore, request: RunRequest) {
    this.#deps = deps;
    this.#store = store;
    this.#request = request;
    this.#notifications = growing(request.notifications);
    this.#deadline = deps.clock.monotonic() + deps.joinTimeoutMs;
  }

  /** This request among those that wait for an attempt. */
  get waiterId(): string {
    this.#waiterId ??= this.#deps.random();
    return this.#waiterId;
  }

  common(): ClaimCommon {
    const handler = runnable(this.#request);
    return {
      version: handler.version,
      token: this.#deps.random(),
      stateExpiresAt: stateExpiry(this.#deps, handler),
      ...(this.#deps.dispatcher === undefined ? {} : { queue: true }),
    };
  }

  /** A first call without a key, executed by a worker. Until there is a record, nothing of it can have happened. */
  async called(dispatcher: Dispatcher): Promise<RunReply> {
    const call = remoteCallOf(this.#request, this.#deps.random());
    const deaths = new Deaths();
    for (;;) {
      const reply = await called(this.#deps, dispatcher, this.#request, call, this.#notifications);
      if (reply.kind !== "unanswered") return replyOf(reply);
      const isRecorded = (await this.#store.load(call.runId)) !== undefined;
      if (isRecorded) return this.follow(this.#byId(call.runId));
      // A worker that was only paused finds the id taken, should it want to record something after all.
      deaths.count(reply);
    }
  }

  /** A first call without a key: nothing is recorded until there is something to record. */
  async unrecorded(): Promise<RunReply> {
    let drawn: string | undefined;
    // Drawn when it is needed: most runs never have a record.
    const runId = (): string => {
      drawn ??= this.#deps.random();
      return drawn;
    };
    return (await this.first(runId)) ?? this.follow(this.#byId(runId()));
  }

  /** Undefined when another attempt has the run of that id. */
  async first(runId: () => string): Promise<RunReply | undefined> {
    const { clock, random, log } = this.#deps;
    const request = this.#request;
    const startedAt = clock.now();
    let origin: RunOrigin | undefined;
    const originOf = (): RunOrigin => {
      origin ??= newOrigin(this.#deps, request, runId(), startedAt, undefined);
      return origin;
    };
    // Drawn when the record is made: most runs never have one.
    const creation = (): Creation => ({
      origin: originOf(),
      version: runnable(request).version,
      token: random(),
      waiterId: this.waiterId,
    });
    const sink = new OnceSink(this.#store, clock, log, undefined, creation, clock.monotonic());
    const running = startOnce(this.#deps, sink, {
      handler: runnable(request),
      args: request.args,
      target: request.target,
      origin: originOf,
      startedAt,
      head: undefined,
      entries: [],
      caller: request.caller,
      client: request.client,
      notifications: this.#notifications,
      logLevel: request.logLevel,
    });
    const outcome = await this.#attended(running, sink);
    return outcome.kind === "fenced" ? undefined : this.#ended(outcome, originOf);
  }

  /** Claims until there is a reply. */
  async follow(first: Claim, isFirstCall = false): Promise<RunReply> {
    let claim = first;
    for (;;) {
      const claimedAt = this.#deps.clock.monotonic();
      const reply = await claim();
      switch (reply.tag) {
        case "CLAIMED": {
          const { record, ref } = reply;
          const sink = new OnceSink(
            this.#store,
            this.#deps.clock,
            this.#deps.log,
            ref,
            undefined,
            claimedAt,
          );
          const running = startOnce(this.#deps, sink, {
            handler: runnable(this.#request),
            args: this.#request.args,
            target: this.#request.target,
            origin: () => record.origin,
            startedAt: record.origin.startedAt,
            head: record.head,
            entries: record.entries,
            caller: this.#request.caller,
            client: this.#request.client,
            notifications: this.#notifications,
            logLevel: this.#request.logLevel,
          });
          const outcome = await this.#attended(running, sink);
          if (outcome.kind !== "fenced") return this.#ended(outcome, () => record.origin);
          claim = this.#byId(record.origin.runId);
          break;
        }
        case "RUNNING":
          await this.#waitFor(reply, reply.queued ? await this.#enqueued(reply) : undefined);
          // A joined first call gets what it joined, also a failure; a claim of its own would run that again (L4).
          if (isFirstCall && !this.#isOwn(reply.epoch)) claim = this.#byId(reply.runId);
          break;
        case "QUEUED": {
          const job = await this.#enqueued(reply, reply.origin);
          this.#queuedEpoch = reply.epoch;
          await this.#waitFor({ ...reply, joined: true }, job);
          claim = this.#byId(reply.runId, reply.epoch);
          break;
        }
        case "RECORDED":
          return recordedReply(this.#deps, this.#request, reply.origin, reply.head);
        default:
          throw refusalOf(this.#deps, this.#request, reply);
      }
    }
  }

  /** @param seen the attempt that this request queued: its end is what it gets */
  #byId(runId: string, seen?: number): Claim {
    const { waiterId } = this;
    const from = seen === undefined ? {} : { seen };
    return () => this.#store.claimKnown({ ...this.common(), runId, waiterId, ...from });
  }

  /** Runs the attempt; a request that goes away meanwhile leaves it (L2). */
  async #attended(running: RunningOnce, sink: OnceSink): Promise<OnceOutcome> {
    const onGone = (): void => {
      void this.#leave(running, sink);
    };
    if (this.#request.isGone) {
      onGone();
      return running.outcome;
    }
    const stopListening = this.#request.onGone(onGone);
    try {
      return await running.outcome;
    } finally {
      stopListening();
    }
  }

  async #leave(running: RunningOnce, sink: OnceSink): Promise<void> {
    const { ref } = sink;
    // Without a record nobody else can be waiting.
    if (ref === undefined) return running.stop();
    try {
      const { stopping } = await this.#store.leave(ref.runId, ref.epoch, this.waiterId);
      if (stopping) running.stop();
    } catch (error) {
      this.#deps.log.warn(
        { err: error, run: ref.runId },
        "a request is gone and could not leave its run; the attempt goes on",
      );
    }
  }

  /** Waits until the attempt has ended (L1). What this request has queued itself is its own, and has no bound. */
  async #waitFor(attempt: Awaited & { readonly round: number }, job?: QueuedJob): Promise<void> {
    const { runId, epoch, round } = attempt;
    const { clock } = this.#deps;
    const left = this.#isOwn(epoch) ? LOOK_AGAIN_MS : this.#deadline - clock.monotonic();
    if (left <= 0) throw inFlight(runId, round);
    await untilOver(this.#deps, this.#store, this.#request, this.waiterId, attempt, left, job);
  }

  /** The job of a queued attempt; undefined where there is none. */
  async #enqueued(
    attempt: { readonly runId: string; readonly round: number; readonly epoch: number },
    origin?: RunOrigin,
  ): Promise<QueuedJob | undefined> {
    const { dispatcher, clock } = this.#deps;
    // Its job ended and nobody took it: a worker drains, or has another release, or jobs can't be carried now.
    if (this.#enqueuedEpoch === attempt.epoch) await pause(clock, REQUEUE_PAUSE_MS);
    this.#enqueuedEpoch = attempt.epoch;
    return dispatcher?.enqueue(runJobOf(this.#request, attempt, origin), this.#notifications);
  }

  #isOwn(epoch: number): boolean {
    return this.#queuedEpoch === epoch;
  }

  async #ended(outcome: OnceOutcome, origin: () => RunOrigin): Promise<RunReply> {
    switch (outcome.kind) {
      case "recorded":
        return replyOfRecorded(outcome.response);
      case "suspended": {
        const { pending, round, stateExpiresAt } = outcome;
        return questionReply(
          this.#deps,
          this.#request,
          origin().runId,
          round,
          pending,
          stateExpiresAt,
        );
      }
      case "failed":
        throw outcome.error;
      case "fenced":
        return this.follow(this.#byId(origin().runId));
    }
  }
}
