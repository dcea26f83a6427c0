/**
 * Runs one live step to its end: tries, timeouts and the policy for what may or may not have happened (docs/design.md 4.4).
 *
 * Called by the attempt when everything before the step is durable. Knows nothing of journals: it gives an outcome, and the
 * attempt records it.
 *
 * U1 A try that timed out, was aborted, or threw anything but `notDone(error)` leaves the step uncertain, and so does an
 *    earlier attempt that may have started it. Only a result makes it certain again: a later `notDone` speaks of its own try.
 * U2 An uncertain step's function runs again only with the same idempotency key, within the key's lifetime, and under
 *    a policy that allows it.
 * U3 No try begins once the attempt may have lost its run: while this process was paused, another may have gone on.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { encodeValue, type RecordedError } from "@reprise/journal";
import { type Clock, pause } from "./clock.ts";
import type { StepContext, StepOptions } from "./contextTypes.ts";
import { isNotDone, recordedError } from "./stepErrors.ts";

/** The function of an operation that runs, and the attempt whose ctx must not be used in there. */
export interface OperationScope {
  /** Another server's handler may run inside a step of this process: only the step's own ctx is refused. */
  readonly owner: object;
  readonly kind: "step" | "read" | "undo";
  readonly name: string;
}

/** Set while the function of a step or read runs. */
export const operationScope: AsyncLocalStorage<OperationScope> =
  new AsyncLocalStorage<OperationScope>();

const DAY_MS = 24 * 60 * 60 * 1000;

/** Defaults of a step's options. */
const stepDefaults: {
  readonly timeoutMs: number;
  readonly keyLifetimeMs: number;
  readonly tries: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
} = {
  timeoutMs: 5 * 60 * 1000,
  keyLifetimeMs: DAY_MS,
  tries: 3,
  backoffMs: 200,
  maxBackoffMs: 5000,
};

/** What became of a step. */
export type StepOutcome =
  | { readonly kind: "completed"; readonly value: string }
  | {
      readonly kind: "failed";
      readonly error: RecordedError;
      readonly outcome: "not_done" | "uncertain";
      readonly firstTriedAt: number;
      /** What was thrown last; for the log, never recorded. */
      readonly cause: unknown;
    }
  /** The attempt ended between two tries. */
  | { readonly kind: "abandoned"; readonly uncertain: boolean; readonly firstTriedAt: number };

/** What a step runs with. */
export interface StepRun<T> {
  readonly name: string;
  /** Default `step`. */
  readonly kind?: OperationScope["kind"];
  readonly owner: object;
  readonly fn: (step: StepContext) => Promise<T> | T;
  readonly options: StepOptions<T>;
  readonly idempotencyKey: string;
  /** When an earlier attempt may have started it; undefined: certainly never. */
  readonly maybeStartedAt: number | undefined;
  /** Aborts the running function: cancel, and the end of a repeatable attempt. */
  readonly cut: AbortSignal;
  /** Forbids further tries: the attempt was stopped. */
  readonly stop: AbortSignal;
  /** Whether the attempt still has its run: undefined when that is certain; rejects when not. */
  readonly confirm: () => Promise<void> | undefined;
  /** Told before each try of the function; counts from 1. */
  readonly onTry: ((tries: number) => void) | undefined;
  readonly clock: Clock;
}

type Try<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "threw"; readonly error: unknown; readonly notDone: boolean };

/** Runs the step. Never rejects. */
export async function runStep<T>(run: StepRun<T>): Promise<StepOutcome> {
  const { name, options, clock } = run;
  const policy = options.onUncertain ?? "retry";
  const tries = options.retry?.tries ?? stepDefaults.tries;
  const keyLifetimeMs = options.keyLifetimeMs ?? stepDefaults.keyLifetimeMs;
  const firstTriedAt = run.maybeStartedAt ?? clock.now();
  let uncertain = run.maybeStartedAt !== undefined;
  let last: unknown = new Error("an earlier attempt started the step and its outcome is unknown");

  for (let attempt = 1; attempt <= tries; attempt += 1) {
    if (uncertain && policy === "fail") break;
    if (attempt > 1) await pause(clock, backoffOf(options, attempt), run.stop);
    if (run.stop.aborted && attempt > 1) return { kind: "abandoned", uncertain, firstTriedAt };
    if (uncertain) {
      if (policy === "retry" && clock.now() - firstTriedAt > keyLifetimeMs) break;
      if (typeof policy === "function") {
        const found = await tryOnce(run, policy, attempt);
        if (found.kind === "threw") {
          last = found.error;
          continue;
        }
        if (found.value !== undefined) return completed(name, found.value, firstTriedAt);
      }
    }
    const confirmed = run.confirm();
    if (confirmed !== undefined && !(await succeeds(confirmed)))
      return { kind: "abandoned", uncertain, firstTriedAt };
    run.onTry?.(attempt);
    const tried = await tryOnce(run, run.fn, attempt);
    if (tried.kind === "value") return completed(name, tried.value, firstTriedAt);
    last = tried.error;
    // U1: a certain "nothing happened" does not undo the doubt of an earlier try, unless the remote was just asked.
    uncertain = tried.notDone ? uncertain && typeof policy !== "function" : true;
  }
  if (uncertain && typeof policy === "function" && !run.stop.aborted) {
    const found = await tryOnce(run, policy, tries);
    if (found.kind === "value" && found.value !== undefined)
      return completed(name, found.value, firstTriedAt);
  }
  const outcome = uncertain ? "uncertain" : "not_done";
  return { kind: "failed", error: recordedError(last), outcome, firstTriedAt, cause: last };
}

/** What it fails with is the attempt's to know, which has been told. */
const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

function completed(name: string, value: unknown, firstTriedAt: number): StepOutcome {
  try {
    return { kind: "completed", value: encodeValue(value, `step "${name}"`) };
  } catch (error) {
    // It happened, but what it gave can't be kept: trying again would repeat it.
    return {
      kind: "failed",
      error: recordedError(error),
      outcome: "uncertain",
      firstTriedAt,
      cause: error,
    };
  }
}

function backoffOf(options: Pick<StepOptions<unknown>, "retry">, attempt: number): number {
  const first = options.retry?.backoffMs ?? stepDefaults.backoffMs;
  const most = options.retry?.maxBackoffMs ?? stepDefaults.maxBackoffMs;
  return Math.min(first * 2 ** (attempt - 2), most);
}

async function tryOnce<T, R extends T | undefined>(
  run: StepRun<T>,
  fn: (step: StepContext) => Promise<R> | R,
  attempt: number,
): Promise<Try<R>> {
  const { clock, cut, idempotencyKey } = run;
  const timeoutMs = run.options.timeoutMs ?? stepDefaults.timeoutMs;
  const controller = new AbortController();
  let giveUp: (error: Error) => void = () => undefined;
  const cutOff = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  cutOff.catch(() => undefined);
  const stopNow = (error: Error): void => {
    controller.abort(error);
    giveUp(error);
  };
  const onCut = (): void => stopNow(new Error("the step was aborted"));
  const cancelTimer = clock.after(timeoutMs, () =>
    stopNow(new Error(`the step took longer than ${timeoutMs} ms`)),
  );
  cut.addEventListener("abort", onCut, { once: true });
  if (cut.aborted) onCut();
  try {
    const scope: OperationScope = { owner: run.owner, kind: run.kind ?? "step", name: run.name };
    const step: StepContext = { idempotencyKey, signal: controller.signal, attempt };
    const value = await Promise.race([operationScope.run(scope, async () => fn(step)), cutOff]);
    return { kind: "value", value };
  } catch (error) {
    return { kind: "threw", error, notDone: isNotDone(error) };
  } finally {
    cancelTimer();
    cut.removeEventListener("abort", onCut);
  }
}
