/**
 * The dashboard with a fastify instance of its own, for a process that serves nothing else.
 */
import { RepriseError } from "@reprise/errors";
import fastify, { type FastifyBaseLogger } from "fastify";
import { opsPlugin } from "./opsPlugin.ts";
import type { OpsOptions } from "./options.ts";

/** Options of `listenOps`. */
export interface OpsServerOptions extends Omit<OpsOptions, "logger"> {
  /** Address to bind. Default `127.0.0.1`. One-time links are refused on any other. */
  readonly host?: string;
  /** Port to bind. Default 3004; 0 takes a free one. */
  readonly port?: number;
  /** Where log lines go: a pino logger, or one that looks like it. Default: nowhere. */
  readonly logger?: FastifyBaseLogger;
}

/** A dashboard that listens. */
export interface RunningOps {
  /** Such as `http://127.0.0.1:3004/ops/`. */
  readonly url: string;
  readonly port: number;
  /** Ends open pages' streams and the requests under way. What it was given stays open. Idempotent. */
  close(): Promise<void>;
}

/** How long a browser may take to send one request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How long loading bull-board may take, which a machine that starts many things at once makes seconds of. */
const START_TIMEOUT_MS = 120_000;

/** Serves it, and `/healthz` for whoever restarts it. @throws RepriseError PORT_IN_USE with `data.port` */
export async function listenOps(options: OpsServerOptions): Promise<RunningOps> {
  const { host = "127.0.0.1", port = 3004, logger, ...ops } = options;
  const app = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new fastify.LogController({ disableRequestLogging: true }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    pluginTimeout: START_TIMEOUT_MS,
    // Pages keep connections open, and a stop must not wait for them.
    forceCloseConnections: true,
  });
  app.get("/healthz", async () => ({ status: "ok" }));
  app.register(opsPlugin({ ...ops, ...(logger === undefined ? {} : { logger }) }));
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    if ((cause as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cause;
    const message = `Port ${port} on ${host} is taken.`;
    throw new RepriseError("PORT_IN_USE", message, { data: { host, port }, cause });
  }
  const address = app.addresses()[0];
  const bound = typeof address === "object" ? address.port : port;
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return { url: `http://${name}:${bound}/ops/`, port: bound, close: () => app.close() };
}
