/**
 * A front with a fastify instance of its own, for those who have none: services and `reprise dev`.
 */
import { RepriseError } from "@reprise/errors";
import fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { isLoopbackName } from "./admission.ts";
import { createFront } from "./front.ts";
import type { FrontOptions } from "./options.ts";
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

/** How long a client may take to send one request. The default of fastify is for ever. */
const requestTimeoutMs = 60_000;

/** A fastify instance with the front on it, not listening yet. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { trustProxy } = options;
  const app = fastify({
    ...(options.logger === undefined ? { logger: false } : { loggerInstance: options.logger }),
    // A line per call is the business of whoever wants it; 403s and failures are logged one by one.
    logController: new fastify.LogController({ disableRequestLogging: true }),
    requestTimeout: requestTimeoutMs,
    // `/mcp/` is what many a client makes of `/mcp`, and a redirect would lose the body with some of them.
    routerOptions: { ignoreTrailingSlash: true },
    ...(trustProxy === undefined
      ? {}
      : { trustProxy: typeof trustProxy === "boolean" ? trustProxy : [...trustProxy] }),
  });
  closeSilentConnections(app);
  app.register(createFront(options));
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
