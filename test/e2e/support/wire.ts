/**
 * One `tools/call` of revision 2026-07-28 on a connection of its own, written by hand, so that a test can cut exactly
 * that connection.
 */
import { randomUUID } from "node:crypto";
import { type ClientRequest, request } from "node:http";

/** A JSON-RPC response, with the result members that the tests look at. */
export interface WireReply {
  readonly result?: WireResult;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A result. */
export interface WireResult {
  readonly resultType?: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  readonly _meta?: unknown;
}

/** The params of a call, without what every request carries. */
export interface CallParams {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  /** Goes into `_meta`. */
  readonly idempotencyKey?: string;
}

/** The connection broke before the whole response was there. */
export class ConnectionLost extends Error {}

/** A request under way. */
export interface SentCall {
  /** @throws ConnectionLost */
  readonly reply: Promise<WireReply>;
  /** Closes the connection. */
  cut(): void;
}

/** Sends a call. `headers` come on top of those of the revision. */
export function sendCall(
  url: string,
  params: CallParams,
  headers: Readonly<Record<string, string>> = {},
): SentCall {
  const body = bodyOf(params);
  const sent = request(url, {
    method: "POST",
    agent: false,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": params.name,
      ...headers,
    },
  });
  const reply = replyTo(sent);
  // A cut call may have nobody who waits for it.
  reply.catch(() => undefined);
  sent.end(body);
  return { reply, cut: () => sent.destroy() };
}

function bodyOf({ idempotencyKey, ...params }: CallParams): string {
  const key = idempotencyKey === undefined ? {} : { "reprise/idempotencyKey": idempotencyKey };
  return JSON.stringify({
    jsonrpc: "2.0",
    id: randomUUID(),
    method: "tools/call",
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "matrix", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
        ...key,
      },
    },
  });
}

function replyTo(sent: ClientRequest): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const lost = (): void => reject(new ConnectionLost("the connection broke"));
    sent.once("error", lost);
    sent.once("close", lost);
    sent.once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", lost);
      response.once("aborted", lost);
      response.once("end", () => {
        if (!response.complete) return lost();
        return resolve(JSON.parse(Buffer.concat(chunks).toString()) as WireReply);
      });
    });
  });
}
