/**
 * Runs synchronous code that may never end, and stops it.
 *
 * For what is done with a caller's input by an author's schema or template: a regular expression that backtracks holds the whole
 * process, and nothing but the engine itself can interrupt it. Node offers that for scripts in a context of their own; the code
 * stays in this one. Each call takes a thread of its own, about half a millisecond: only for work that was found to be risky.
 */
import { type Context, createContext, Script } from "node:vm";

/** How long such work may take. Longer than any sensible validation of the largest body, also on a busy machine. */
export const deadlineMs = 250;

/** The same for work that grows only as fast as its input: no input can make it endless, but the largest take seconds. */
export const longDeadlineMs = 1000;

/** What `withinDeadline` gives for work that it stopped. */
export const tooSlow: unique symbol = Symbol("stopped at its deadline");

const script = new Script("work()");
let context: Context | undefined;

/** Work that the clock stopped although the process had hardly run is begun again until this is over. */
const patienceMs = 1500;

/**
 * What `work` returns, or `tooSlow`. What it throws comes through. The deadline is one of wall time, so on a busy machine work that
 * got no turn is begun again: it must have no effects.
 */
export function withinDeadline<T>(work: () => T, timeout: number = deadlineMs): T | typeof tooSlow {
  for (const begun = performance.now(); ; ) {
    const before = process.cpuUsage();
    const outcome = once(work, timeout);
    if (outcome !== tooSlow || performance.now() - begun > patienceMs) return outcome;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > timeout / 2) return tooSlow;
  }
}

function once<T>(work: () => T, timeout: number): T | typeof tooSlow {
  context ??= createContext(Object.create(null) as Context);
  const holder = context;
  const outer = holder["work"] as unknown;
  holder["work"] = work;
  try {
    return script.runInContext(holder, { timeout }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return tooSlow;
    throw error;
  } finally {
    holder["work"] = outer;
  }
}
