/**
 * A server of revision 2026-07-28 on node:http, for tests: what it answers is scripted, what it got is kept.
 *
 * It shares no code with Reprise's front, so that a mistake made in both could not hide itself. Each script entry answers one
 * `tools/call`, `prompts/get` or `resources/read`; the last entry stays for all further ones.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

interface Received {
  readonly id: string | number;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How one request is answered. */
export type Reply =
  | {
      readonly result: Record<string, unknown>;
      readonly sse?: boolean;
      readonly notes?: readonly unknown[];
    }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
      readonly status?: number;
    }
  /** Headers and a part of the body, then the socket is destroyed. */
  | { readonly cut: "json" | "sse" | "sseEnd" | "before" }
  | { readonly status: number; readonly text: string };

export type Script = Reply | ((request: Received) => Reply | Promise<Reply>);

export const complete = (text: string): Reply => ({
  result: { resultType: "complete", content: [{ type: "text", text }] },
});

export const inputRequired = (
  inputRequests: Record<string, unknown> | undefined,
  requestState?: unknown,
  meta?: Record<string, unknown>,
): Reply => ({
  result: {
    resultType: "input_required",
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(meta === undefined ? {} : { _meta: meta }),
  },
});

export const confirmAsk = (message = "Delete build/?"): Record<string, unknown> => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: { confirm: { type: "boolean" } },
      required: ["confirm"],
    },
  },
});

export interface FakeServer {
  readonly url: string;
  /** All requests that can ask, in order. */
  readonly calls: Received[];
  /** All requests. */
  readonly all: Received[];
  script: Script[];
  tools: Record<string, unknown>[];
  /** Cache hint of tools/list. */
  listTtlMs: number;
  /** Replaces the answer to server/discover, and to the initialize that may follow; undefined: the usual ones. */
  discover: Reply | undefined;
  close(): Promise<void>;
}

export async function fakeServer(...script: Script[]): Promise<FakeServer> {
  const calls: Received[] = [];
  const all: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { id, method, params } = JSON.parse(body) as Received;
      const received: Received = { id, method, params, headers: request.headers, body };
      all.push(received);
      void answer(fake, received, response);
    });
  });
  await listening(server);
  const fake: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    all,
    script,
    tools: [
      {
        name: "delete_folder",
        description: "Delete",
        inputSchema: { type: "object", properties: { path: { type: "string" } } },
      },
    ],
    listTtlMs: 60_000,
    discover: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

async function answer(
  fake: FakeServer,
  received: Received,
  response: ServerResponse,
): Promise<void> {
  switch (received.method) {
    case "server/discover":
      write(response, received, fake.discover ?? { result: discovered });
      return;
    case "initialize":
      write(response, received, fake.discover ?? noHandshake);
      return;
    case "tools/list":
      write(response, received, {
        result: {
          resultType: "complete",
          ttlMs: fake.listTtlMs,
          cacheScope: "private",
          tools: fake.tools,
        },
      });
      return;
    default: {
      fake.calls.push(received);
      const next = fake.script.length > 1 ? fake.script.shift() : fake.script[0];
      if (next === undefined) throw new Error("nothing scripted");
      write(response, received, typeof next === "function" ? await next(received) : next);
    }
  }
}

const noHandshake: Reply = {
  status: 400,
  error: { code: -32_602, message: "_meta is missing: speak 2026-07-28" },
};

const discovered = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "fixture-server", version: "1.0.0" } },
};

function write(response: ServerResponse, { id }: Received, reply: Reply): void {
  if ("cut" in reply) {
    cut(response, reply.cut);
    return;
  }
  if ("text" in reply) {
    response.writeHead(reply.status, { "Content-Type": "text/plain" }).end(reply.text);
    return;
  }
  if ("error" in reply) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, error: reply.error });
    response.writeHead(reply.status ?? 200, { "Content-Type": "application/json" }).end(body);
    return;
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: reply.result });
  if (reply.sse !== true) {
    response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    return;
  }
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const note of reply.notes ?? []) response.write(`data: ${JSON.stringify(note)}\n\n`);
  response.write(": still here\n\n");
  response.end(`data: ${body}\n\n`);
}

function cut(response: ServerResponse, how: "json" | "sse" | "sseEnd" | "before"): void {
  switch (how) {
    case "before":
      response.socket?.destroy();
      break;
    case "json":
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "500" });
      response.write('{"jsonrpc":"2.0","id":1,"res', () => response.socket?.destroy());
      break;
    case "sse":
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(": coming\n\n", () => response.socket?.destroy());
      break;
    case "sseEnd":
      // An orderly end without the response: what a proxy makes of a dead upstream.
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(": coming\n\n");
      break;
  }
}

async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
}
