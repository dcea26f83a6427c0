/**
 * `ctx` as handlers see it. Every member is safe to call again on the next attempt: the replay rule of
 * docs/design.md section 3 says what each gives then.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { Caller, ClientIdentity } from "./caller.ts";
import type { AnySchema, OutputOf } from "./schemaTypes.ts";
import type { LogLevel } from "./wireTypes.ts";

/** What a step's function is given. */
export interface StepContext {
  /**
   * Stable over all attempts of the run, and over runs of the same idempotency key until the key is free again:
   * hand it to the remote system so that it recognises a repetition. 43 base64url characters.
   */
  readonly idempotencyKey: string;
  /** Aborts at the step's `timeoutMs`, on cancel, and (in repeatable handlers) when the request is gone. */
  readonly signal: AbortSignal;
  /** 1 for the first try in this attempt of the run. */
  readonly attempt: number;
}

/** How a step is tried again inside one attempt. */
export interface StepRetry {
  /** Tries in one attempt of the run, the first included. Default 3; 1 turns retrying off. */
  readonly tries?: number;
  /** Wait before the second try. Default 200. Doubles each time. */
  readonly backoffMs?: number;
  /** Longest wait between tries. Default 5000. */
  readonly maxBackoffMs?: number;
}

/** Decides what happens to a step that may or may not have happened. */
export type OnUncertain<T> =
  | "retry"
  | "fail"
  | ((step: StepContext) => Promise<T | undefined> | T | undefined);

/** What an undo function is given. `idempotencyKey` is its own: that of what takes the step back. */
export interface UndoContext extends StepContext {
  /** The step's key: what to find by it of a step that nobody knows about. */
  readonly stepIdempotencyKey: string;
}

/** Takes back what a step did, or may have done. */
export type UndoStep<T> = (result: T | undefined, undo: UndoContext) => unknown;

/** Options of `ctx.step`. */
export interface StepOptions<T> {
  /** Longest time for one try. Default 300000 (5 minutes). */
  readonly timeoutMs?: number;
  /** What the step's idempotency key is derived from instead of its name. */
  readonly key?: string;
  /** How long the remote system remembers a key. Default 24 h. After it, `"retry"` becomes `"fail"`. */
  readonly keyLifetimeMs?: number;
  readonly retry?: StepRetry;
  /**
   * For a step that was started and not recorded, timed out, was aborted, or threw anything but `notDone(error)`.
   * `"retry"` (default): same key again. `"fail"`: throws UncertainStepError. A function asks the remote system and
   * returns the result if it had happened, undefined if not.
   */
  readonly onUncertain?: OnUncertain<T>;
  /**
   * Takes back what the step did. Called when the handler has thrown, when the run is cancelled, and when its last question was
   * not answered in time, after everything that came later is undone: with the step's result, or with undefined when nobody knows
   * whether it happened. Its own `idempotencyKey` is stable; `timeoutMs`, `retry` and `keyLifetimeMs` of the step hold for it as
   * well. A recorded undo is never called again. One that fails for good leaves the run parked, for an operator to release. `ctx` is
   * over by then. Default: nothing is undone. Needs a handler with `effects: "once"` and a store.
   */
  readonly undo?: UndoStep<T>;
}

/** Options that all asks share. */
export interface AskOptions {
  /** The ask's name in the run. Default: the name of its kind, which one ask of the run may have. */
  readonly key?: string;
}

/** Options of `ctx.confirm`. */
export interface ConfirmOptions extends AskOptions {
  /** `"throw"`: a cancel throws AskCancelledError instead of giving false. Default `"false"`. */
  readonly onCancel?: "false" | "throw";
}

/** Options of `ctx.elicit`. */
export interface ElicitOptions extends AskOptions {
  /** Fields that look like secrets by name but are none. */
  readonly notSecret?: readonly string[];
}

/** Options of `ctx.elicitUrl`. */
export interface ElicitUrlOptions extends AskOptions {
  /**
   * How long an accept waits for the page's completion before it is asked again, at most 5 times; then `completed` is false.
   * Default 20000; at most 45000. Means nothing with a URL that was made without the id: nobody could complete it, and an accept
   * is taken at once.
   */
  readonly waitMs?: number;
}

/** What became of a form. */
export type ElicitOutcome<T> =
  | { readonly action: "accept"; readonly content: T }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** What became of a URL ask. */
export type ElicitUrlOutcome =
  | { readonly action: "accept"; readonly completed: boolean; readonly data?: JsonValue }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** The parameters of a sampling request: MCP `sampling/createMessage`, without `_meta` and `task`. */
export interface SampleParams {
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: JsonValue;
  }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
  readonly includeContext?: "none" | "thisServer" | "allServers";
  readonly metadata?: JsonObject;
}

/** A sampling result. `text` joins the text items of `content`. */
export interface SampleResult {
  readonly role: "user" | "assistant";
  readonly content: JsonValue;
  readonly model: string;
  readonly stopReason?: string;
  readonly text: string;
}

/** One root of the client. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** String values kept over the rounds of a run. */
export interface RunState {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  has(key: string): boolean;
  delete(key: string): boolean;
}

/** What a handler is given besides its arguments. */
export interface Context {
  /**
   * Asks for yes or no. True only for accept with yes; decline, cancel and accept with no are false.
   * @throws AskCancelledError with `onCancel: "throw"` on cancel
   */
  confirm(message: string, options?: ConfirmOptions): Promise<boolean>;
  /** Asks for a form of flat fields. A form that asks for a secret is refused with SECRET_IN_FORM. */
  elicit<S extends AnySchema>(
    message: string,
    schema: S,
    options?: ElicitOptions,
  ): Promise<ElicitOutcome<OutputOf<S>>>;
  /**
   * Sends the person to a page. https only, loopback excepted; no user and password in the URL. With a function, the URL gets
   * the ask's id (43 characters of `A-Z a-z 0-9 _ -`, the same on every attempt), and the page calls
   * `server.elicitations.complete(id, {principal, data})` when the person is done. Without auth the URL is all that tells
   * people apart.
   */
  elicitUrl(
    message: string,
    url: string | ((ask: { readonly id: string }) => string),
    options?: ElicitUrlOptions,
  ): Promise<ElicitUrlOutcome>;
  /**
   * Has the client's model write something.
   * @deprecated by MCP 2026-07-28 (deprecated features); still served on every revision that has it.
   */
  sample(params: SampleParams, options?: AskOptions): Promise<SampleResult>;
  /**
   * Asks which directories the client works in.
   * @deprecated by MCP 2026-07-28 (deprecated features); still served on every revision that has it.
   */
  listRoots(options?: AskOptions): Promise<readonly Root[]>;
  /**
   * Runs an effect and records its result before the handler goes on; on later attempts gives the recorded result.
   * The handler always receives what was decoded from the journal: JSON plus Date, bytes, bigint and undefined.
   * @throws StepError when it failed for good, UncertainStepError when nobody knows
   */
  step<T>(
    name: string,
    fn: (step: StepContext) => Promise<T> | T,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** Reads a value that has no effect; it is recorded with the next write and is the same on later attempts. */
  read<T>(name: string, fn: () => Promise<T> | T): Promise<T>;
  readonly state: RunState;
  /** The same UUID (version 4 form) for the same name on every attempt of the run. Not a secret. */
  uuid(name: string): string;
  /** The same number in [0, 1) for the same name on every attempt of the run. Not a secret. */
  random(name: string): number;
  /** Epoch milliseconds: the time of the newest journal entry delivered, or of the run's start. */
  now(): number;
  /** Reports progress if the request asked for it. A value not above the last one is dropped. */
  progress(value: number, total?: number, message?: string): void;
  /** Sends a log message if the request asked for this level. */
  log(level: LogLevel, data: JsonValue, logger?: string): void;
  /** Says that nothing was done, so that the idempotency key is free again: `return ctx.nothingDone("Kept.")`. */
  nothingDone<R>(result: R): R;
  /** Aborts when the attempt is stopped. */
  readonly signal: AbortSignal;
  readonly run: { readonly id: string; readonly round: number };
  readonly caller: Caller;
  readonly client: ClientIdentity;
}
