/**
 * What a program sees of this package: the options of `connect`, the client that it gives, and how calls come out.
 *
 * Types only. Implemented by the call loop in client.ts.
 */
import type {
  CallToolResult,
  Client,
  DiscoverResult,
  FetchLike,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  ProgressCallback,
  ReadResourceResult,
  Tool,
} from "@modelcontextprotocol/client";
import type { Authorization } from "./authorization.ts";
import type { Era } from "./connection.ts";
import type { Ask, Host, ServerIdentity } from "./host.ts";
import type { Clock, RetryPolicy } from "./retry.ts";
import type { SavedCall } from "./savedCall.ts";

/** Options of `connect`. */
export interface ConnectOptions {
  /** The MCP endpoint: http or https, without user name and password. */
  readonly url: string | URL;
  /** What shows the questions; decides which capabilities are declared. */
  readonly host: Host;
  /** Default `{ name: "reprise-client", version: "0.1.0" }`. */
  readonly clientInfo?: Implementation;
  /** Headers of every request. Not kept in saved calls. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives the bearer token before each request. Not kept in saved calls. */
  readonly token?: () => Promise<string | undefined>;
  /** OAuth, for servers that want it; in place of `token`. */
  readonly authorization?: Authorization;
  /** Default: the global fetch, in Node without its five minutes for a silent response: `requestTimeoutMs` decides. */
  readonly fetch?: FetchLike;
  /** The server's era, if it is known (`HostClient.era` of an earlier connection). Default: found out with `server/discover`. */
  readonly era?: Era;
  /** What an earlier connection's `discovered` was: saves the `server/discover` request. */
  readonly discovered?: DiscoverResult;
  /** Rounds of answers after which the call is given up. Default 8; servers of Reprise count to the same. */
  readonly maxInputRounds?: number;
  /**
   * Silence after which one request counts as broken. Default 300,000; a progress notification starts it anew, and it is not
   * counted while a server of the handshake era waits for an answer.
   */
  readonly requestTimeoutMs?: number;
  /** Repeats of broken requests. A server that does not know the idempotency key may execute a repeat: set `attempts: 1` for it. */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Stores a call whenever it changed. It is awaited, and its failure stops the call before anything else is sent. Not called on
   * servers of the handshake era, whose calls can't be resumed.
   */
  readonly onChange?: (call: SavedCall) => Promise<void>;
  /** Progress of a running request. Asking for it makes servers answer with a stream. */
  readonly onProgress?: ProgressCallback;
  /**
   * The least level of log messages that servers shall send while a call runs. They come as notifications of `official`. Default:
   * none is asked for, and servers of 2026-07-28 send none.
   */
  readonly logLevel?: LoggingLevel;
  /** Gives up opening the connection. Calls have a signal of their own. */
  readonly signal?: AbortSignal;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

/** How a call came out of the loop. */
export type Outcome<R> =
  /** It has its result. `outputProblem`: what a tool's structured content has against the tool's own output schema. */
  | { readonly status: "complete"; readonly result: R; readonly outputProblem?: string }
  /** Questions are open; `resume(call)` asks them again. Never on the handshake era: CALL_CANNOT_WAIT is thrown there. */
  | { readonly status: "waiting"; readonly call: SavedCall; readonly open: readonly Ask[] }
  /** The person refused a sampling or roots ask. Nothing is sent then, on 2026-07-28: no server waits for it (sampling, "Error Handling"). */
  | { readonly status: "refused"; readonly call: SavedCall; readonly ask: Ask };

/** The result of whichever method a resumed call has. */
export type AnyResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** Options of one call. */
export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason; what was sent may have happened. */
  readonly signal?: AbortSignal;
  /**
   * The key of the call, at least 22 characters. Default: 192 random bits. The key of an earlier call with the same arguments makes
   * this one a repeat of it, on servers that know keys. `resume` takes the saved call's own.
   */
  readonly idempotencyKey?: string;
}

/** A connected host. */
export interface HostClient {
  readonly server: ServerIdentity;
  /** Give it to the next `connect` to this server. */
  readonly era: Era;
  /** What the server said of itself; give it to the next `connect`. Only servers of 2026-07-28 have it. */
  readonly discovered: DiscoverResult | undefined;
  /** The official client on the same connection, for all that does not ask: lists, completion, subscriptions. Another one after a session ended. */
  readonly official: Client;
  listTools(options?: CallOptions): Promise<readonly Tool[]>;
  callTool(
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Outcome<CallToolResult>>;
  getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Outcome<GetPromptResult>>;
  readResource(uri: string, options?: CallOptions): Promise<Outcome<ReadResourceResult>>;
  /** Goes on with a saved call: asks what is open, repeats what was sent and got no response. */
  resume(call: SavedCall, options?: CallOptions): Promise<Outcome<AnyResult>>;
  close(): Promise<void>;
}
