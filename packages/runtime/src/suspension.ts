/**
 * The signal that ends an attempt without a failure.
 *
 * Pending ctx promises reject with it so that `finally` blocks run. It is recognised by a registered symbol, not by
 * `instanceof`: an author's bundle may hold a second copy of this package. Catching it changes nothing: the attempt has
 * ended already, and every later ctx call rejects with it again.
 */
const brand = Symbol.for("reprise.suspension");

/** Rejection of ctx calls once an attempt has ended. */
export class Suspension extends Error {
  constructor() {
    // It tells where nothing went wrong, and every suspended call makes one: without a stack it costs a tenth.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super("this attempt has ended; the handler runs again when there is something to go on with");
    Error.stackTraceLimit = stackTraceLimit;
    Object.defineProperty(this, brand, { value: true });
  }

  override get name(): string {
    return "Suspension";
  }
}

/** Whether `error` is the suspension signal: rethrow it where you catch everything. */
export function isSuspension(error: unknown): boolean {
  return typeof error === "object" && error !== null && brand in error;
}

let guarded = false;

/**
 * Keeps suspended branches from ending the process: when two of an author's async functions wait for asks and only one
 * of them is awaited, the other's rejection has no handler, and Node would exit. Every other unhandled rejection is left
 * to the process as if this guard were not there. Called once by the engine.
 */
export function guardUnhandledSuspensions(): void {
  if (guarded) return;
  guarded = true;
  process.on("unhandledRejection", (reason) => {
    if (isSuspension(reason)) return;
    if (process.listenerCount("unhandledRejection") > 1) return;
    // Alone here: do what Node does without a listener.
    throw reason instanceof Error
      ? reason
      : new Error(`unhandled rejection: ${String(reason)}`, { cause: reason });
  });
}
