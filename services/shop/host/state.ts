/**
 * What the page shows, as one immutable value. Types only: session.ts makes it, the view reads it.
 */
import type {
  AskContext,
  Era,
  Failure,
  FormAsk,
  FormReply,
  RootsAsk,
  RootsReply,
  SampleAsk,
  SampleReply,
  SavedCall,
  ServerIdentity,
  UrlAsk,
  UrlReply,
} from "reprise/client/browser";
import type { KeptCall } from "./keptCalls.ts";
import type { Passed } from "./recorder.ts";

/** A tool as the server listed it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/** The connection to the server. */
export type ConnectionState =
  | { readonly status: "opening" }
  | {
      readonly status: "open";
      readonly server: ServerIdentity;
      readonly revision: string;
      readonly tools: readonly ListedTool[];
    }
  | { readonly status: "failed"; readonly failure: Failure };

interface Question<K, A, R> {
  readonly kind: K;
  /** Counts up, so that the view tells a new question from a repainted one. */
  readonly number: number;
  readonly ask: A;
  readonly context: AskContext;
  /** Answers it; a second answer changes nothing. */
  readonly reply: (reply: R) => void;
  /** On 2025-11-25: the server said that the page's business is complete. */
  readonly isCompleted?: boolean;
}

/** The question before the person. */
export type OpenQuestion =
  | Question<"form", FormAsk, FormReply>
  | Question<"url", UrlAsk, UrlReply>
  | Question<"sample", SampleAsk, SampleReply>
  | Question<"roots", RootsAsk, RootsReply>;

/** How far a call is. */
export type CallStatus =
  | { readonly kind: "running" }
  | { readonly kind: "asking"; readonly question: OpenQuestion }
  /** The person left; the call is kept. */
  | { readonly kind: "left" }
  | { readonly kind: "refused" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly failure: Failure; readonly isKept: boolean }
  | { readonly kind: "done"; readonly result: CallResult; readonly outputProblem?: string };

/** A tool's result. */
export interface CallResult {
  readonly isError: boolean;
  readonly texts: readonly string[];
  readonly structured: unknown;
}

/** A call that was made or gone on with. */
export interface CallState {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly era: Era;
  readonly idempotencyKey: string;
  readonly status: CallStatus;
  /** The newest state that the client saved; absent on the handshake era. */
  readonly saved?: SavedCall;
}

/** All of it. */
export interface HostState {
  readonly era: Era;
  readonly connection: ConnectionState;
  readonly call: CallState | undefined;
  /** Of the connection that is open now. */
  readonly opening: readonly Passed[];
  /** Of the call that is shown. */
  readonly passed: readonly Passed[];
  /** Calls that can be gone on with, but for the one that is shown. */
  readonly kept: readonly KeptCall[];
  /** The browser keeps nothing: its storage is full or switched off. */
  readonly storageFailed: boolean;
}
