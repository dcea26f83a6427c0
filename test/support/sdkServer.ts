/**
 * A server of the handshake era made with the official SDK of that era (v1): sessions, streams and questions are all theirs.
 *
 * One transport and one server object for each session, in one process, as that SDK's own examples have it.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type EventStore,
  StreamableHTTPServerTransport,
} from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";

/** A running server. */
export interface SdkServer {
  readonly url: string;
  /** Ids of the sessions that are open. */
  sessions(): readonly string[];
  /** Forgets a session, as a restart of the process does. */
  forget(session: string): void;
}

/** Serves what `make` makes, anew for each session; closed with the test. `events` makes its streams resumable. */
export async function sdkServer(make: () => McpServer, events?: EventStore): Promise<SdkServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === "POST" ? await json(request) : undefined;
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (known !== undefined) {
      await known.handleRequest(request, response, body);
    } else if (id === undefined && isInitializeRequest(body)) {
      await (await begin()).handleRequest(request, response, body);
    } else {
      const error =
        id === undefined
          ? { code: -32_000, message: "Bad Request: No valid session ID provided" }
          : { code: -32_001, message: "Session not found" };
      response.writeHead(id === undefined ? 400 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
    }
  }

  async function begin(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void transports.set(session, transport),
      onsessionclosed: (session) => void transports.delete(session),
      ...(events === undefined ? {} : { eventStore: events }),
    });
    // The SDK's own types differ under exactOptionalPropertyTypes.
    await make().connect(transport as Parameters<McpServer["connect"]>[0]);
    return transport;
  }

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sessions: () => [...transports.keys()],
    forget: (session) => void transports.delete(session),
  };
}
