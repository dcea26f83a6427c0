/**
 * One connection to one server, of either era.
 *
 * Made by openConnection.ts, called by the call loop; calls the official client, and nothing else of the network.
 *
 * Which layer of the official client: its multi-round-trip driver is switched off (`autoFulfill: false`, and
 * `allowInputRequired` per call), for three reasons. It keeps a half-done call in a closure, so that nothing could be saved
 * between two rounds and resumed by another process; it fulfils all asks of a round at once, where the gates show one at a
 * time; and it cannot repeat a broken round, because the answers are gone with the failed call. What stays theirs, and is
 * most of the work: version negotiation, the `_meta` envelope, sessions, request ids, `Mcp-*` and `Mcp-Param-*` headers,
 * exclusion of tools with invalid header declarations, SSE and its resumption, redirects, tokens, and the wire schemas.
 *
 * On servers of the handshake era the questions come as requests of the server, which `asks` answers; no result is an
 * `input_required` there.
 */
import {
  type Client,
  isInputRequiredResult,
  type LoggingLevel,
  type ProgressCallback,
  SdkHttpError,
  type StreamableHTTPClientTransport,
  type Tool,
} from "@modelcontextprotocol/client";
import { type Authorization, authorized } from "./authorization.ts";
import { lostCall, translate } from "./connectionErrors.ts";
import type { ServerIdentity } from "./host.ts";
import type { IncomingAsks } from "./incomingAsks.ts";

/** Modern: MCP 2026-07-28. Legacy: the revisions with an `initialize` handshake, 2025-11-25 and older. */
export type Era = "modern" | "legacy";

/** What one request of a call brought: its result, or the next questions. */
export type RoundResult =
  | { readonly kind: "complete"; readonly result: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "input_required";
      readonly inputRequests: Readonly<Record<string, unknown>>;
      readonly requestState?: string;
      readonly meta: Readonly<Record<string, unknown>>;
    };

/** Per-request options of a round. */
export interface RoundOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ProgressCallback;
  /** 2026-07-28 wants it with every request, the handshake era once for the session. */
  readonly logLevel?: LoggingLevel;
}

/** The parts of an open connection. */
export interface ConnectionParts {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  readonly asks: IncomingAsks;
  readonly url: URL;
  readonly authorization: Authorization | undefined;
  readonly requestTimeoutMs: number;
}

/** The longest time that a timer can take. A call that stays open for its questions is timed by its own silence. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** How long closing waits for the server to end the session; it is a courtesy to the server. */
const GOODBYE_MS = 2_000;

/** A connection that is open. */
export class Connection {
  /** The official client, for the parts of the protocol that do not ask: lists, completion, subscriptions. */
  readonly client: Client;
  readonly server: ServerIdentity;
  readonly era: Era;
  /** Answers what a server of the handshake era asks. */
  readonly asks: IncomingAsks;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #authorization: Authorization | undefined;
  readonly #timeoutMs: number;
  #listed: readonly Tool[] | undefined;

  constructor({ client, transport, asks, url, authorization, requestTimeoutMs }: ConnectionParts) {
    const name = client.getServerVersion()?.name;
    this.client = client;
    this.asks = asks;
    this.era = client.getProtocolEra() ?? "modern";
    this.#transport = transport;
    this.#authorization = authorization;
    this.#timeoutMs = requestTimeoutMs;
    this.server = {
      url: url.href,
      origin: url.origin,
      ...(name === undefined ? {} : { name }),
    };
  }

  /** Ends the session, where there is one, and closes. Never fails because of the server. */
  async close(): Promise<void> {
    if (this.era === "legacy") await this.#endSession();
    await this.client.close();
  }

  /** Whether `error` says that the session is over: the request was not executed, and a new session must be begun. */
  isSessionEnd(error: unknown): boolean {
    return (
      error instanceof SdkHttpError &&
      error.status === 404 &&
      this.#transport.sessionId !== undefined
    );
  }

  // A server may refuse (405) or be gone; its sessions end by themselves then.
  async #endSession(): Promise<void> {
    const ended = this.#transport.terminateSession().catch(() => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([ended, waited]);
    clearTimeout(timer);
  }

  /** All tools but those whose header declarations are invalid, which must not be called. Honours the server's cache hint. */
  async tools(signal: AbortSignal, refresh = false): Promise<readonly Tool[]> {
    // Without the capability the official client would write a line to the console.
    if (this.client.getServerCapabilities()?.tools === undefined) return [];
    const cacheMode = refresh ? "refresh" : "use";
    const options = { signal, timeout: this.#timeoutMs, cacheMode } as const;
    const { tools } = await this.#authorized(
      async () => await this.client.listTools(undefined, options),
    );
    this.#listed = tools;
    return tools;
  }

  /**
   * The tool's definition as last listed. The first call of a connection lists; later rounds do not, also where the cache hint is 0:
   * a definition that changed meanwhile shows as a header mismatch, and only then matters (`refresh`).
   */
  async tool(name: string, signal: AbortSignal, refresh: boolean): Promise<Tool | undefined> {
    const tools = refresh ? undefined : this.#listed;
    return (tools ?? (await this.tools(signal, refresh))).find((tool) => tool.name === name);
  }

  /**
   * Sends one request of a call. `tool` makes `Mcp-Param-*` headers. Its output schema is kept from the official client, which
   * would hold an `input_required` result against it; `outputProblem` checks the final result instead.
   */
  async send(
    method: string,
    params: Readonly<Record<string, unknown>>,
    tool: Tool | undefined,
    options: RoundOptions,
  ): Promise<RoundResult> {
    const request = {
      allowInputRequired: true,
      signal: options.signal,
      timeout: this.era === "modern" ? this.#timeoutMs : NO_TIMEOUT_MS,
      resetTimeoutOnProgress: true,
      ...(options.onProgress === undefined ? {} : { onprogress: options.onProgress }),
    };
    try {
      return asRound(
        await this.#authorized(async () => await this.#request(method, params, tool, request)),
      );
    } catch (error) {
      throw translate(this.era === "legacy" ? lostCall(error) : error);
    }
  }

  async #authorized<T>(work: () => Promise<T>): Promise<T> {
    return await authorized(() => this.#transport, this.#authorization, work);
  }

  async #request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    tool: Tool | undefined,
    options: Parameters<Client["callTool"]>[1],
  ): Promise<unknown> {
    // The loop made the params from a request that its own types or the saved call's parser checked.
    switch (method) {
      case "tools/call": {
        const { outputSchema: _, ...toolDefinition } = tool ?? ({} as Tool);
        return await this.client.callTool(params as Parameters<Client["callTool"]>[0], {
          ...options,
          ...(tool === undefined ? {} : { toolDefinition }),
        });
      }
      case "prompts/get":
        return await this.client.getPrompt(params as Parameters<Client["getPrompt"]>[0], options);
      default:
        return await this.client.readResource(params as Parameters<Client["readResource"]>[0], {
          ...options,
          cacheMode: "bypass",
        });
    }
  }
}

function asRound(value: unknown): RoundResult {
  if (!isInputRequiredResult(value)) {
    return { kind: "complete", result: value as Readonly<Record<string, unknown>> };
  }
  const { inputRequests = {}, requestState, _meta = {} } = value;
  return {
    kind: "input_required",
    inputRequests,
    ...(requestState === undefined ? {} : { requestState }),
    meta: _meta,
  };
}
