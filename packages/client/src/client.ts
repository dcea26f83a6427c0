/**
 * The call loop: a call from its first request to its result, over as many rounds of questions as it takes.
 *
 * Called by hosts and by the terminal, in Node and in browsers; calls the exchange and the gates. Invariants:
 *
 * 1. A call has one idempotency key, drawn before anything is sent, and every request of the call carries it.
 * 2. Before a request is sent, and after each answer and each response, `onChange` has stored the call: a process that dies at any
 *    point leaves a call that can be resumed without doing anything twice.
 * 3. State and answers belong to the round that they came with (multi round-trip requests, client requirements 2 and 4): the
 *    next round replaces both, and an absent state stays absent.
 * 4. Nothing is answered but by the host; a call ends by itself only with a result or an error.
 *
 * Invariant 2 is one of 2026-07-28. On the handshake era a call hangs on its stream (legacyCall.ts) and is never stored.
 */
import type {
  CallToolResult,
  Client,
  DiscoverResult,
  GetPromptResult,
  ReadResourceResult,
  Tool,
} from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import type { Connection, Era } from "./connection.ts";
import { exchange, type Repeating, repeating } from "./exchange.ts";
import { type Gathered, gather } from "./gates.ts";
import type { AskContext, ServerIdentity } from "./host.ts";
import type { AnyResult, CallOptions, ConnectOptions, HostClient, Outcome } from "./hostClient.ts";
import { callLegacy } from "./legacyCall.ts";
import { openConnection } from "./openConnection.ts";
import { outputProblem } from "./outputProblem.ts";
import { parseAsks } from "./parseAsks.ts";
import { retryPolicy } from "./retry.ts";
import { nextRound, tooManyRounds, withAnswers } from "./rounds.ts";
import {
  type CallRequest,
  newCall,
  newIdempotencyKey,
  type PendingRound,
  type SavedCall,
} from "./savedCall.ts";
import type { StreamScope } from "./streamScope.ts";
import { systemClock } from "./systemClock.ts";

/** Opens a connection (connect.ts, connectInBrowser.ts), with the one thing that Node and browsers do differently. */
export async function connectWith(
  options: ConnectOptions,
  newStreamScope: () => StreamScope,
): Promise<HostClient> {
  const url = endpoint(options.url);
  const maxInputRounds = positive("maxInputRounds", options.maxInputRounds ?? 8);
  const requestTimeoutMs = positive("requestTimeoutMs", options.requestTimeoutMs ?? 300_000);
  const repeat: Repeating = {
    retry: retryPolicy(options.retry),
    clock: options.clock ?? systemClock,
    random: Math.random,
  };
  if (options.token !== undefined && options.authorization !== undefined) {
    throw new TypeError("give token or authorization, not both");
  }
  const open = (signal: AbortSignal): Promise<Connection> =>
    repeating(
      () =>
        openConnection({
          url,
          host: options.host,
          clientInfo: options.clientInfo ?? { name: "reprise-client", version: "0.1.0" },
          headers: options.headers ?? {},
          token: options.token,
          authorization: options.authorization,
          fetch: options.fetch,
          era: options.era,
          discovered: options.discovered,
          requestTimeoutMs,
          repeat,
          logLevel: options.logLevel,
          newStreamScope,
        }),
      repeat,
      signal,
    );
  const connection = await open(options.signal ?? new AbortController().signal);
  return new LoopClient(connection, open, options, { repeat, maxInputRounds, requestTimeoutMs });
}

/** Options of `connect`, checked and with their defaults. */
interface Settled {
  readonly repeat: Repeating;
  readonly maxInputRounds: number;
  readonly requestTimeoutMs: number;
}

class LoopClient implements HostClient {
  #connection: Connection;
  readonly #open: (signal: AbortSignal) => Promise<Connection>;
  readonly #options: ConnectOptions;
  readonly #repeat: Repeating;
  readonly #maxInputRounds: number;
  readonly #requestTimeoutMs: number;

  constructor(
    connection: Connection,
    open: (signal: AbortSignal) => Promise<Connection>,
    options: ConnectOptions,
    { repeat, maxInputRounds, requestTimeoutMs }: Settled,
  ) {
    this.#connection = connection;
    this.#open = open;
    this.#options = options;
    this.#repeat = repeat;
    this.#maxInputRounds = maxInputRounds;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  get server(): ServerIdentity {
    return this.#connection.server;
  }

  get era(): Era {
    return this.#connection.era;
  }

  get discovered(): DiscoverResult | undefined {
    return this.#connection.client.getDiscoverResult();
  }

  get official(): Client {
    return this.#connection.client;
  }

  async listTools(options: CallOptions = {}): Promise<readonly Tool[]> {
    const signal = options.signal ?? new AbortController().signal;
    const connection = this.#connection;
    try {
      return await repeating(async () => await connection.tools(signal), this.#repeat, signal);
    } catch (error) {
      if (!connection.isSessionEnd(error)) throw error;
      await this.#reopen(connection, signal);
      return await this.#connection.tools(signal);
    }
  }

  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<Outcome<CallToolResult>> {
    const request: CallRequest = { method: "tools/call", params: { name, arguments: args } };
    return await this.#begin<CallToolResult>(request, options);
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<Outcome<GetPromptResult>> {
    const request: CallRequest = { method: "prompts/get", params: { name, arguments: args } };
    return await this.#begin<GetPromptResult>(request, options);
  }

  async readResource(uri: string, options: CallOptions = {}): Promise<Outcome<ReadResourceResult>> {
    return await this.#begin<ReadResourceResult>(
      { method: "resources/read", params: { uri } },
      options,
    );
  }

  async resume(call: SavedCall, options: CallOptions = {}): Promise<Outcome<AnyResult>> {
    // A state is opaque and may be anybody's: it goes back to the server that gave it, and to no other.
    if (endpoint(call.url).href !== this.server.url) {
      throw new TypeError("call.url is not the endpoint of this connection");
    }
    if (this.era === "legacy") {
      throw new RepriseError(
        "CALL_CANNOT_WAIT",
        "The call was saved from a server of revision 2026-07-28, and this one has the handshake era, which can't go on with it.",
      );
    }
    return await this.#run<AnyResult>(call, options);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #begin<R>(request: CallRequest, options: CallOptions): Promise<Outcome<R>> {
    const key = options.idempotencyKey ?? newIdempotencyKey();
    return await this.#run<R>(newCall(this.server.url, request, key), options);
  }

  async #run<R>(start: SavedCall, options: CallOptions): Promise<Outcome<R>> {
    const signal = options.signal ?? new AbortController().signal;
    if (this.era === "legacy") return await this.#runLegacy<R>(start, signal);
    const { onProgress, logLevel } = this.#options;
    let call = start;
    for (;;) {
      if (call.pending !== undefined) {
        const gathered = await this.#gather(call, call.pending, signal);
        ({ call } = gathered);
        if (gathered.status === "later") return { status: "waiting", call, open: gathered.open };
        if (gathered.status === "refused") return { status: "refused", call, ask: gathered.ask };
      }
      await this.#changed(call);
      const { round, tool } = await exchange(this.#connection, call, this.#repeat, {
        signal,
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(logLevel === undefined ? {} : { logLevel }),
      });
      if (round.kind === "complete") {
        return await completed<R>(tool, round.result);
      }
      call = nextRound(call, round);
      await this.#changed(call);
    }
  }

  async #runLegacy<R>(call: SavedCall, signal: AbortSignal): Promise<Outcome<R>> {
    const { onProgress } = this.#options;
    const { result, tool } = await callLegacy(call, {
      signal,
      maxInputRounds: this.#maxInputRounds,
      silenceMs: this.#requestTimeoutMs,
      repeat: this.#repeat,
      connection: () => this.#connection,
      reopen: async (ended) => await this.#reopen(ended, signal),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    return await completed<R>(tool, result);
  }

  /** Begins a new session in place of one that the server no longer knows; once, if several calls found that out. */
  async #reopen(ended: Connection, signal: AbortSignal): Promise<void> {
    if (this.#connection !== ended) return;
    const opened = await this.#open(signal);
    if (this.#connection !== ended) {
      await opened.close();
      return;
    }
    this.#connection = opened;
    await ended.client.close();
  }

  /** Has the open round answered. The call that comes back holds the answers that there are. */
  async #gather(
    call: SavedCall,
    pending: PendingRound,
    signal: AbortSignal,
  ): Promise<Gathered & { readonly call: SavedCall }> {
    if (call.round > this.#maxInputRounds) throw tooManyRounds(this.#maxInputRounds, call.request);
    const asks = parseAsks(pending.inputRequests);
    const answers = new Map(Object.entries(pending.answers));
    const answered = (): SavedCall => ({ ...call, pending: withAnswers(pending, answers) });
    if (asks.length === 0) {
      // Only a state: the server sheds load and asks to come back; at once would be no relief (InputRequiredResult).
      await this.#repeat.clock.sleep(this.#repeat.retry.firstDelayMs, signal);
    }
    const gathered = await gather(
      this.#options.host,
      asks,
      answers,
      this.#context(call, pending, signal),
      async () => await this.#changed(answered()),
    );
    return { ...gathered, call: answered() };
  }

  #context(call: SavedCall, pending: PendingRound, signal: AbortSignal): AskContext {
    const { method, params } = call.request;
    return {
      server: this.server,
      method,
      target: String(params[method === "resources/read" ? "uri" : "name"]),
      round: call.round,
      maxInputRounds: this.#maxInputRounds,
      ...(pending.answerBefore === undefined
        ? {}
        : { answerBefore: new Date(pending.answerBefore) }),
      canWait: true,
      signal,
    };
  }

  async #changed(call: SavedCall): Promise<void> {
    await this.#options.onChange?.(call);
  }
}

async function completed<R>(
  tool: Tool | undefined,
  result: Readonly<Record<string, unknown>>,
): Promise<Outcome<R>> {
  const problem = await outputProblem(tool, result);
  return {
    status: "complete",
    // The wire schema of the method was checked by the official client.
    result: result as R,
    ...(problem === undefined ? {} : { outputProblem: problem }),
  };
}

function endpoint(url: string | URL): URL {
  if (!URL.canParse(String(url))) throw new TypeError("url is not a complete URL");
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new TypeError("url must be http or https");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new TypeError("url must not carry a user name or password; use token or headers");
  }
  return parsed;
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`${name} must be a whole number of at least 1`);
  }
  return value;
}
