/**
 * How an attempt ends: the few outcomes that the engine decides by.
 */
import type { RepriseError } from "@reprise/errors";
import type { Misfit } from "./mismatch.ts";
import type { PendingAsk } from "./runRecord.ts";

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "suspended"; readonly pending: readonly PendingAsk[] }
  | { readonly kind: "interrupted"; readonly error: RepriseError | undefined }
  | { readonly kind: "mismatched"; readonly misfit: Misfit }
  /** Another attempt has the run. */
  | { readonly kind: "fenced" }
  | { readonly kind: "unrecorded"; readonly error: RepriseError };

/** What became of the handler's function. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Whether a handler's value is a promise, of whatever make. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** A rejection of the sink that means: the lease is lost. */
export class Fenced extends Error {}
