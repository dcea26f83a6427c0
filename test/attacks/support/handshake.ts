/**
 * A client of the handshake era by hand, as far as attacks need it: a session, requests, answers, what a stream said.
 */
import type { RawMessage } from "../../support/rawMcp.ts";

/** A response: of a stream all that it carried, once it ended. */
export interface SessionReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Messages of a JSON body or of a stream's events. */
  readonly messages: readonly RawMessage[];
}

/** Sends bytes as a message; `headers` are added. */
export async function postBody(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<SessionReply> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body,
  });
  return replyOf(response);
}

async function replyOf(response: Response): Promise<SessionReply> {
  const body = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const texts = isStream
    ? [...body.matchAll(/^data: ?(\S.*)$/gm)].map(([, data = ""]) => data)
    : [body].filter((text) => text !== "");
  const messages = texts.flatMap((text) => [JSON.parse(text) as RawMessage].flat());
  return { status: response.status, headers: response.headers, body, messages };
}

/** A session and what is sent in it. */
export interface HandshakeSession {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  send(body: string | Uint8Array): Promise<SessionReply>;
  request(method: string, params?: unknown, id?: unknown): Promise<SessionReply>;
}

/** Initializes. `own` are headers of every request, such as who sends it. */
export async function openSession(
  url: string,
  revision: string,
  own: Readonly<Record<string, string>> = {},
): Promise<HandshakeSession> {
  const { headers: received } = await postBody(
    url,
    JSON.stringify({
      ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
      params: {
        protocolVersion: revision,
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        clientInfo: { name: "by-hand", version: "1.0.0" },
      },
    }),
    own,
  );
  const id = received.get("mcp-session-id") ?? "";
  return sessionOf(url, id, revision, own);
}

/** A session by its id, also one that is none. */
export function sessionOf(
  url: string,
  id: string,
  revision: string,
  own: Readonly<Record<string, string>> = {},
): HandshakeSession {
  const headers = {
    ...own,
    "mcp-session-id": id,
    ...(revision === "2025-03-26" ? {} : { "mcp-protocol-version": revision }),
  };
  let count = 0;
  const send: HandshakeSession["send"] = (body) => postBody(url, body, headers);
  return {
    id,
    headers,
    send,
    request(method, params = {}, requestId) {
      count += 1;
      const message = { jsonrpc: "2.0", id: requestId ?? count, method, params };
      return send(JSON.stringify(message));
    },
  };
}
