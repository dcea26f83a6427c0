/**
 * The engine: one runtime over a server definition, a store, and keys for request states.
 *
 * E1 `execute` never rejects; whatever goes wrong is a reply.
 * E2 A state decides the lane of its run: once or repeatable is sealed in it (docs/design.md 4.1).
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { immediateTurns } from "@reprise/journal";
import { comparable, readAnswers, withClientErrors } from "./answers.ts";
import { cancelRun } from "./cancellation.ts";
import { type Change, Changes } from "./changes.ts";
import { checkedHistory } from "./checkedHistory.ts";
import { type Clock, systemClock } from "./clock.ts";
import { compileServer } from "./compile.ts";
import type { ServerDefinition } from "./definition.ts";
import type { CallReply, Executor, RemoteCall, RunJob, Sender } from "./dispatcher.ts";
import { durationMs } from "./duration.ts";
import { Elicitations } from "./elicitations.ts";
import { drained, type EngineDeps, runnable, warnOfSchemas } from "./engineDeps.ts";
import type { HistoryStore } from "./historyPort.ts";
import { type HistoryRecorder, recorderOf } from "./historyRecorder.ts";
import { HistoryTidy } from "./historyTidy.ts";
import { LiveSet } from "./liveSet.ts";
import { silentLogger } from "./logger.ts";
import { executeOnce } from "./onceLane.ts";
import { createOperator } from "./operator.ts";
import { carried, executePooled } from "./pooled.ts";
import { createProcessRecords } from "./processRecords.ts";
import { randomText } from "./randomText.ts";
import { defaultRateLimit, RateLimiter } from "./rateLimit.ts";
import { executeRepeatable } from "./repeatableLane.ts";
import { runCancelled } from "./replies.ts";
import { RestingAttempts } from "./restingAttempts.ts";
import { RunReporter } from "./runReporter.ts";
import { type RuntimeOptions, runtimeDefaults } from "./runtimeOptions.ts";
import type {
  CancelOptions,
  CancelOutcome,
  NotificationSink,
  RunReply,
  RunRequest,
  Runtime,
} from "./runtimeTypes.ts";
import { attach } from "./served.ts";
import type { SharedRecords } from "./sharedRecords.ts";
import { type RepeatableState, type StateSealer, StateTokens } from "./stateTokens.ts";
import { guardUnhandledSuspensions } from "./suspension.ts";
import { Sweeper } from "./sweep.ts";
import { Switches } from "./switches.ts";
import { executeCall, executeQueued } from "./work.ts";

/**
 * Makes a runtime.
 * @throws RepriseError DEFINITION_INVALID, SCHEMA_UNSUPPORTED or CONFIG_INVALID
 */
export function createRuntime(options: RuntimeOptions): Runtime & Executor {
  guardUnhandledSuspensions();
  const settings = { ...runtimeDefaults, ...withoutUndefined(options) };
  const catalog = compileServer(options.server);
  const clock = options.clock ?? systemClock;
  const log = options.logger ?? silentLogger;
  warnOfSchemas(log, catalog.risks);
  const audience = `${options.namespace ?? "reprise"} ${options.server.name}`;
  const store = options.store === "none" ? undefined : options.store;
  if (store === undefined) requireNoKeys(options.server);
  const draining = { isSet: false };
  const attempts: EngineDeps["attempts"] = new LiveSet();
  const instance = options.instance ?? randomText();
  const recorder = recorderOf(options, {
    ...{ clock, log, instance, running: attempts },
    isDraining: () => draining.isSet,
  });
  const observers = [...(options.observers ?? []), ...(recorder === undefined ? [] : [recorder])];
  const reporter =
    observers.length === 0 ? undefined : new RunReporter(observers, instance, clock, log);
  const shared = options.shared ?? createProcessRecords(() => clock.now());
  const changes = new Changes(shared, clock, log);
  const isAlone = options.shared === undefined;
  const parts = { catalog, shared, changes, clock, log, audience, isAlone };
  const switches = new Switches(parts);
  const deps: EngineDeps = {
    catalog,
    store,
    dispatcher: options.dispatcher,
    tokens: new StateTokens(
      options.sealer,
      audience,
      clock,
      log,
      settings.maxRequestStateBytes,
      reporter,
    ),
    clock,
    turn: options.turn ?? immediateTurns,
    log,
    audience,
    elicitations: new Elicitations(shared, changes, clock, log),
    requestStateLifetimeMs: durationMs(
      options.requestStateLifetime ?? "24h",
      "requestStateLifetime",
    ),
    replayStallMs: settings.replayStallMs,
    settleGraceMs: settings.settleGraceMs,
    joinTimeoutMs: settings.joinTimeoutMs,
    random: options.random ?? randomText,
    isDraining: () => draining.isSet,
    attempts,
    reporter,
    look: (runId) => void sweeper?.look(runId),
    resting: new RestingAttempts(clock),
  };
  const { rateLimit = defaultRateLimit } = options;
  const limiter = rateLimit === "none" ? undefined : new RateLimiter(rateLimit, clock);
  const tidy = store && options.history && new HistoryTidy(options.history, store, clock);
  // Last: what is refused above must leave nothing running.
  const sweeper =
    store === undefined || options.sweep === false ? undefined : new Sweeper(deps, store, tidy);
  sweeper?.start();
  recorder?.start();
  const history = options.history && checkedHistory(options.history, store, () => clock.now());
  const beside = { shared, changes, switches, recorder, history };
  const engine = new Engine(deps, settings, limiter, sweeper, draining, beside, options.sealer);
  engine.attachTo(options.server);
  return engine;
}

/** What an engine has besides runs. */
interface Beside {
  readonly shared: SharedRecords;
  readonly changes: Changes;
  readonly switches: Switches;
  readonly recorder: HistoryRecorder | undefined;
  readonly history: HistoryStore | undefined;
}

class Engine implements Runtime, Executor {
  readonly catalog: Runtime["catalog"];
  readonly shared: SharedRecords;
  readonly sealer: StateSealer;
  readonly audience: string;
  readonly elicitations: Runtime["elicitations"];
  readonly tools: Runtime["tools"];
  readonly prompts: Runtime["prompts"];
  readonly wholeCatalog: Runtime["wholeCatalog"];
  readonly operator: Runtime["operator"];
  readonly history: Runtime["history"];
  readonly ready: Promise<void>;
  readonly #beside: Beside;
  #detach: () => void = () => undefined;
  readonly #deps: EngineDeps;
  readonly #settings: typeof runtimeDefaults;
  readonly #limiter: RateLimiter | undefined;
  readonly #sweeper: Sweeper | undefined;
  readonly #draining: { isSet: boolean };
  #executing = 0;
  #closing: Promise<void> | undefined;

  constructor(
    deps: EngineDeps,
    settings: typeof runtimeDefaults,
    limiter: RateLimiter | undefined,
    sweeper: Sweeper | undefined,
    draining: { isSet: boolean },
    beside: Beside,
    sealer: StateSealer,
  ) {
    const { shared, switches } = beside;
    this.catalog = switches.catalog;
    this.wholeCatalog = deps.catalog;
    this.tools = switches.tools;
    this.prompts = switches.prompts;
    this.elicitations = deps.elicitations;
    this.ready = switches.start();
    this.#beside = beside;
    this.shared = shared;
    this.sealer = sealer;
    this.audience = deps.audience;
    this.#deps = deps;
    this.#settings = settings;
    this.#limiter = limiter;
    this.#sweeper = sweeper;
    this.#draining = draining;
    this.history = beside.history;
    const { store, audience, catalog, reporter } = deps;
    this.operator =
      store &&
      createOperator({
        ...{ store, audience, catalog, reporter },
        cancel: (runId, reason) => this.cancel(runId, { reason }),
        look: deps.look,
      });
  }

  async execute(request: RunRequest): Promise<RunReply> {
    this.#executing += 1;
    try {
      return await this.#dispatch(request);
    } catch (error) {
      return { kind: "error", error: this.#told(error, request) };
    } finally {
      this.#executing -= 1;
    }
  }

  async runQueued(job: RunJob, notifications: NotificationSink | undefined): Promise<void> {
    const { store, log } = this.#deps;
    if (store === undefined || this.#closing !== undefined) return;
    this.#executing += 1;
    try {
      await executeQueued(this.#deps, store, job, notifications);
    } catch (error) {
      // Nothing was executed: the attempt stays queued, or its lease ends.
      log.warn({ err: error, run: job.runId }, "a queued attempt could not be begun");
    } finally {
      this.#executing -= 1;
    }
  }

  async runCall(
    call: RemoteCall,
    notifications: NotificationSink | undefined,
    sender: Sender,
  ): Promise<CallReply> {
    if (this.#closing !== undefined) return { kind: "unanswered", died: false };
    this.#executing += 1;
    try {
      return await executeCall(this.#deps, call, notifications, sender);
    } catch (error) {
      return carried({ kind: "error", error: this.#told(error, call) });
    } finally {
      this.#executing -= 1;
    }
  }

  /** From now on the author's code reaches it through the definition. */
  attachTo(server: ServerDefinition): void {
    this.#detach = attach(server, this);
  }

  get historyDropped(): number {
    return this.#beside.recorder?.dropped ?? 0;
  }

  onChange(listener: (change: Change) => void): () => void {
    const { changes, switches } = this.#beside;
    // Not by the notice: whoever lists the tools then must see the new list.
    const stopSwitched = switches.onChange(listener);
    const stopTold = changes.onChange((change) => {
      if (change.kind !== "toolsChanged" && change.kind !== "promptsChanged") listener(change);
    });
    return () => {
      stopSwitched();
      stopTold();
    };
  }

  resourceUpdated(uri: string): Promise<void> {
    return this.#beside.changes.resourceUpdated(uri);
  }

  async cancel(runId: string, options: CancelOptions = {}): Promise<CancelOutcome> {
    const { store, resting } = this.#deps;
    const outcome: CancelOutcome =
      store === undefined
        ? { kind: "unknown" }
        : await cancelRun(this.#deps, store, runId, options);
    // Also where there is no record: a handler that rests may be a repeatable one's. Who else resumed it would be replayed.
    resting.drop(runId);
    // Else it would wait for the next sweep.
    if (outcome.kind === "cancelled" && outcome.undoing === true) this.#deps.look(runId);
    return outcome;
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    if (this.#closing !== undefined) return { ok: false, reason: "closing" };
    const { store, dispatcher } = this.#deps;
    for (const part of [store, dispatcher]) {
      const health = await part?.health();
      if (health?.ok === false) return health;
    }
    return { ok: true };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** What is told of an error: its own words, or only that there is one. */
  #told(error: unknown, { method, target }: Pick<RunRequest, "method" | "target">): RepriseError {
    if (isRepriseError(error)) return error;
    this.#deps.log.error({ err: error, method, target }, "the engine failed");
    return new RepriseError("INTERNAL", "the server failed; its log says how", { cause: error });
  }

  #dispatch(request: RunRequest): Promise<RunReply> {
    const { attempts, store, dispatcher } = this.#deps;
    // What workers execute takes nothing here but memory, and the dispatcher counts it.
    const isFull =
      dispatcher === undefined && attempts.size >= this.#settings.maxConcurrentAttempts;
    if (this.#closing !== undefined || isFull) {
      const why =
        this.#closing === undefined
          ? "the server runs as many calls as it may"
          : "the server is stopping";
      throw new RepriseError("BUSY", `${why}; repeat the request`, {
        data: { retryAfterMs: 1000 },
      });
    }
    this.#limiter?.take(request.caller.principal);
    const isCancelled = request.cancelled?.aborted === true;
    if (isCancelled && request.requestState === undefined) throw runCancelled();
    const answers = readAnswers(request.inputResponses);
    dispatcher?.admit(request.handler.queue, request.caller.principal);
    if (request.requestState !== undefined) return this.#resume(request, answers);
    if (store === undefined || runnable(request).effects === "repeatable") {
      return this.#repeatable(request, answers, undefined);
    }
    return executeOnce(this.#deps, store, request, answers, undefined);
  }

  async #resume(request: RunRequest, results: ReturnType<typeof readAnswers>): Promise<RunReply> {
    const { tokens, store } = this.#deps;
    const answers = withClientErrors(results, request.clientErrors);
    const { state, expired } = await tokens.open(
      request.requestState,
      tokens.bindingOf(request),
      request,
    );
    if (state.kind === "repeatable") return this.#repeatable(request, answers, state);
    // A once run's record is elsewhere: this process can't know it.
    if (store === undefined) throw tokens.refuse("no_store", request);
    return executeOnce(this.#deps, store, request, comparable(answers), { state, expired });
  }

  #repeatable(
    request: RunRequest,
    answers: ReturnType<typeof readAnswers>,
    state: RepeatableState | undefined,
  ): Promise<RunReply> {
    const { dispatcher } = this.#deps;
    return dispatcher === undefined
      ? executeRepeatable(this.#deps, request, answers, state)
      : executePooled(this.#deps, dispatcher, request);
  }

  async #close(): Promise<void> {
    const { attempts, clock, store } = this.#deps;
    this.#draining.isSet = true;
    this.#detach();
    this.#sweeper?.close();
    this.#deps.resting.close();
    this.#beside.switches.close();
    const handover = clock.monotonic() + this.#settings.drainTimeoutMs;
    while (attempts.size > 0 && clock.monotonic() < handover) await tick(clock);
    for (const attempt of attempts.members()) attempt.stop(drained());
    const forced = clock.monotonic() + this.#settings.settleGraceMs * 2;
    // Requests as well: a claim that is on its way is given back, which needs the store.
    const isBusy = (): boolean => attempts.size > 0 || this.#executing > 0;
    while (isBusy() && clock.monotonic() < forced) await tick(clock);
    // After the last attempt: one may wait for a page.
    this.#beside.changes.close();
    await this.#beside.recorder?.close();
    await store?.close();
  }
}

const tick = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(10, resolve);
  });

function withoutUndefined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

function requireNoKeys(server: ServerDefinition): void {
  for (const one of [
    ...(server.tools ?? []),
    ...(server.prompts ?? []),
    ...(server.resources ?? []),
    ...(server.resourceTemplates ?? []),
  ]) {
    if (one.idempotency !== undefined) {
      throw new RepriseError(
        "DEFINITION_INVALID",
        `"${one.name}" has an idempotency key, which needs a store; this server has store: "none"`,
      );
    }
  }
}
