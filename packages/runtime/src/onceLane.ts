/**
 * Requests of once runs: claim, join or answer from the record (docs/design.md 4.2, 4.3, 3.6).
 *
 * L1 A request that can't claim waits for whoever has the round, bounded, and looks again; it never executes beside it.
 * L2 A request that is gone leaves its attempt; only the last to leave stops it (4.5).
 * L3 A recorded question is sealed anew, and only for a client that can answer it.
 * L4 A request whose run is cancelled executes nothing of it any more, and gets the end that was recorded first.
 * L5 A first call that joined an attempt gets that attempt's outcome; only a call that comes after a failure goes on from it.
 */
import type { Answers } from "./answers.ts";
import type { Attempt } from "./attempt.ts";
import { begunBy } from "./attemptReporter.ts";
import { cancelRecorded, onCancelled } from "./cancellation.ts";
import { refusalOf } from "./claimRefusals.ts";
import { pause } from "./clock.ts";
import type { Dispatcher, QueuedJob } from "./dispatcher.ts";
import { type EngineDeps, runnable, stateExpiry } from "./engineDeps.ts";
import { idempotencyOf } from "./idempotency.ts";
import { growing } from "./notifications.ts";
import { isElsewhere, type OnceOutcome, type RunningOnce, startOnce } from "./onceAttempt.ts";
import { type Creation, OnceSink } from "./onceSink.ts";
import { called, Deaths, remoteCallOf, replyOf, runJobOf } from "./pooled.ts";
import { questionReply, recordedReply } from "./recordedReply.ts";
import { inFlight, replyOfRecorded, runCancelled } from "./replies.ts";
import { newOrigin } from "./runOrigin.ts";
import type { RunOrigin, RunRecord } from "./runRecord.ts";
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

/** How the first claim of a request is followed. */
interface Following {
  /** It is a first call with a key (L5). */
  readonly isFirstCall?: boolean;
  /** What to do when there is no such run. Default: it is lost. */
  readonly begin?: () => Promise<RunReply>;
}

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
    if (idempotency === undefined) return visit.unkeyed();
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
    return visit.follow(claim, { isFirstCall: true });
  }
  const { run, round, asked } = opened.state;
  if (request.cancelled?.aborted === true) await cancelRecorded(deps, store, request, run);
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

function isMissing(reply: ClaimReply): boolean {
  return reply.tag === "LOST" && reply.reason === "missing";
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

  /** A first call without a key; one that may have come before looks for its run first. */
  unkeyed(): Promise<RunReply> {
    const { dispatcher } = this.#deps;
    const { runId, mayExist } = this.#request;
    const begin = (): Promise<RunReply> =>
      dispatcher === undefined ? this.#unrecorded() : this.#called(dispatcher);
    if (mayExist !== true || runId === undefined) return begin();
    return this.follow(this.#byId(runId), { begin });
  }

  /** Executed by a worker. Until there is a record, nothing of it can have happened. */
  async #called(dispatcher: Dispatcher): Promise<RunReply> {
    const request = this.#request;
    const call = remoteCallOf(request, request.runId ?? this.#deps.random());
    const deaths = new Deaths();
    // The worker hears of it as well: this is for one that has made the record and can't hear.
    const stopHearing = onCancelled(request, () => {
      void cancelRecorded(this.#deps, this.#store, request, call.runId);
    });
    try {
      for (;;) {
        const reply = await called(this.#deps, dispatcher, request, call, this.#notifications);
        if (reply.kind !== "unanswered") return replyOf(reply);
        const isRecorded = (await this.#store.load(call.runId)) !== undefined;
        if (isRecorded) return await this.follow(this.#byId(call.runId));
        if (request.cancelled?.aborted === true) throw runCancelled(call.runId);
        // A worker that was only paused finds the id taken, should it want to record something after all.
        deaths.count(reply);
      }
    } finally {
      stopHearing();
    }
  }

  /** Nothing is recorded until there is something to record. */
  async #unrecorded(): Promise<RunReply> {
    let drawn = this.#request.runId;
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
      rests: this.#keeps,
      begun: () => begunBy(request),
    });
    const outcome = await this.#attended(running, sink);
    return isElsewhere(outcome) ? undefined : this.#ended(outcome, originOf);
  }

  /** Claims until there is a reply. */
  async follow(first: Claim, { isFirstCall = false, begin }: Following = {}): Promise<RunReply> {
    let claim = first;
    for (;;) {
      const claimedAt = this.#deps.clock.monotonic();
      const reply = await claim();
      if (begin !== undefined && claim === first && isMissing(reply)) return begin();
      // Somebody else has the run, or it has ended: a handler that waits here is of no use any more.
      if (reply.tag !== "CLAIMED" && "runId" in reply) this.#deps.resting.drop(reply.runId);
      switch (reply.tag) {
        case "CLAIMED": {
          const { record, ref } = reply;
          const { clock, log } = this.#deps;
          const sink = new OnceSink(this.#store, clock, log, ref, undefined, claimedAt);
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
            rests: this.#keeps,
            resting: this.#resting(record),
            begun: () => begunBy(this.#request, reply),
          });
          const outcome = await this.#attended(running, sink);
          if (!isElsewhere(outcome)) return this.#ended(outcome, () => record.origin);
          claim = this.#byId(record.origin.runId);
          break;
        }
        case "RUNNING":
          await this.#waitFor(reply, reply.queued ? await this.#enqueued(reply) : undefined);
          // A joined first call gets what it joined, also a failure; a claim of its own would run that again (L5).
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
          // What it queued itself was executed for it.
          if (!this.#isOwn(reply.head.epoch)) this.#deps.reporter?.replayed(reply);
          return recordedReply(this.#deps, this.#request, reply.origin, reply.head);
        default:
          throw refusalOf(this.#deps, this.#request, reply);
      }
    }
  }

  /** Whether a handler that asks stays: only this process's own ones can. */
  get #keeps(): boolean {
    return this.#request.keepsHandler === true && this.#deps.dispatcher === undefined;
  }

  /** The handler that waits in this process for the round that was claimed. */
  #resting({ origin, head, entries }: RunRecord): Attempt | undefined {
    const { resting } = this.#deps;
    if (!this.#keeps) resting.drop(origin.runId);
    return resting.take(origin.runId, head.round, entries.length);
  }

  /** @param seen the attempt that this request queued: its end is what it gets */
  #byId(runId: string, seen?: number): Claim {
    const { waiterId } = this;
    const from = seen === undefined ? {} : { seen };
    const { principal } = this.#request.caller;
    return () => this.#store.claimKnown({ ...this.common(), runId, waiterId, principal, ...from });
  }

  /** Runs the attempt; a request that goes away meanwhile leaves it (L2). */
  async #attended(running: RunningOnce, sink: OnceSink): Promise<OnceOutcome> {
    const request = this.#request;
    const onGone = (): void => {
      void this.#leave(running, sink);
    };
    const stopHearing = onCancelled(request, () => running.cancel());
    let stopListening = (): void => undefined;
    if (request.isGone) onGone();
    else stopListening = request.onGone(onGone);
    try {
      return await running.outcome;
    } finally {
      stopListening();
      stopHearing();
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
    const request = this.#request;
    const stopHearing = onCancelled(request, () => {
      void cancelRecorded(this.#deps, this.#store, request, runId);
    });
    try {
      await untilOver(this.#deps, this.#store, request, this.waiterId, attempt, left, job);
    } finally {
      stopHearing();
    }
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
      case "undoing":
        return this.follow(this.#byId(origin().runId));
    }
  }
}
