/**
 * The signals that end a served process in an orderly way.
 */
import process from "node:process";

/** Resolves with the first SIGINT, SIGTERM or SIGHUP; a second one of its kind ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve(signal));
  });
}
