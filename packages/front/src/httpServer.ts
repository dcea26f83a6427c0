/**
 * A front with a fastify instance of its own, for those who have none: services and `reprise dev`.
 */
import { RepriseError } from "@reprise/errors";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
} from "fastify";
import { isLoopbackName } from "./admission.ts";
import { refuseConnection, refusePath, refuseUrl } from "./brokenRequests.ts";
import { createFront } from "./front.ts";
import { type FrontOptions, whole } from "./options.ts";
import { closeSilentConnections } from "./silentConnections.ts";

/** Options of `createHttpServer`. */
export interface HttpServerOptions extends FrontOptions {
  /** Where log lines go: a pino logger, or one that looks like it. Default: nowhere. */
  readonly logger?: FastifyBaseLogger;
  /**
   * Whose `X-Forwarded-*` headers count: addresses or networks of the proxies in front, or true for any. Default false.
   * Where a proxy rewrites Host, this makes the original one count.
   */
  readonly trustProxy?: boolean | readonly string[];
  /**
   * How long a client may take to send one request, body and all, in milliseconds; then it gets 408 and its connection is closed.
   * Default 60000. Where nothing else limits connections, this is what slow senders are held off with.
   */
  readonly requestTimeoutMs?: number;
  /** The same for the head of a request. Default 15000; never more than `requestTimeoutMs`. */
  readonly headersTimeoutMs?: number;
  /** What is served beside MCP on the same address, such as the dashboard. Each guards itself. Default: nothing. */
  readonly plugins?: readonly FastifyPluginCallback[];
}

/** Options of `listen`. */
export interface ListenOptions extends HttpServerOptions {
  /** Address to bind. Default `127.0.0.1`. Others need `authenticate` or `auth: "none"`. */
  readonly host?: string;
  /** Port to bind. Default 3000; 0 takes a free one. */
  readonly port?: number;
}

/** A front that listens. */
export interface RunningFront {
  /** The MCP endpoint, such as `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly app: FastifyInstance;
  /** Takes no new connections and waits for the requests under way. The runtime stays open. Idempotent. */
  close(): Promise<void>;
}

/** The default of fastify is for ever. */
const defaultRequestTimeoutMs = 60_000;
const defaultHeadersTimeoutMs = 15_000;

/** A fastify instance with the front on it, not listening yet. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { trustProxy } = options;
  const requestTimeoutMs = whole(
    "requestTimeoutMs",
    options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    1,
  );
  const headersTimeoutMs = Math.min(
    whole("headersTimeoutMs", options.headersTimeoutMs ?? defaultHeadersTimeoutMs, 1),
    // Node wants it so: the head is a part of the request.
    requestTimeoutMs,
  );
  const app = fastify({
    ...(options.logger === undefined ? { logger: false } : { loggerInstance: options.logger }),
    // A line per call is the business of whoever wants it; 403s and failures are logged one by one.
    logController: new fastify.LogController({ disableRequestLogging: true }),
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Node looks for slow senders this often, and every 30 s unless told.
      connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4),
    },
    // What comes on a kept connection while the server stops is answered like anything else: by the runtime's BUSY, which says
    // when to come again, and not by a 503 that is no JSON-RPC.
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    frameworkErrors: refuseUrl,
    // `/mcp/` is what many a client makes of `/mcp`, and a redirect would lose the body with some of them.
    routerOptions: { ignoreTrailingSlash: true },
    ...(trustProxy === undefined
      ? {}
      : { trustProxy: typeof trustProxy === "boolean" ? trustProxy : [...trustProxy] }),
  });
  app.setNotFoundHandler(refusePath);
  closeSilentConnections(app);
  app.register(createFront(options));
  for (const plugin of options.plugins ?? []) app.register(plugin);
  return app;
}

/**
 * Serves a runtime.
 * @throws RepriseError CONFIG_INVALID for an address that needs auth, PORT_IN_USE with `data.port`
 */
export async function listen(options: ListenOptions): Promise<RunningFront> {
  const host = options.host ?? "127.0.0.1";
  const port = options.port ?? 3000;
  if (!isLoopbackName(host) && options.authenticate === undefined && options.auth !== "none") {
    throw new RepriseError(
      "CONFIG_INVALID",
      `host ${host} is reachable from other machines: set authenticate, or auth: "none" to let everybody call.`,
    );
  }
  const app = createHttpServer(options);
  if (
    !isLoopbackName(host) &&
    options.authenticate !== undefined &&
    !options.metricsToken?.length
  ) {
    options.logger?.warn(
      { event: "metrics_open", setting: "metricsToken" },
      "whoever reaches this address under an allowed Host can read /metrics without a token: set metricsToken, or keep /metrics inside",
    );
  }
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
      throw new RepriseError("PORT_IN_USE", `Port ${port} on ${host} is taken.`, {
        data: { host, port },
        cause: error,
      });
    }
    throw error;
  }
  const address = app.addresses()[0];
  const bound = typeof address === "object" ? address.port : port;
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return {
    url: `http://${name}:${bound}${options.path ?? "/mcp"}`,
    port: bound,
    app,
    close: () => app.close(),
  };
}
