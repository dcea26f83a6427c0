/**
 * Checks a step's options at the call; what is wrong is the author's mistake and names the option.
 */
import type { StepOptions } from "./contextTypes.ts";

/** @throws TypeError unless `fn` can be called */
export function functionOf(kind: "step" | "read", name: string, fn: unknown): void {
  if (typeof fn !== "function") throw new TypeError(`${kind} "${name}": give a function to run`);
}

/**
 * The options, checked.
 * @throws RangeError or TypeError naming the option
 */
export function stepOptionsOf<T>(name: string, options: StepOptions<T>): StepOptions<T> {
  positive(name, "timeoutMs", options.timeoutMs);
  positive(name, "keyLifetimeMs", options.keyLifetimeMs);
  positive(name, "retry.backoffMs", options.retry?.backoffMs);
  positive(name, "retry.maxBackoffMs", options.retry?.maxBackoffMs);
  const tries = options.retry?.tries;
  if (tries !== undefined && (!Number.isInteger(tries) || tries < 1)) {
    throw new RangeError(
      `step "${name}": retry.tries is ${tries}; give a whole number of at least 1`,
    );
  }
  const { key, onUncertain, undo } = options;
  if (undo !== undefined && typeof undo !== "function") {
    throw new TypeError(`step "${name}": undo must be a function`);
  }
  if (key !== undefined && (typeof key !== "string" || key === "")) {
    throw new TypeError(`step "${name}": key must be a text that is not empty`);
  }
  if (
    onUncertain !== undefined &&
    onUncertain !== "retry" &&
    onUncertain !== "fail" &&
    typeof onUncertain !== "function"
  ) {
    throw new TypeError(`step "${name}": onUncertain must be "retry", "fail" or a function`);
  }
  return options;
}

function positive(name: string, option: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return;
  throw new RangeError(`step "${name}": ${option} is ${value}; give milliseconds above 0`);
}
