/**
 * What clients and instances of a simulation say to each other, as data: it also goes between processes.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { CancelOutcome, ServerDefinition } from "@reprise/runtime";

/** Something bad that happens at one port call. */
export interface Fault {
  readonly does: "crash" | "pause" | "storeFails" | "clientGoes";
  /** Which port call from now on, 1 being the next. */
  readonly at: number;
  readonly when: "before" | "after";
}

/** A request as it is sent to an instance, in another process too. */
export interface Call {
  readonly requestState: string | undefined;
  readonly inputResponses: JsonValue | undefined;
  /** Not a call of the tool: the run of this id is no longer wanted. */
  readonly cancels?: string;
  /** Not a call of the tool: the page of a URL ask is done. */
  readonly completes?: Completes;
}

/** What the web page of a URL ask says. */
export interface Completes {
  readonly id: string;
  /** Whom the page takes for its visitor. */
  readonly person: string;
  readonly data: string;
}

/** What comes back: the reply as data, or nothing because the instance or the client was lost. */
export type Reply =
  | { readonly kind: "complete"; readonly result: JsonObject }
  | {
      readonly kind: "question";
      readonly inputRequests: Readonly<Record<string, JsonObject>>;
      readonly requestState: string;
    }
  | { readonly kind: "error"; readonly code: string; readonly data: JsonObject }
  /** What cancelling came to. */
  | { readonly kind: "cancelled"; readonly how: CancelOutcome["kind"] }
  /** What completing a URL ask came to: it was the first time, a later one, or refused. */
  | { readonly kind: "completed"; readonly how: "first" | "again" | "refused" }
  | { readonly kind: "lost" };

/** A call of an author's tool. Its arguments are as `checkArgs` leaves them. */
export interface ServedCall {
  readonly server: ServerDefinition;
  readonly tool: string;
  readonly args: JsonObject;
  /** Of the call; a client that repeats it sends it again. */
  readonly idempotencyKey: string;
}
