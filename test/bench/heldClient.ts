/**
 * Clients of the handshake era that hold a call open at its question, each with a session and a connection of its own.
 */
import { confirmOnceTool, keyArgument } from "./workload.ts";

const revision = "2025-11-25";

/** A call at its question. */
export interface HeldCall {
  /** Answers yes and reads the call to its end; resolves with the result's text. */
  answer(): Promise<string>;
}

/** Opens a session, calls, and resolves once the question is there. */
export async function holdCall(url: string): Promise<HeldCall> {
  const begun = await post(url, {}, 0, "initialize", {
    protocolVersion: revision,
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: "bench", version: "1.0.0" },
  });
  await begun.text();
  const session = {
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": revision,
  };
  await (await post(url, session, undefined, "notifications/initialized")).text();
  const call = { name: confirmOnceTool, arguments: { [keyArgument]: "42" } };
  const { body } = await post(url, session, 1, "tools/call", call);
  if (body === null) throw new Error("the call has no stream");
  const messages = messagesOf(body);
  const ask = await messages.next();
  if (ask.done === true) throw new Error("the call ended without a question");
  const { id } = ask.value;
  return {
    async answer() {
      const result = { action: "accept", content: { confirm: true } };
      await (await send(url, session, { jsonrpc: "2.0", id, result })).text();
      const end = await messages.next();
      if (end.done === true) throw new Error("the call ended without a result");
      return JSON.stringify(end.value.result);
    },
  };
}

interface Message {
  readonly id?: unknown;
  readonly result?: unknown;
}

async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
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
): Promise<Response> {
  return send(url, headers, {
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    method,
    ...(params === undefined ? {} : { params }),
  });
}

async function send(
  url: string,
  headers: Record<string, string>,
  message: object,
): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(message),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return response;
}
