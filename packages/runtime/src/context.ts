/**
 * Builds `ctx`: checks every call at the door, then hands it to the attempt.
 *
 * Author mistakes (a name used twice, ctx inside a step, a form that asks for a secret) reject the one promise with a coded error and
 * leave the run as it is; the handler may catch them like any other error.
 */
import { RepriseError } from "@reprise/errors";
import type { JsonValue } from "@reprise/journal";
import {
  type Ask,
  type AskKind,
  confirmAsk,
  elicitAsk,
  elicitUrlAsk,
  rootsAsk,
  sampleAsk,
} from "./asks.ts";
import type { Attempt } from "./attempt.ts";
import type {
  Context,
  ElicitOutcome,
  ElicitUrlOptions,
  ElicitUrlOutcome,
  Root,
  SampleResult,
  StepContext,
  StepOptions,
  UndoStep,
} from "./contextTypes.ts";
import { sha256 } from "./digest.ts";
import { compileForm } from "./form.ts";
import { AskOperation, ReadOperation, StepOperation } from "./operations.ts";
import { passesLevel, type RunFacts } from "./runFacts.ts";
import type { OutputOf } from "./schemaTypes.ts";
import { seededRandom, seededUuid } from "./seeded.ts";
import { AskCancelledError } from "./stepErrors.ts";
import { functionOf, stepOptionsOf } from "./stepOptions.ts";
import { operationScope, runStep, type StepOutcome } from "./stepRun.ts";

type Operations = Omit<Context, "signal" | "run" | "caller" | "client">;

/** ctx of one attempt. */
export function createContext(attempt: Attempt, facts: RunFacts): Context {
  return new AttemptContext(attempt, facts);
}

/**
 * A class with getters, so that a handler may take ctx apart, and so that its functions are made only for handlers that use
 * one. Not an object literal with getters: V8 gives each of those a hidden class of its own, kept until a major collection.
 */
class AttemptContext implements Context {
  readonly #attempt: Attempt;
  readonly #facts: RunFacts;
  #made: Operations | undefined;

  constructor(attempt: Attempt, facts: RunFacts) {
    this.#attempt = attempt;
    this.#facts = facts;
  }

  get #operations(): Operations {
    this.#made ??= operationsOf(this.#attempt, this.#facts);
    return this.#made;
  }

  get confirm(): Context["confirm"] {
    return this.#operations.confirm;
  }

  get elicit(): Context["elicit"] {
    return this.#operations.elicit;
  }

  get elicitUrl(): Context["elicitUrl"] {
    return this.#operations.elicitUrl;
  }

  get sample(): Context["sample"] {
    return this.#operations.sample;
  }

  get listRoots(): Context["listRoots"] {
    return this.#operations.listRoots;
  }

  get step(): Context["step"] {
    return this.#operations.step;
  }

  get read(): Context["read"] {
    return this.#operations.read;
  }

  get state(): Context["state"] {
    return this.#operations.state;
  }

  get uuid(): Context["uuid"] {
    return this.#operations.uuid;
  }

  get random(): Context["random"] {
    return this.#operations.random;
  }

  get now(): Context["now"] {
    return this.#operations.now;
  }

  get progress(): Context["progress"] {
    return this.#operations.progress;
  }

  get log(): Context["log"] {
    return this.#operations.log;
  }

  get nothingDone(): Context["nothingDone"] {
    return this.#operations.nothingDone;
  }

  get signal(): AbortSignal {
    return this.#attempt.signals.handler;
  }

  get run(): Context["run"] {
    return { id: this.#facts.runId(), round: this.#attempt.start.round };
  }

  get caller(): Context["caller"] {
    return this.#facts.caller;
  }

  get client(): Context["client"] {
    return this.#facts.client;
  }
}

function operationsOf(attempt: Attempt, facts: RunFacts): Operations {
  const enter = (what: string): void => {
    const scope = operationScope.getStore();
    // In a read as well: on replay its function does not run, and what it asked of ctx would be missed.
    if (scope?.owner === attempt) {
      const { kind, name } = scope;
      throw new RepriseError(
        "CTX_IN_STEP",
        `ctx.${what} was called inside ${kind} "${name}"; call it before or after the ${kind}`,
        { data: { [kind]: name } },
      );
    }
    attempt.check();
  };
  /** Errors at the door become rejections that nobody has to handle. */
  const guarded = <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return work();
    } catch (error) {
      const refused = Promise.reject(error) as Promise<T>;
      refused.catch(() => undefined);
      return refused;
    }
  };
  const quiet = <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => undefined);
    return promise;
  };
  const askFor = <T>(
    kind: AskKind,
    make: (key: string) => Ask<T>,
    key: string | undefined,
  ): Promise<T> => {
    enter(kind);
    const name = key ?? kind;
    // Made before its name is taken: a form that is refused leaves the key to a better one.
    const ask = make(name) as Ask<unknown>;
    attempt.claimName("ask", name, `give each ask of this kind its own key: { key: "..." }`);
    return attempt.request(
      (settle) => new AskOperation(ask, attempt, settle, attempt.desk),
    ) as Promise<T>;
  };

  return {
    confirm: (message, options = {}) =>
      guarded(() => {
        const answered = askFor("confirm", (key) => confirmAsk(key, message), options.key);
        return quiet(
          answered.then((answer) => {
            if (answer !== "cancel") return answer;
            if (options.onCancel === "throw") throw new AskCancelledError(options.key ?? "confirm");
            return false;
          }),
        );
      }),
    elicit: <S extends Parameters<Context["elicit"]>[1]>(
      message: string,
      schema: S,
      options: Parameters<Context["elicit"]>[2] = {},
    ) =>
      guarded(
        () =>
          askFor(
            "elicit",
            (key) => elicitAsk(key, message, compileForm(schema, key, options.notSecret ?? [])),
            options.key,
          ) as Promise<ElicitOutcome<OutputOf<S>>>,
      ),
    elicitUrl: (message, url, options = {}) =>
      guarded(() => {
        const waitMs = pageWaitOf(options);
        const make = (key: string): Ask<ElicitUrlOutcome> => {
          // From the seed: a run's id is told to more than the one who is asked.
          const id = sha256(JSON.stringify(["elicitation", facts.seed(), key]));
          const completable = typeof url === "function";
          const page = { id, completable, waitMs };
          return elicitUrlAsk(key, message, completable ? url({ id }) : url, page);
        };
        return askFor("elicitUrl", make, options.key);
      }),
    sample: (params, options = {}) =>
      guarded(
        (): Promise<SampleResult> => askFor("sample", (key) => sampleAsk(key, params), options.key),
      ),
    listRoots: (options = {}) =>
      guarded(
        (): Promise<readonly Root[]> => askFor("listRoots", (key) => rootsAsk(key), options.key),
      ),
    step: <T>(
      name: string,
      fn: (step: StepContext) => Promise<T> | T,
      options: StepOptions<T> = {},
    ) =>
      guarded(() => {
        enter("step");
        functionOf("step", name, fn);
        const checked = stepOptionsOf(name, options);
        if (!facts.keepsMarks && (checked.onUncertain ?? "retry") !== "retry") {
          throw new RepriseError(
            "DEFINITION_INVALID",
            `step "${name}" of ${facts.handlerName}: onUncertain other than "retry" needs a store; this server has store: "none"`,
          );
        }
        if (checked.undo !== undefined && !facts.canUndo) {
          throw new RepriseError(
            "DEFINITION_INVALID",
            `step "${name}" of ${facts.handlerName}: undo needs a record of what was done, so effects: "once" and a store`,
          );
        }
        attempt.claimName("step", name, "in a loop, put the item into the name");
        return requestStep(attempt, facts, name, fn, checked);
      }),
    read: <T>(name: string, fn: () => Promise<T> | T) =>
      guarded(() => {
        enter("read");
        functionOf("read", name, fn);
        attempt.claimName("read", name, "in a loop, put the item into the name");
        return attempt.request(
          (settle) =>
            new ReadOperation(name, attempt, settle, () =>
              operationScope.run({ owner: attempt, kind: "read", name }, fn),
            ),
        ) as Promise<T>;
      }),
    state: attempt.state.view(() => enter("state")),
    uuid: (name) => seededUuid(facts.seed(), name),
    random: (name) => seededRandom(facts.seed(), name),
    now: () => attempt.deliveredAt,
    progress: (value, total, message) => {
      if (attempt.isOver || facts.notifications?.progress === undefined) return;
      facts.notifications.progress(value, total, message);
    },
    log: (level, data: JsonValue, logger) => {
      if (attempt.isOver || facts.notifications?.log === undefined || facts.logLevel === undefined)
        return;
      if (passesLevel(level, facts.logLevel)) facts.notifications.log(level, data, logger);
    },
    nothingDone: (result) => {
      enter("nothingDone");
      if (attempt.recorder.stepStarted) {
        throw new RepriseError(
          "NOTHING_DONE_REFUSED",
          "ctx.nothingDone was called although a step of this run was started; return the result as it is",
        );
      }
      attempt.saidNothingDone = true;
      return result;
    },
  };
}

/** How long an accept waits when the author says nothing. */
const PAGE_WAIT_MS = 20_000;
/** Below the time after which clients give a request up. */
const MAX_PAGE_WAIT_MS = 45_000;

function pageWaitOf({ waitMs = PAGE_WAIT_MS }: ElicitUrlOptions): number {
  if (Number.isFinite(waitMs) && waitMs >= 0 && waitMs <= MAX_PAGE_WAIT_MS) return waitMs;
  throw new RangeError(
    `elicitUrl: waitMs is ${waitMs}; give 0 to ${MAX_PAGE_WAIT_MS} milliseconds`,
  );
}

function requestStep<T>(
  attempt: Attempt,
  facts: RunFacts,
  name: string,
  fn: (step: StepContext) => Promise<T> | T,
  options: StepOptions<T>,
): Promise<T> {
  const { start, ports } = attempt;
  const marked = Object.hasOwn(start.marks, name) ? start.marks[name]?.firstTriedAt : undefined;
  const policy = options.onUncertain ?? "retry";
  // Without a mark, only "retry" can have been started unseen: all other policies write one first.
  const maybeStartedAt = marked ?? (policy === "retry" ? start.openStepSince : undefined);
  const keyFor = (what: "step" | "undo"): string =>
    sha256(JSON.stringify([what, facts.keySource(), options.key ?? name]));
  const idempotencyKey = keyFor("step");
  const { undo } = options;
  if (undo !== undefined) {
    attempt.undos.add(name, {
      undo: undo as UndoStep<unknown>,
      options: options as StepOptions<unknown>,
      idempotencyKey: keyFor("undo"),
      stepIdempotencyKey: idempotencyKey,
    });
  }
  // With a mark it is known without code, and exactly, what is to be undone.
  const isMarked = policy !== "retry" || undo !== undefined;
  return attempt.request(
    (settle) =>
      new StepOperation(
        name,
        attempt,
        settle,
        () => (isMarked ? { firstTriedAt: ports.clock.now() } : undefined),
        () =>
          reported(attempt, name, (onTry) =>
            runStep({
              name,
              owner: attempt,
              fn: attempt.undos.watched(fn),
              options,
              idempotencyKey,
              maybeStartedAt,
              cut: attempt.signals.running,
              stop: attempt.signals.tries,
              confirm: () => attempt.recorder.confirm(),
              onTry,
              clock: ports.clock,
            }),
          ),
        undo !== undefined,
      ),
  ) as Promise<T>;
}

/** Observers hear of each try, and of a step that is given up; how it ended is told when that is durable. */
function reported(
  attempt: Attempt,
  name: string,
  run: (onTry: ((tries: number) => void) | undefined) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { report } = attempt.ports;
  if (report === undefined) return run(undefined);
  return run((tries) => report.stepStarted(name, tries)).then((outcome) => {
    if (outcome.kind === "abandoned") report.stepAbandoned(name, outcome.uncertain);
    return outcome;
  });
}
