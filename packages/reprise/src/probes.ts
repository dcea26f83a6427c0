/**
 * `/healthz` and `/readyz` of a worker, for whoever restarts and drains it. A front has its own.
 *
 * They tell nothing but a word; reasons go to the log.
 */
import { createServer, type ServerResponse } from "node:http";
import { RepriseError } from "@reprise/errors";
import type { Logger } from "@reprise/runtime";

/** What is asked before `/readyz` answers. */
export type Readiness = () => Promise<{ readonly ok: boolean; readonly reason?: string }>;

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
  readiness: Readiness,
  log: Logger,
): Promise<Probes> {
  const server = createServer((request, response) => {
    if (request.url === "/healthz") answer(response, 200, "ok");
    else if (request.url === "/readyz") void ready(response, readiness, log);
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

function answer(response: ServerResponse, status: number, word: string): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ status: word }));
}
