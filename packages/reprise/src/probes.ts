/**
 * `/healthz`, `/readyz` and `/metrics` of a worker, for whoever restarts, drains and adds them. A front has its own.
 *
 * The probes tell nothing but a word; reasons go to the log.
 */
import { createServer, type ServerResponse } from "node:http";
import { RepriseError } from "@reprise/errors";
import type { Logger } from "@reprise/runtime";

/** What is asked before `/readyz` answers. */
export type Readiness = () => Promise<{ readonly ok: boolean; readonly reason?: string }>;

/** The text of `/metrics`, in the Prometheus format. */
export type Metrics = () => Promise<string>;

/** Probes that answer. */
export interface Probes {
  /** Where, such as `http://127.0.0.1:3002`. */
  readonly url: string;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Answers on `host` and `port`. @throws RepriseError PORT_IN_USE */
export async function serveProbes(
  { host, port }: { readonly host: string; readonly port: number },
  { readiness, metrics }: { readonly readiness: Readiness; readonly metrics: Metrics },
  log: Logger,
): Promise<Probes> {
  const server = createServer((request, response) => {
    if (request.url === "/healthz") answer(response, 200, "ok");
    else if (request.url === "/readyz") void ready(response, readiness, log);
    else if (request.url === "/metrics") void measured(response, metrics, log);
    else answer(response, 404, "not found");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      const message = `Port ${port} on ${host} is taken.`;
      const data = { host, port };
      reject(isTaken ? new RepriseError("PORT_IN_USE", message, { cause, data }) : cause);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

async function ready(response: ServerResponse, readiness: Readiness, log: Logger): Promise<void> {
  try {
    const { ok, reason } = await readiness();
    if (ok) return answer(response, 200, "ready");
    log.warn({ reason }, "not ready");
  } catch (error) {
    log.warn({ err: error }, "not ready");
  }
  answer(response, 503, "unavailable");
}

async function measured(response: ServerResponse, metrics: Metrics, log: Logger): Promise<void> {
  let text: string;
  try {
    text = await metrics();
  } catch (error) {
    log.warn({ err: error }, "the queues can't be measured");
    return answer(response, 503, "unavailable");
  }
  response.writeHead(200, {
    "content-type": "text/plain; version=0.0.4; charset=utf-8",
    connection: "close",
  });
  response.end(text);
}

function answer(response: ServerResponse, status: number, word: string): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ status: word }));
}
