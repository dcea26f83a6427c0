/**
 * What a requestState says, and who may bring it back (docs/design.md 5).
 *
 * T1 A once run's token names the run, the round and digests; nothing that author or client wrote (4.1).
 * T2 A repeatable run's token is its journal; it is sealed confidentially as soon as a step or read is in it: what one threw
 *    is as little meant for the client as what one gave.
 * T3 Every refusal is the same error; its cause goes to one audit event.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { type Entry, isJsonObject, type JsonObject } from "@reprise/journal";
import type { Clock } from "./clock.ts";
import { digestOf, rememberedSha256, sha256, stableParams } from "./digest.ts";
import type { Logger } from "./logger.ts";
import type { PendingAsk } from "./runRecord.ts";
import type { RunReporter } from "./runReporter.ts";
import type { RunRequest } from "./runtimeTypes.ts";

/** What a state is bound to. All four are digests. */
export interface StateBinding {
  readonly audience: string;
  readonly operation: string;
  readonly principal: string;
  readonly params: string;
}

/** What opening a state gives. */
export type OpenReply =
  | {
      readonly ok: true;
      readonly payload: Readonly<Record<string, unknown>>;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
      readonly expired: boolean;
      readonly kid: string;
    }
  | { readonly ok: false; readonly cause: string; readonly retryable?: true };

/** The port to whatever seals states; `@reprise/request-state` has it. */
export interface StateSealer {
  seal(input: {
    readonly payload: Readonly<Record<string, unknown>>;
    readonly binding: StateBinding;
    readonly issuedAtMs: number;
    readonly expiresAtMs: number;
    readonly confidential: boolean;
  }): Promise<string> | string;
  open(input: {
    readonly token: unknown;
    readonly binding: StateBinding;
    readonly nowMs: number;
  }): Promise<OpenReply> | OpenReply;
}

/** A once run's token. */
export interface OnceState {
  readonly kind: "once";
  readonly run: string;
  readonly round: number;
  /** Digests of the asks that are pending in it. */
  readonly asked: readonly string[];
}

/** A repeatable run's token. */
export interface RepeatableState {
  readonly kind: "repeatable";
  readonly run: string;
  readonly round: number;
  readonly seed: string;
  readonly startedAt: number;
  readonly version: string;
  readonly entries: readonly Entry[];
  readonly state: Readonly<Record<string, string>>;
  /** `_meta.traceparent` of the first request. */
  readonly traceparent?: string;
  readonly pending: readonly (Pick<PendingAsk, "key" | "question" | "changes" | "text"> &
    Partial<Pick<PendingAsk, "unfinished" | "askedAt">>)[];
}

/** A state that was opened. */
export interface OpenedState {
  readonly state: OnceState | RepeatableState;
  readonly expired: boolean;
}

/** Seals and opens the states of one server. */
export class StateTokens {
  readonly #sealer: StateSealer;
  readonly #audience: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #maxBytes: number;
  readonly #reporter: RunReporter | undefined;
  readonly #digest = rememberedSha256();

  constructor(
    sealer: StateSealer,
    audience: string,
    clock: Clock,
    log: Logger,
    maxBytes: number,
    reporter?: RunReporter,
  ) {
    this.#sealer = sealer;
    this.#audience = sha256(audience);
    this.#clock = clock;
    this.#log = log;
    this.#maxBytes = maxBytes;
    this.#reporter = reporter;
  }

  /** What states of this request are bound to. */
  bindingOf(request: RunRequest): StateBinding {
    return {
      audience: this.#audience,
      operation: this.#digest(`${request.method} ${request.target}`),
      principal: this.#digest(request.caller.principal),
      params: digestOf(stableParams(request.params)),
    };
  }

  /** Seals a state. @throws RepriseError STATE_TOO_LARGE */
  async seal(
    state: OnceState | RepeatableState,
    binding: StateBinding,
    expiresAtMs: number,
  ): Promise<string> {
    const confidential =
      state.kind === "repeatable" && state.entries.some((entry) => entry.kind !== "answer_taken");
    let token: string;
    try {
      token = await this.#sealer.seal({
        payload: { ...state },
        binding,
        issuedAtMs: this.#clock.now(),
        expiresAtMs,
        confidential,
      });
    } catch (error) {
      // A sealer has a limit of its own and does not know what is in a state.
      if (!isRepriseError(error, "STATE_TOO_LARGE")) throw error;
      throw tooLarge(state, Number(error.data?.["bytes"]), Number(error.data?.["maxBytes"]));
    }
    if (token.length > this.#maxBytes) throw tooLarge(state, token.length, this.#maxBytes);
    return token;
  }

  /** Opens what a request brought. @throws RepriseError REQUEST_STATE_INVALID, REQUEST_STATE_UNAVAILABLE */
  async open(token: unknown, binding: StateBinding, request: RunRequest): Promise<OpenedState> {
    const opened = await this.#sealer.open({ token, binding, nowMs: this.#clock.now() });
    if (!opened.ok) {
      if (opened.retryable === true) {
        throw new RepriseError(
          "REQUEST_STATE_UNAVAILABLE",
          "the requestState can't be judged now",
          { data: { retryAfterMs: 1000 } },
        );
      }
      throw this.refuse(opened.cause, request);
    }
    const state = readState(opened.payload);
    if (state === undefined) throw this.refuse("payload", request);
    // Without a record nothing shows that an expired round was claimed in time.
    if (opened.expired && state.kind === "repeatable") throw this.refuse("expired", request);
    return { state, expired: opened.expired };
  }

  /** The one answer to every refused state (T3). */
  refuse(cause: string, request: RunRequest): RepriseError {
    this.#log.warn(
      {
        event: "request_state_refused",
        cause,
        method: request.method,
        target: request.target,
        principal: request.caller.principal,
      },
      "a requestState was refused",
    );
    this.#reporter?.refused(cause);
    return new RepriseError("REQUEST_STATE_INVALID", "the requestState is not valid");
  }
}

function tooLarge(state: OnceState | RepeatableState, bytes: number, limit: number): RepriseError {
  const parts =
    state.kind === "repeatable" ? [...state.entries, ...Object.entries(state.state)] : [];
  const sized = parts.map((part) => {
    const name =
      "kind" in part ? `${part.kind} ${"key" in part ? part.key : part.name}` : `state ${part[0]}`;
    return { name, bytes: Buffer.byteLength(JSON.stringify(part)) };
  });
  const largest = sized.toSorted((one, other) => other.bytes - one.bytes).slice(0, 3);
  const named = largest.map((part) => `${part.name} (${part.bytes} bytes)`).join(", ");
  return new RepriseError(
    "STATE_TOO_LARGE",
    `the sealed state would have ${bytes} bytes, ${limit} are allowed; the largest parts are ${named}. Declare the handler effects: "once", which keeps them in the store.`,
    { data: { bytes, limit, largest } },
  );
}

function readState(
  payload: Readonly<Record<string, unknown>>,
): OnceState | RepeatableState | undefined {
  const { kind, run, round } = payload as { kind?: unknown; run?: unknown; round?: unknown };
  if (typeof run !== "string" || !Number.isInteger(round)) return undefined;
  // The seal vouches for the rest: only this code writes payloads, and the format number is the sealer's to check.
  if (kind === "once" && Array.isArray(payload["asked"])) return payload as unknown as OnceState;
  if (
    kind === "repeatable" &&
    Array.isArray(payload["entries"]) &&
    isJsonObject(payload["state"] as JsonObject)
  ) {
    return payload as unknown as RepeatableState;
  }
  return undefined;
}
