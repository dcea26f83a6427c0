/**
 * What one operation of a case sends and expects: a tool call, a confirm flow of two rounds, a plain GET-like post.
 *
 * Pure: loadClient.ts does the I/O. An operation that gets anything but the expected answer throws, so that a
 * server is never measured at how fast it refuses.
 */
import type { HttpReply } from "./httpReply.ts";

/** Which operation a job repeats. Plain data: it crosses a process boundary. */
export type OperationSpec =
  | { readonly kind: "call"; readonly tool: string; readonly args: object; readonly text: string }
  | {
      readonly kind: "confirm";
      readonly tool: string;
      readonly args: object;
      readonly text: string;
    }
  | { readonly kind: "post"; readonly text: string };

/** One operation, over all its requests. */
export interface Operation {
  /** The first request. `id` has always the same number of digits. */
  first(id: number): string;
  /** The next request, or undefined when the operation is complete. `round` counts replies from 1. */
  next(reply: HttpReply, round: number, id: number): string | undefined;
}

const protocolVersion = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": protocolVersion,
  "io.modelcontextprotocol/clientInfo": { name: "reprise-bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** Builds an operation against `url`. */
export function operationFor(url: URL, spec: OperationSpec): Operation {
  switch (spec.kind) {
    case "call":
      return callOperation(url, spec.tool, spec.args, spec.text);
    case "confirm":
      return confirmOperation(url, spec.tool, spec.args, spec.text);
    case "post":
      return postOperation(url, spec.text);
  }
}

function callOperation(url: URL, tool: string, args: object, text: string): Operation {
  const request = toolRequest(url, tool, args, {});
  const isExpected = completeWith(text);
  return {
    first: request,
    next(reply) {
      isExpected(reply);
      return undefined;
    },
  };
}

function confirmOperation(url: URL, tool: string, args: object, text: string): Operation {
  const request = toolRequest(url, tool, args, {});
  const isExpected = completeWith(text);
  return {
    first: request,
    next(reply, round, id) {
      if (round > 1) {
        isExpected(reply);
        return undefined;
      }
      const { requestState, key } = askOf(reply);
      const answer = { action: "accept", content: { confirm: true } };
      return toolRequest(url, tool, args, { inputResponses: { [key]: answer }, requestState })(id);
    },
  };
}

function postOperation(url: URL, text: string): Operation {
  const request = httpRequest(url, {}, "{}");
  return {
    first: () => request,
    next(reply) {
      if (reply.status !== 200 || reply.body !== text) throw unexpected(reply);
      return undefined;
    },
  };
}

/** A builder of one tools/call; everything but the id is serialized once. */
function toolRequest(url: URL, name: string, args: object, retry: object): (id: number) => string {
  const params = JSON.stringify({ name, arguments: args, ...retry, _meta: meta });
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": protocolVersion,
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
  return (id) =>
    httpRequest(
      url,
      headers,
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`,
    );
}

function httpRequest(url: URL, headers: Readonly<Record<string, string>>, body: string): string {
  const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n` +
    `${extra.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/**
 * Checks for a complete result with one text. The first reply is parsed; as ids are of one length, later ones
 * must have the same length, which costs the load generator nothing.
 */
function completeWith(text: string): (reply: HttpReply) => void {
  let knownLength: number | undefined;
  return (reply) => {
    if (reply.status === 200 && reply.body.length === knownLength) return;
    const content = field(field(parse(reply), "result"), "content");
    const isExpected =
      reply.status === 200 &&
      knownLength === undefined &&
      Array.isArray(content) &&
      field(content[0], "text") === text;
    if (!isExpected) throw unexpected(reply);
    knownLength = reply.body.length;
  };
}

function askOf(reply: HttpReply): { requestState: string; key: string } {
  const result = field(parse(reply), "result");
  const requestState = field(result, "requestState");
  const [key] = Object.keys(Object(field(result, "inputRequests")));
  if (typeof requestState !== "string" || key === undefined) throw unexpected(reply);
  return { requestState, key };
}

function parse(reply: HttpReply): unknown {
  if (!reply.contentType.startsWith("application/json")) throw unexpected(reply);
  return JSON.parse(reply.body);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function unexpected(reply: HttpReply): Error {
  return new Error(`unexpected reply ${reply.status}: ${reply.body.slice(0, 500)}`);
}
