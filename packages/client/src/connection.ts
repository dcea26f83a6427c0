/**
 * One connection to one server: the official client, opened for the revision that Reprise speaks.
 *
 * Called by the call loop; calls the official client and transport, and nothing else of the network.
 *
 * Which layer of the official client: its multi-round-trip driver is switched off (`autoFulfill: false`, and
 * `allowInputRequired` per call), for three reasons. It keeps a half-done call in a closure, so that nothing could be saved
 * between two rounds and resumed by another process; it fulfils all asks of a round at once, where the gates show one at a
 * time; and it cannot repeat a broken round, because the answers are gone with the failed call. What stays theirs, and is
 * most of the work: version negotiation, the `_meta` envelope, request ids, `Mcp-*` and `Mcp-Param-*` headers, exclusion of
 * tools with invalid header declarations, SSE, redirects, tokens, and the wire schemas.
 *
 * The seam for legacy revisions is here: `open` pins 2026-07-28. A legacy era would register the host as the handlers of
 * server-initiated requests on this client, and the loop would see no `input_required` from it.
 */
import {
  Client,
  type DiscoverResult,
  type FetchLike,
  type Implementation,
  isInputRequiredResult,
  type ProgressCallback,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import type { Host, ServerIdentity } from "./host.ts";
import { hostCapabilities } from "./parseAsks.ts";
import { WatchedTransport } from "./watchedTransport.ts";

/** The one revision that is spoken. */
const REVISION = "2026-07-28";

/** What opening a connection needs. */
export interface ConnectionOptions {
  readonly url: URL;
  readonly host: Host;
  readonly clientInfo: Implementation;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: (() => Promise<string | undefined>) | undefined;
  readonly fetch: FetchLike | undefined;
  readonly discovered: DiscoverResult | undefined;
  readonly requestTimeoutMs: number;
}

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
}

/** A connection that is open. */
export class Connection {
  /** The official client, for the parts of the protocol that do not ask: lists, completion, subscriptions. */
  readonly client: Client;
  readonly server: ServerIdentity;
  readonly #timeoutMs: number;
  #listed: readonly Tool[] | undefined;

  private constructor(client: Client, options: ConnectionOptions) {
    const name = client.getServerVersion()?.name;
    this.client = client;
    this.#timeoutMs = options.requestTimeoutMs;
    this.server = {
      url: options.url.href,
      origin: options.url.origin,
      ...(name === undefined ? {} : { name }),
    };
  }

  /** Throws what the official client throws, but UNSUPPORTED_VERSION for a server of another revision and UNAUTHORIZED. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { token, discovered } = options;
    const transport = new StreamableHTTPClientTransport(options.url, {
      requestInit: { headers: { ...options.headers } },
      // A stream of this revision cannot be resumed by GET (streamable HTTP, "Receiving Messages"): a lost one is a lost request.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
      ...(token === undefined ? {} : { authProvider: { token } }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    });
    const client = new Client(options.clientInfo, {
      capabilities: hostCapabilities(options.host),
      versionNegotiation: { mode: { pin: REVISION } },
      inputRequired: { autoFulfill: false },
    });
    const watched = new WatchedTransport(transport);
    try {
      await client.connect(watched, {
        timeout: options.requestTimeoutMs,
        ...(discovered === undefined ? {} : { prior: { kind: "modern", discover: discovered } }),
      });
    } catch (error) {
      throw translate(error, watched.strangeStatus, options.url);
    }
    return new Connection(client, options);
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  /** All tools but those whose header declarations are invalid, which must not be called. Honours the server's cache hint. */
  async tools(signal: AbortSignal, refresh = false): Promise<readonly Tool[]> {
    // Without the capability the official client would write a line to the console.
    if (this.client.getServerCapabilities()?.tools === undefined) return [];
    const cacheMode = refresh ? "refresh" : "use";
    const options = { signal, timeout: this.#timeoutMs, cacheMode } as const;
    this.#listed = (await this.client.listTools(undefined, options)).tools;
    return this.#listed;
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
      timeout: this.#timeoutMs,
      resetTimeoutOnProgress: true,
      ...(options.onProgress === undefined ? {} : { onprogress: options.onProgress }),
    };
    try {
      return asRound(await this.#request(method, params, tool, request));
    } catch (error) {
      throw translate(error);
    }
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

function translate(error: unknown, strangeStatus?: number, url?: URL): unknown {
  const status = error instanceof SdkHttpError ? error.status : undefined;
  if (error instanceof UnauthorizedError || status === 401) {
    return new RepriseError("UNAUTHORIZED", "The server wants a valid token.", { cause: error });
  }
  const noRevision =
    error instanceof UnsupportedProtocolVersionError ||
    (error instanceof SdkError &&
      error.code === SdkErrorCode.EraNegotiationFailed &&
      status === undefined &&
      error.cause === undefined);
  if (noRevision) {
    const what =
      strangeStatus === undefined || url === undefined
        ? `The server does not speak MCP ${REVISION}, which this client needs.`
        : `There is no MCP server of revision ${REVISION} at ${url.href} (HTTP ${strangeStatus}): check the address and its path.`;
    return new RepriseError("UNSUPPORTED_VERSION", what, { cause: error });
  }
  return error;
}
