/**
 * A call that is open on a server of the handshake era.
 *
 * Made by the legacy loop, found by the incoming asks. It counts and names the questions that come while it is open, and is the
 * one thing that can be given up. Invariants:
 *
 * 1. It is given up once, with one reason; the first one stays. Giving up aborts `signal`, on which the official client sends
 *    `notifications/cancelled`: whoever leaves a question open on this era ends the call, since nothing could resume it.
 * 2. A round begins with a question that comes while none is open, so that questions asked together share one.
 * 3. A question gets the name that Reprise gives its kind (`confirm`, `elicit`, `elicitUrl`, `sample`, `listRoots`), further ones of
 *    a kind `confirm-2` and so on: the wire of this era has no keys, and a prepared answer needs one.
 */
import type { Ask, AskContext, ServerIdentity, UrlAsk } from "./host.ts";
import { ConnectionLost } from "./retry.ts";
import { tooManyRounds } from "./rounds.ts";
import type { CallRequest } from "./savedCall.ts";
import { Silence } from "./silence.ts";

/** What a call in flight needs. */
export interface InFlightOptions {
  readonly server: ServerIdentity;
  readonly maxInputRounds: number;
  /** Silence after which the call counts as lost, in milliseconds. */
  readonly silenceMs: number;
  /** The caller's own. */
  readonly signal: AbortSignal;
}

/** See the top of this file. */
export class CallInFlight {
  readonly request: CallRequest;
  /** Aborts when the caller or this side gives the call up. */
  readonly signal: AbortSignal;
  /** Pages of this call's URL asks, until the server says that what they are for is complete. */
  readonly pages: Map<string, UrlAsk> = new Map();
  readonly #options: InFlightOptions;
  readonly #givenUp = new AbortController();
  readonly #silence: Silence;
  readonly #named = new Map<string, number>();
  #open = 0;
  #round = 0;

  constructor(request: CallRequest, options: InFlightOptions) {
    this.request = request;
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#givenUp.signal]);
    this.#silence = new Silence(options.silenceMs, () =>
      this.giveUp(new ConnectionLost(`nothing came for ${options.silenceMs} ms`)),
    );
  }

  /** The tool, prompt or URI that was called. */
  get target(): string {
    const { method, params } = this.request;
    return String(params[method === "resources/read" ? "uri" : "name"]);
  }

  giveUp(reason: unknown): void {
    this.#givenUp.abort(reason);
  }

  /** The server gave a sign of life. */
  heard(): void {
    this.#silence.heard();
  }

  /** Names the next question of this kind. */
  nameFor(kind: string): string {
    const count = (this.#named.get(kind) ?? 0) + 1;
    this.#named.set(kind, count);
    return count === 1 ? kind : `${kind}-${count}`;
  }

  questionOpened(): void {
    const { maxInputRounds } = this.#options;
    if (this.#open === 0) this.#round += 1;
    this.#open += 1;
    this.#silence.questionOpened();
    if (this.#round > maxInputRounds) {
      this.giveUp(tooManyRounds(maxInputRounds, this.request));
    }
  }

  questionClosed(): void {
    this.#open -= 1;
    this.#silence.questionClosed();
  }

  /** What the host is told. `signal` is the question's own. */
  context(signal: AbortSignal, target: string = this.target): AskContext {
    const { server, maxInputRounds } = this.#options;
    const { method } = this.request;
    return { server, method, target, round: this.#round, maxInputRounds, canWait: false, signal };
  }

  /** The call is over. */
  end(): void {
    this.#silence.stop();
  }
}

/** The name that Reprise gives a question of this kind. A form of nothing but `confirm` is what `ctx.confirm` asks. */
export function kindName(ask: Ask): string {
  switch (ask.kind) {
    case "form": {
      const [only, ...others] = ask.fields;
      const confirms = only?.type === "boolean" && only.name === "confirm" && others.length === 0;
      return confirms ? "confirm" : "elicit";
    }
    case "url":
      return "elicitUrl";
    case "sample":
      return "sample";
    case "roots":
      return "listRoots";
  }
}
