/**
 * Requests of revision 2026-07-28 as a conforming client writes them, and one front to send them to.
 */
import { createFront, type FrontOptions } from "@reprise/front";
import { encodeHeaderValue, type JsonObject, metaKeys } from "@reprise/protocol";
import fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";

export interface McpRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Added to `_meta`; undefined removes. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Added to the headers; undefined removes. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Headers and body of a request. */
export function wire(request: McpRequest): { headers: Record<string, string>; body: string } {
  const { method, params = {} } = request;
  const named = params["name"] ?? params["uri"];
  const headers = withoutUndefined({
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    "mcp-name": typeof named === "string" ? encodeHeaderValue(named) : undefined,
    ...request.headers,
  }) as Record<string, string>;
  const _meta = withoutUndefined({
    [metaKeys.protocolVersion]: "2026-07-28",
    [metaKeys.clientInfo]: { name: "test-client", version: "1.0.0" },
    [metaKeys.clientCapabilities]: {},
    ...request.meta,
  });
  const body = { jsonrpc: "2.0", id: request.id ?? 1, method, params: { ...params, _meta } };
  return { headers, body: JSON.stringify(body) };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body, or of a stream the last message. */
  readonly message: {
    readonly id?: unknown;
    readonly result?: JsonObject;
    readonly error?: JsonObject;
  };
  /** All messages: one for JSON, each event of a stream. */
  readonly messages: readonly JsonObject[];
}

export interface Client {
  readonly app: FastifyInstance;
  call(request: McpRequest): Promise<Answer>;
  post(
    body: string | Buffer,
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<Answer>;
}

/** A front on a fastify instance that is closed with the test. */
export function serve(options: FrontOptions, logger?: FastifyBaseLogger): Client {
  const app = fastify(logger === undefined ? {} : { loggerInstance: logger });
  app.register(createFront(options));
  onTestFinished(() => app.close());
  const post: Client["post"] = async (payload, headers = {}) => {
    const given = withoutUndefined({ host: "localhost", ...headers }) as Record<string, string>;
    const response = await app.inject({ method: "POST", url: "/mcp", headers: given, payload });
    return answerOf(response.statusCode, response.headers as Answer["headers"], response.body);
  };
  return {
    app,
    post,
    call: (request) => {
      const { headers, body } = wire(request);
      return post(body, headers);
    },
  };
}

function answerOf(status: number, headers: Answer["headers"], text: string): Answer {
  const isStream = headers["content-type"] === "text/event-stream";
  const messages = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map((line) => JSON.parse(line[1] ?? "") as JsonObject)
    : text === ""
      ? []
      : [JSON.parse(text) as JsonObject];
  return { status, headers, text, messages, message: (messages.at(-1) ?? {}) as Answer["message"] };
}

function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
