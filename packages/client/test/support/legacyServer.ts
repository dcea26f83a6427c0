/**
 * A server of the handshake era on node:http, for tests: what it sends while a call is open is scripted, what it got is kept.
 *
 * Like fakeServer.ts it shares no code with Reprise's front. A script gets the open stream of each `tools/call`.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

type Body = Readonly<Record<string, unknown>>;

/** A message that the client sent. */
interface Sent {
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
}

/** The stream of one call. */
export interface OpenCall {
  readonly id: unknown;
  readonly params: Body;
  send(message: Body, eventId?: string): void;
  /** Asks, and resolves with the client's whole response. */
  ask(id: string, method: string, params?: Body): Promise<Body>;
  result(content: string): void;
  /** A line that is no event's data. */
  raw(line: string): void;
  end(): void;
  cut(): void;
}

export interface LegacyServer {
  readonly url: string;
  readonly sent: Sent[];
  /** Methods, or "response", in order. */
  methods(): readonly string[];
  /** Resolves with the first message that fits, past or to come. */
  seen(fits: (sent: Sent) => boolean): Promise<Sent>;
  /** Called for each GET that resumes; undefined: 405. */
  resume: ((lastEventId: string, call: OpenCall) => void) | undefined;
  /** Status with which the next POSTs of responses are refused, in order. */
  readonly answerStatus: number[];
  /** HTTP status, and body if any, of server/discover. */
  discover: { readonly status: number; readonly body?: string; readonly type?: string };
  /** Calls that are to be answered by a status alone. */
  readonly callStatus: number[];
}

const SESSION = "session-1";

export async function legacyServer(
  script: (call: OpenCall, server: LegacyServer) => void | Promise<void>,
  revision = "2025-11-25",
): Promise<LegacyServer> {
  const waiting = new Set<{ fits(sent: Sent): boolean; found(sent: Sent): void }>();
  let session = SESSION;
  const http = createServer((request, response) => {
    void (async () => {
      if (request.method === "GET") {
        const last = request.headers["last-event-id"];
        if (typeof last !== "string" || server.resume === undefined) {
          response.writeHead(405).end();
          return;
        }
        server.resume(last, openCall(undefined, {}, response));
        return;
      }
      if (request.method === "DELETE") {
        keep({ body: { method: "DELETE" }, headers: request.headers });
        response.writeHead(200).end();
        return;
      }
      const body = JSON.parse(await text(request)) as Body;
      const refusal = body["method"] === undefined ? server.answerStatus.shift() : undefined;
      if (refusal !== undefined) {
        keep({ body: { refused: body }, headers: request.headers });
        response.writeHead(refusal).end();
        return;
      }
      keep({ body, headers: request.headers });
      await answer(body, request.headers, response);
    })().catch((error: unknown) => response.destroy(error as Error));
  });

  function keep(sent: Sent): void {
    server.sent.push(sent);
    for (const each of waiting) if (each.fits(sent)) each.found(sent);
  }

  async function answer(
    body: Body,
    headers: IncomingHttpHeaders,
    response: ServerResponse,
  ): Promise<void> {
    const reply = (status: number, message?: Body, more: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...more });
      response.end(message === undefined ? "" : JSON.stringify({ jsonrpc: "2.0", ...message }));
    };
    const { id, method } = body;
    if (method === "server/discover") {
      const { status, body: page = "", type = "application/json" } = server.discover;
      response.writeHead(status, { "content-type": type }).end(page);
      return;
    }
    if (method === "initialize") {
      session = `session-${server.methods().filter((name) => name === "initialize").length}`;
      const result = {
        protocolVersion: revision,
        capabilities: { tools: {} },
        serverInfo: { name: "legacy-server", version: "1.0.0" },
      };
      reply(200, { id, result }, { "mcp-session-id": session });
      return;
    }
    if (headers["mcp-session-id"] !== session) return reply(400);
    if (method === undefined || id === undefined) return reply(202);
    if (method === "tools/list") {
      const tools = [{ name: "t", inputSchema: { type: "object" } }];
      return reply(200, { id, result: { tools } });
    }
    const status = server.callStatus.shift();
    if (status !== undefined) return reply(status);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    await script(openCall(id, body["params"] as Body, response), server);
  }

  function openCall(id: unknown, params: Body, response: ServerResponse): OpenCall {
    const send = (message: Body, eventId?: string): void => {
      const data = JSON.stringify({ jsonrpc: "2.0", ...message });
      response.write(`${eventId === undefined ? "" : `id: ${eventId}\n`}data: ${data}\n\n`);
    };
    return {
      id,
      params,
      send,
      ask: async (askId, method, asked = {}) => {
        send({ id: askId, method, params: asked });
        const { body } = await server.seen(
          (sent) => sent.body["method"] === undefined && sent.body["id"] === askId,
        );
        return body;
      },
      result: (content) => {
        send({ id, result: { content: [{ type: "text", text: content }] } });
        response.end();
      },
      raw: (line) => void response.write(`${line}\n`),
      end: () => void response.end(),
      cut: () => void response.destroy(),
    };
  }

  http.listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const server: LegacyServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    sent: [],
    methods: () =>
      server.sent.map(({ body: { method } }) => (typeof method === "string" ? method : "response")),
    seen: async (fits) => {
      const past = server.sent.find(fits);
      if (past !== undefined) return past;
      return await new Promise((found) => waiting.add({ fits, found }));
    },
    resume: undefined,
    answerStatus: [],
    discover: {
      status: 400,
      body: '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request"},"id":null}',
    },
    callStatus: [],
  };
  return server;
}

export const confirmParams = (message: string): Body => ({
  mode: "form",
  message,
  requestedSchema: {
    type: "object",
    properties: { confirm: { type: "boolean" } },
    required: ["confirm"],
  },
});
