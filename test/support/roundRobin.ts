/**
 * A proxy that gives each request to the next server, whatever session it belongs to. A request whose server is away goes to
 * the next one; one that was begun is cut with its server.
 */
import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A running proxy. */
export interface RoundRobin {
  readonly url: string;
  /** Requests that each server got, in the order of the servers. */
  readonly counts: readonly number[];
  close(): Promise<void>;
}

/** Starts a proxy to servers with the same path. */
export async function roundRobin(targets: readonly string[]): Promise<RoundRobin> {
  const counts = targets.map(() => 0);
  let next = 0;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const first = next++;
    const tryServer = (attempt: number): void => {
      const place = (first + attempt) % targets.length;
      const { method, headers } = request;
      const onward = httpRequest(targets[place] ?? "", { method, headers }, (answer) => {
        counts[place] = (counts[place] ?? 0) + 1;
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.on("error", () => response.destroy());
        answer.pipe(response);
      });
      response.on("close", () => onward.destroy());
      onward.on("error", () => {
        if (response.headersSent || attempt + 1 >= targets.length) response.destroy();
        else tryServer(attempt + 1);
      });
      onward.end(body);
    };
    tryServer(0);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(targets[0] ?? "").pathname}`,
    counts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
