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

/** ctx of one attempt. */
export function createContext(attempt: Attempt, facts: RunFacts): Context {
  return new AttemptContext(attempt, facts);
}

/**
 * A class whose getters make each function when it is taken: so a handler may take ctx apart, and one that waits for days holds none
 * that it did not keep. Not an object literal with getters: V8 gives each of those a hidden class of its own, kept until a major
 * collection.
 */
class AttemptContext implements Context {
  readonly #attempt: Attempt;
  readonly #facts: RunFacts;
  #state: Context["state"] | undefined;

  constructor(attempt: Attempt, facts: RunFacts) {
    this.#attempt = attempt;
    this.#facts = facts;
  }

  get confirm(): Context["confirm"] {
    return (message, options = {}) =>
      guarded(() => {
        const answered = this.#ask("confirm", (key) => confirmAsk(key, message), options.key);
        return quiet(
          answered.then((answer) => {
            if (answer !== "cancel") return answer;
            if (options.onCancel === "throw") throw new AskCancelledError(options.key ?? "confirm");
            return false;
          }),
        );
      });
  }

  get elicit(): Context["elicit"] {
    return <S extends Parameters<Context["elicit"]>[1]>(
      message: string,
      schema: S,
      options: Parameters<Context["elicit"]>[2] = {},
    ) =>
      guarded(
        () =>
          this.#ask(
            "elicit",
            (key) => elicitAsk(key, message, compileForm(schema, key, options.notSecret ?? [])),
            options.key,
          ) as Promise<ElicitOutcome<OutputOf<S>>>,
      );
  }

  get elicitUrl(): Context["elicitUrl"] {
    return (message, url, options = {}) =>
      guarded(() => {
        const waitMs = pageWaitOf(options);
        const make = (key: string): Ask<ElicitUrlOutcome> => {
          // From the seed: a run's id is told to more than the one who is asked.
          const id = sha256(JSON.stringify(["elicitation", this.#facts.seed(), key]));
          const completable = typeof url === "function";
          const page = { id, completable, waitMs };
          return elicitUrlAsk(key, message, completable ? url({ id }) : url, page);
        };
        return this.#ask("elicitUrl", make, options.key);
      });
  }

  get sample(): Context["sample"] {
    return (params, options = {}) =>
      guarded(
        (): Promise<SampleResult> =>
          this.#ask("sample", (key) => sampleAsk(key, params), options.key),
      );
  }

  get listRoots(): Context["listRoots"] {
    return (options = {}) =>
      guarded(
        (): Promise<readonly Root[]> => this.#ask("listRoots", (key) => rootsAsk(key), options.key),
      );
  }

  get step(): Context["step"] {
    return <T>(
      name: string,
      fn: (step: StepContext) => Promise<T> | T,
      options: StepOptions<T> = {},
    ) => guarded(() => this.#step(name, fn, options));
  }

  get read(): Context["read"] {
    return <T>(name: string, fn: () => Promise<T> | T) =>
      guarded(() => {
        const attempt = this.#attempt;
        this.#enter("read");
        functionOf("read", name, fn);
        attempt.claimName("read", name, "in a loop, put the item into the name");
        return attempt.request(
          (settle) =>
            new ReadOperation(name, attempt, settle, () =>
              operationScope.run({ owner: attempt, kind: "read", name }, fn),
            ),
        ) as Promise<T>;
      });
  }

  get state(): Context["state"] {
    this.#state ??= this.#attempt.state.view(() => this.#enter("state"));
    return this.#state;
  }

  get uuid(): Context["uuid"] {
    return (name) => seededUuid(this.#facts.seed(), name);
  }

  get random(): Context["random"] {
    return (name) => seededRandom(this.#facts.seed(), name);
  }

  get now(): Context["now"] {
    return () => this.#attempt.deliveredAt;
  }

  get progress(): Context["progress"] {
    return (value, total, message) => {
      const { notifications } = this.#facts;
      if (this.#attempt.isOver || notifications?.progress === undefined) return;
      notifications.progress(value, total, message);
    };
  }

  get log(): Context["log"] {
    return (level, data: JsonValue, logger) => {
      const { notifications, logLevel } = this.#facts;
      if (this.#attempt.isOver || notifications?.log === undefined || logLevel === undefined)
        return;
      if (passesLevel(level, logLevel)) notifications.log(level, data, logger);
    };
  }

  get nothingDone(): Context["nothingDone"] {
    return (result) => {
      this.#enter("nothingDone");
      if (this.#attempt.recorder.stepStarted) {
        throw new RepriseError(
          "NOTHING_DONE_REFUSED",
          "ctx.nothingDone was called although a step of this run was started; return the result as it is",
        );
      }
      this.#attempt.saidNothingDone = true;
      return result;
    };
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

  /** @throws RepriseError CTX_IN_STEP, or what says that the attempt has ended */
  #enter(what: string): void {
    const scope = operationScope.getStore();
    // In a read as well: on replay its function does not run, and what it asked of ctx would be missed.
    if (scope?.owner === this.#attempt) {
      const { kind, name } = scope;
      throw new RepriseError(
        "CTX_IN_STEP",
        `ctx.${what} was called inside ${kind} "${name}"; call it before or after the ${kind}`,
        { data: { [kind]: name } },
      );
    }
    this.#attempt.check();
  }

  #ask<T>(kind: AskKind, make: (key: string) => Ask<T>, key: string | undefined): Promise<T> {
    const attempt = this.#attempt;
    this.#enter(kind);
    const name = key ?? kind;
    // Made before its name is taken: a form that is refused leaves the key to a better one.
    const ask = make(name) as Ask<unknown>;
    attempt.claimName("ask", name, `give each ask of this kind its own key: { key: "..." }`);
    return attempt.request(
      (settle) => new AskOperation(ask, attempt, settle, attempt.desk),
    ) as Promise<T>;
  }

  #step<T>(
    name: string,
    fn: (step: StepContext) => Promise<T> | T,
    options: StepOptions<T>,
  ): Promise<T> {
    const facts = this.#facts;
    this.#enter("step");
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
    this.#attempt.claimName("step", name, "in a loop, put the item into the name");
    return requestStep(this.#attempt, facts, name, fn, checked);
  }
}

/** Errors at the door become rejections that nobody has to handle. */
function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return quiet(Promise.reject(error) as Promise<T>);
  }
}

function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
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
