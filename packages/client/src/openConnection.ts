/**
 * Opens a connection: finds out the server's era, and has the official client make itself known in it.
 *
 * Called by the call loop, each time with a new transport. Era detection (MCP 2026-07-28, versioning, "Backward Compatibility"):
 *
 * 1. `server/discover` is asked first. It runs no handler on any server, so finding out does nothing twice.
 * 2. A discovery, or an error that only 2026-07-28 has, means modern. Whatever else is an answer (4xx, a JSON-RPC error of any
 *    code, a result of another form) means legacy, and `initialize` follows on the same transport.
 * 3. A server that chokes on the unknown request (500, 501, another content type, no answer within 10 s) gets an `initialize` of
 *    its own; only if that fails too, the first failure stands. 502 to 504 and broken connections are a gateway's or the
 *    network's, say nothing of the era, and are repeated by the caller.
 * 4. A known era (`era`, `discovered`) is not asked for again.
 */
import {
  Client,
  type ConnectOptions,
  type DiscoverResult,
  type FetchLike,
  type Implementation,
  type LoggingLevel,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { type Authorization, authorized } from "./authorization.ts";
import { Connection, type Era } from "./connection.ts";
import { translateOpening } from "./connectionErrors.ts";
import { type Repeating, repeating } from "./exchange.ts";
import type { Host } from "./host.ts";
import { IncomingAsks } from "./incomingAsks.ts";
import { hostCapabilities } from "./parseAsks.ts";
import type { Clock } from "./retry.ts";
import type { StreamScope } from "./streamScope.ts";
import { WatchedTransport } from "./watchedTransport.ts";

const MODERN = "2026-07-28";

/** How long a server may think about `server/discover`. */
const DISCOVERY_MS = 10_000;

/** What opening a connection needs. */
export interface OpeningOptions {
  readonly url: URL;
  readonly host: Host;
  readonly clientInfo: Implementation;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: (() => Promise<string | undefined>) | undefined;
  readonly authorization: Authorization | undefined;
  readonly fetch: FetchLike | undefined;
  readonly era: Era | undefined;
  readonly discovered: DiscoverResult | undefined;
  readonly requestTimeoutMs: number;
  readonly repeat: Repeating;
  readonly logLevel: LoggingLevel | undefined;
  /** Tells which call a question belongs to. */
  readonly newStreamScope: () => StreamScope;
}

/**
 * Throws what the official client throws, but UNSUPPORTED_VERSION for a server of no revision that is spoken here, and
 * UNAUTHORIZED.
 */
export async function openConnection(options: OpeningOptions): Promise<Connection> {
  try {
    return await open(options, options.era);
  } catch (error) {
    if (options.era === undefined && options.discovered === undefined && isChoking(error)) {
      const legacy = await open(options, "legacy").catch(() => undefined);
      if (legacy !== undefined) return legacy;
    }
    throw translateOpening(error, options.url);
  }
}

async function open(options: OpeningOptions, era: Era | undefined): Promise<Connection> {
  const { url, host, authorization, requestTimeoutMs } = options;
  // Read by the transport whenever a stream breaks. On 2026-07-28 no stream can be resumed (streamable HTTP, "Receiving
  // Messages"), and before the era is known there is none.
  const reconnection = {
    maxRetries: 0,
    initialReconnectionDelay: options.repeat.retry.firstDelayMs,
    maxReconnectionDelay: options.repeat.retry.maxDelayMs,
    reconnectionDelayGrowFactor: 2,
  };
  const newTransport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...options.headers } },
      reconnectionOptions: reconnection,
      reconnectionScheduler: scheduler(options.repeat.clock),
      ...authProvider(options),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    });
  let transport = newTransport();
  const connect = async (): Promise<Connection> => {
    // A transport is started once; the one that was refused is still needed to finish its authorization.
    transport = newTransport();
    const used = transport;
    const asks = new IncomingAsks(host, options.newStreamScope());
    const client = new Client(options.clientInfo, {
      capabilities: hostCapabilities(host),
      versionNegotiation: {
        mode: era === "modern" ? { pin: MODERN } : "auto",
        probe: { timeoutMs: Math.min(DISCOVERY_MS, requestTimeoutMs) },
      },
      inputRequired: { autoFulfill: false },
    });
    asks.serve(client);
    const watched = new WatchedTransport(
      used,
      async (send) => await repeating(send, options.repeat, new AbortController().signal),
    );
    await client.connect(watched, { timeout: requestTimeoutMs, ...prior(options, era) });
    const connection = new Connection({ client, transport: used, asks, ...options });
    if (connection.era === "legacy") {
      reconnection.maxRetries = options.repeat.retry.attempts - 1;
      await wantLogs(client, options.logLevel);
    }
    return connection;
  };
  return await authorized(() => transport, authorization, connect);
}

async function wantLogs(client: Client, level: LoggingLevel | undefined): Promise<void> {
  if (level === undefined || client.getServerCapabilities()?.logging === undefined) return;
  await client.setLoggingLevel(level);
}

function prior(
  { discovered }: OpeningOptions,
  era: Era | undefined,
): Pick<ConnectOptions, "prior"> | undefined {
  if (era === "legacy") return { prior: { kind: "legacy" } };
  return discovered === undefined ? undefined : { prior: { kind: "modern", discover: discovered } };
}

function authProvider({ token, authorization }: OpeningOptions) {
  if (authorization !== undefined) return { authProvider: authorization.provider };
  return token === undefined ? {} : { authProvider: { token } };
}

/** The wait before a stream is asked for again (`retry:` of the server, else a growing pause), on our clock. */
function scheduler(clock: Clock) {
  return (reconnect: () => void, delayMs: number): (() => void) => {
    const stop = new AbortController();
    void clock.sleep(delayMs, stop.signal).then(reconnect, () => undefined);
    return () => stop.abort();
  };
}

function isChoking(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 500 || error.status === 501;
  if (!(error instanceof SdkError)) return false;
  const { cause } = error;
  return (
    error.code === SdkErrorCode.RequestTimeout ||
    (cause instanceof SdkError && cause.code === SdkErrorCode.ClientHttpUnexpectedContent)
  );
}
