/**
 * How an attempt ends: the few outcomes that the engine decides by.
 */
import type { RepriseError } from "@reprise/errors";
import type { Mismatch } from "@reprise/journal";
import type { PendingAsk } from "./runRecord.ts";

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "suspended"; readonly pending: readonly PendingAsk[] }
  | { readonly kind: "interrupted"; readonly error: RepriseError | undefined }
  | { readonly kind: "mismatched"; readonly mismatch: Mismatch }
  /** Another attempt has the run. */
  | { readonly kind: "fenced" }
  | { readonly kind: "unrecorded"; readonly error: RepriseError };

/** A rejection of the sink that means: the lease is lost. */
export class Fenced extends Error {}
