/**
 * Requests of once runs: claim, join or answer from the record (docs/design.md 4.2, 4.3, 3.6).
 *
 * L1 A request that can't claim waits for whoever has the round, bounded, and looks again; it never executes beside it.
 * L2 A request that is gone leaves its attempt; only the last to leave stops it (4.5).
 * L3 A recorded question is sealed anew, and only for a client that can answer it.
 * L4 A first call that joined an attempt gets that attempt's outcome; only a call that comes after a failure goes on from it.
 */
import { RepriseError } from "@reprise/errors";
import { missingCapabilities } from "@reprise/protocol";
import type { Answers } from "./answers.ts";
import { pause } from "./clock.ts";
import { type EngineDeps, runnable, stateExpiry } from "./engineDeps.ts";
import { idempotencyOf } from "./idempotency.ts";
import { growing } from "./notifications.ts";
import { type OnceOutcome, type RunningOnce, startOnce } from "./onceAttempt.ts";
import { type Creation, OnceSink } from "./onceSink.ts";
import {
  answerSettled,
  inFlight,
  inputRequestsOf,
  replyOfRecorded,
  runLost,
  runParked,
} from "./replies.ts";
import { newOrigin } from "./runOrigin.ts";
import type { RunHead, RunOrigin } from "./runRecord.ts";
import type { NotificationSink, RunReply, RunRequest } from "./runtimeTypes.ts";
import type { OnceState } from "./stateTokens.ts";
import type { ClaimCommon, ClaimReply, RunStore } from "./storePort.ts";

/** What a retry brought. */
export interface OpenedOnce {
  readonly state: OnceState;
  readonly expired: boolean;
}

/** How long a request waits before it looks again at an attempt that is being stopped. */
const STOPPING_PAUSE_MS = 25;

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
    if (idempotency === undefined) return visit.unrecorded();
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

/** One request's way through the records. */
class Visit {
  readonly #deps: EngineDeps;
  readonly #store: RunStore;
  readonly #request: RunRequest;
  readonly #notifications: NotificationSink | undefined;
  readonly #deadline: number;
  #waiterId: string | undefined;

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
    };
  }

  /** A first call without a key: nothing is recorded until there is something to record. */
  async unrecorded(): Promise<RunReply> {
    const { clock, random, log } = this.#deps;
    const request = this.#request;
    const startedAt = clock.now();
    let origin: RunOrigin | undefined;
    const originOf = (): RunOrigin => {
      origin ??= newOrigin(this.#deps, request, random(), startedAt, undefined);
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
    return this.#ended(await this.#attended(running, sink), originOf);
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
          await this.#waitFor(reply);
          // A joined first call gets what it joined, also a failure; a claim of its own would run that again (L4).
          if (isFirstCall) claim = this.#byId(reply.runId);
          break;
        case "RECORDED":
          return this.#recorded(reply.origin, reply.head);
        case "SETTLED":
          throw answerSettled(reply);
        case "PARKED":
          throw runParked(reply.origin.runId, reply.head.round);
        case "LOST":
          this.#deps.log.error(
            {
              event: "run_lost",
              reason: reply.reason,
              method: this.#request.method,
              target: this.#request.target,
              principal: this.#request.caller.principal,
            },
            "a request named a run whose record is missing or older",
          );
          throw runLost(reply.reason);
        case "EXPIRED":
          throw this.#deps.tokens.refuse("expired", this.#request);
        case "OTHER_ARGUMENTS":
          throw new RepriseError(
            "IDEMPOTENCY_CONFLICT",
            "this idempotency key was used with other arguments",
          );
        case "OTHER_CALLER":
          throw reply.done
            ? new RepriseError("ALREADY_DONE", "another caller's run did this already")
            : new RepriseError("ALREADY_RUNNING", "another caller's run is doing this", {
                data: { retryAfterMs: 5000 },
              });
        case "TOO_MANY_WAITING":
          throw new RepriseError(
            "TOO_MANY_WAITING_RUNS",
            `you have ${reply.limit} runs waiting for answers, which is the limit`,
            {
              data: { limit: reply.limit, retryAfterMs: 10_000 },
            },
          );
      }
    }
  }

  #byId(runId: string): Claim {
    return () => this.#store.claimKnown({ ...this.common(), runId, waiterId: this.waiterId });
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

  /** Waits until the attempt has ended, in bounds (L1). */
  async #waitFor(reply: Extract<ClaimReply, { tag: "RUNNING" }>): Promise<void> {
    const { runId, epoch, round, joined } = reply;
    const left = this.#deadline - this.#deps.clock.monotonic();
    if (left <= 0) throw inFlight(runId, round);
    const gone = new AbortController();
    if (this.#request.isGone) gone.abort();
    const stopListening = this.#request.onGone(() => gone.abort());
    try {
      // An attempt that is being stopped takes no waiter and ends no watch: looking again at once would spin.
      if (!joined) await pause(this.#deps.clock, STOPPING_PAUSE_MS, gone.signal);
      await this.#store.watch(runId, epoch, left, gone.signal);
    } finally {
      stopListening();
    }
    if (!this.#request.isGone) return;
    if (joined) await this.#store.leave(runId, epoch, this.waiterId);
    throw new RepriseError("INTERRUPTED", "the request is gone");
  }

  async #ended(outcome: OnceOutcome, origin: () => RunOrigin): Promise<RunReply> {
    switch (outcome.kind) {
      case "recorded":
        return replyOfRecorded(outcome.response);
      case "suspended": {
        const { pending, round, stateExpiresAt } = outcome;
        return this.#question(origin().runId, round, pending, stateExpiresAt);
      }
      case "failed":
        throw outcome.error;
      case "fenced":
        return this.follow(this.#byId(origin().runId));
    }
  }

  async #recorded(origin: RunOrigin, head: RunHead): Promise<RunReply> {
    const { response } = head;
    if (response === undefined) throw inFlight(origin.runId, head.round);
    if (response.kind !== "question") return replyOfRecorded(response);
    for (const ask of head.pending) {
      const required = missingCapabilities(
        ask.wire as Parameters<typeof missingCapabilities>[0],
        this.#request.client.capabilities,
      );
      if (required !== undefined) {
        throw new RepriseError(
          "MISSING_CAPABILITY",
          "the client did not declare a capability that the open question needs",
          {
            data: { requiredCapabilities: required },
          },
        );
      }
    }
    return this.#question(origin.runId, head.round, head.pending, head.stateExpiresAt);
  }

  async #question(
    runId: string,
    round: number,
    pending: RunHead["pending"],
    answerBeforeMs: number,
  ): Promise<RunReply> {
    const { tokens } = this.#deps;
    const state: OnceState = {
      kind: "once",
      run: runId,
      round,
      asked: pending.map((ask) => ask.asked),
    };
    const requestState = await tokens.seal(state, tokens.bindingOf(this.#request), answerBeforeMs);
    return {
      kind: "input_required",
      inputRequests: inputRequestsOf(pending),
      requestState,
      answerBeforeMs,
    };
  }
}
