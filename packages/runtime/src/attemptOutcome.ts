/**
 * How an attempt ends: the few outcomes that the engine decides by.
 */
import type { RepriseError } from "@reprise/errors";
import type { Logger } from "./logger.ts";
import type { Misfit } from "./mismatch.ts";
import type { PendingAsk } from "./runRecord.ts";

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "suspended"; readonly pending: readonly PendingAsk[] }
  | { readonly kind: "interrupted"; readonly error: RepriseError | undefined }
  | { readonly kind: "mismatched"; readonly misfit: Misfit }
  /** The whole journal is delivered, for an attempt that undoes. */
  | { readonly kind: "replayed" }
  /** Another attempt has the run. */
  | { readonly kind: "fenced" }
  | { readonly kind: "unrecorded"; readonly error: RepriseError };

/** What became of the handler's function. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Told of a value that a handler returns and that is not used: only one that takes the suspension signal for a failure does that. */
export function warnOfUnusedValue(log: Logger, ended: AttemptOutcome["kind"] | undefined): void {
  const when =
    ended === undefined ? "although its attempt was stopped" : "after its attempt had ended";
  log.warn(
    ended === undefined ? {} : { ended },
    `the handler returned ${when}: it caught the suspension signal, and what it returned is not used`,
  );
}

/** Executes a handler. `settled` is called once: at once, when it gives no promise. */
export function execute(handler: () => unknown, settled: (how: Settled) => void): void {
  let value: unknown;
  try {
    value = handler();
  } catch (error) {
    settled({ error });
    return;
  }
  if (!isThenable(value)) return settled({ value });
  // Not the value's own `then`, which may throw.
  void Promise.resolve(value).then(
    (returned) => settled({ value: returned }),
    (error: unknown) => settled({ error }),
  );
}

/** Whether a handler's value is a promise, of whatever make. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** A rejection of the sink that means: the lease is lost. */
export class Fenced extends Error {}
