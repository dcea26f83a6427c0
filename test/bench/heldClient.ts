/**
 * Clients that call and answer later: of the handshake era, where the call is held open at its question over a connection of its
 * own, and of 2026-07-28, where nothing is.
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { confirmOnceTool, keyArgument } from "./workload.ts";

const revision = "2025-11-25";

/** A call at its question. */
export interface HeldCall {
  /** Answers yes and reads the call to its end; resolves with the result's text. */
  answer(): Promise<string>;
}

/** A session whose calls can be held. */
export interface HeldSession {
  /** Calls, and resolves once the question is there. */
  call(): Promise<HeldCall>;
}

/** Opens a session, calls, and resolves once the question is there. */
export async function holdCall(url: string): Promise<HeldCall> {
  return await (await openSession(url)).call();
}

/** Opens a session of the handshake era. */
export async function openSession(url: string): Promise<HeldSession> {
  const begun = await post(url, {}, 0, "initialize", {
    protocolVersion: revision,
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: "bench", version: "1.0.0" },
  });
  await text(begun);
  const session = {
    "mcp-session-id": String(begun.headers["mcp-session-id"]),
    "mcp-protocol-version": revision,
  };
  await text(await post(url, session, undefined, "notifications/initialized"));
  let calls = 0;
  return { call: () => heldCall(url, session, ++calls) };
}

const calledTool = { name: confirmOnceTool, arguments: { [keyArgument]: "42" } };

async function heldCall(
  url: string,
  session: Record<string, string>,
  requestId: number,
): Promise<HeldCall> {
  const response = await post(url, session, requestId, "tools/call", calledTool);
  if (response.headers["content-type"] !== "text/event-stream") {
    throw new Error(`the call has no stream: ${await text(response)}`);
  }
  const messages = messagesOf(response);
  const ask = await messages.next();
  if (ask.done === true) throw new Error("the call ended without a question");
  const { id } = ask.value;
  return {
    async answer() {
      const result = { action: "accept", content: { confirm: true } };
      await text(await send(url, session, { jsonrpc: "2.0", id, result }));
      const end = await messages.next();
      if (end.done === true) throw new Error("the call ended without a result");
      return JSON.stringify(end.value.result);
    },
  };
}

/** Calls by 2026-07-28, and resolves once the question is there; the response has ended then. */
export async function askModern(url: string): Promise<HeldCall> {
  const asked = await modernCall(url, {});
  const { requestState, inputRequests } = Object(asked.result) as {
    readonly requestState?: unknown;
    readonly inputRequests?: object;
  };
  const [key] = Object.keys(inputRequests ?? {});
  if (key === undefined) throw new Error("the call ended without a question");
  const inputResponses = { [key]: { action: "accept", content: { confirm: true } } };
  return {
    answer: async () =>
      JSON.stringify((await modernCall(url, { requestState, inputResponses })).result),
  };
}

const modern = "2026-07-28";
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

async function modernCall(url: string, retry: object): Promise<Message> {
  const headers = {
    "mcp-protocol-version": modern,
    "mcp-method": "tools/call",
    "mcp-name": confirmOnceTool,
  };
  const params = { ...calledTool, ...retry, _meta: modernMeta };
  return JSON.parse(await text(await post(url, headers, 1, "tools/call", params))) as Message;
}

interface Message {
  readonly id?: unknown;
  readonly result?: unknown;
}

async function* messagesOf(body: IncomingMessage): AsyncGenerator<Message> {
  let unread = "";
  for await (const chunk of body.setEncoding("utf8")) {
    unread += String(chunk);
    for (let end = unread.indexOf("\n"); end >= 0; end = unread.indexOf("\n")) {
      const line = unread.slice(0, end);
      unread = unread.slice(end + 1);
      if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length)) as Message;
    }
  }
}

function post(
  url: string,
  headers: Record<string, string>,
  id: number | undefined,
  method: string,
  params?: object,
): Promise<IncomingMessage> {
  return send(url, headers, {
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    method,
    ...(params === undefined ? {} : { params }),
  });
}

/** A connection that a response does not hold is used again; fetch would cost the load more than the server. */
const agent = new Agent({ keepAlive: true });

async function send(
  url: string,
  headers: Record<string, string>,
  message: object,
): Promise<IncomingMessage> {
  const body = JSON.stringify(message);
  const sent = request(url, {
    agent,
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode = 0 } = response;
  if (statusCode >= 300) throw new Error(`HTTP ${statusCode}: ${await text(response)}`);
  return response;
}
