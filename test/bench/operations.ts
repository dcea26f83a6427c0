/**
 * What one operation of a case sends and expects: a tool call, a confirm flow of two rounds, one or two plain posts.
 *
 * Pure: loadClient.ts does the I/O. An operation that gets anything but the expected answer throws, so that a
 * server is never measured at how fast it refuses.
 */
import type { HttpReply } from "./httpReply.ts";

/** Which operation a job repeats. Plain data: it crosses a process boundary. */
export type OperationSpec =
  | (ToolOperation & { readonly kind: "call" })
  | (ToolOperation & { readonly kind: "confirm" })
  | { readonly kind: "post"; readonly text: string }
  | { readonly kind: "postTwice"; readonly text: string }
  | AwakeableSpec;

interface ToolOperation {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Name of an argument that has another value in every operation, as an idempotency key must. */
  readonly fresh?: string;
  readonly text: string;
}

/** A call of Restate that is held while its question is answered. */
export interface AwakeableSpec {
  readonly kind: "awakeable";
  /** Where the handler tells its questions: one line each, `key id`. */
  readonly questionsPort: number;
  readonly text: string;
}

/** What `operationFor` knows. */
export type HttpSpec = Exclude<OperationSpec, AwakeableSpec>;

/** One operation after the other on one connection, each over all its requests. */
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

/** Builds an operation against `url`. `unique` is told from that of every other load, and of one length. */
export function operationFor(url: URL, spec: HttpSpec, unique: string): Operation {
  switch (spec.kind) {
    case "call":
      return callOperation(url, spec, unique);
    case "confirm":
      return confirmOperation(url, spec, unique);
    case "post":
      return postOperation(url, spec.text);
    case "postTwice":
      return postTwiceOperation(url, spec.text);
  }
}

function callOperation(url: URL, spec: ToolOperation, unique: string): Operation {
  const request = toolRequest(url, spec, {});
  const isExpected = completeWith(spec.text);
  return {
    first: (id) => request(id, `${unique}${id}`),
    next(reply) {
      isExpected(reply);
      return undefined;
    },
  };
}

function confirmOperation(url: URL, spec: ToolOperation, unique: string): Operation {
  const request = toolRequest(url, spec, {});
  const isExpected = completeWith(spec.text);
  let key = "";
  return {
    first(id) {
      key = `${unique}${id}`;
      return request(id, key);
    },
    next(reply, round, id) {
      if (round > 1) {
        isExpected(reply);
        return undefined;
      }
      const { requestState, ask } = askOf(reply);
      const answer = { action: "accept", content: { confirm: true } };
      const retry = { inputResponses: { [ask]: answer }, requestState };
      return toolRequest(url, spec, retry)(id, key);
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

/** Two posts: the first names where the second goes. */
function postTwiceOperation(url: URL, text: string): Operation {
  const request = httpRequest(url, {}, "{}");
  return {
    first: () => request,
    next(reply, round) {
      if (reply.status !== 200) throw unexpected(reply);
      if (round === 1) return httpRequest(new URL(reply.body, url), {}, "{}");
      if (reply.body !== text) throw unexpected(reply);
      return undefined;
    },
  };
}

/** The text of a complete result. */
export function textOf(reply: HttpReply): string {
  const content = field(field(parse(reply), "result"), "content");
  const text = Array.isArray(content) ? field(content[0], "text") : undefined;
  if (reply.status !== 200 || typeof text !== "string") throw unexpected(reply);
  return text;
}

/** A builder of one tools/call; everything but the id and a fresh argument is serialized once. */
export function toolRequest(
  url: URL,
  { tool, args, fresh }: Omit<ToolOperation, "text">,
  retry: object,
): (id: number, key: string) => string {
  const hole = "\u0000";
  const given = fresh === undefined ? args : { ...args, [fresh]: hole };
  const params = JSON.stringify({ name: tool, arguments: given, ...retry, _meta: meta });
  const [before = "", after] = params.split(JSON.stringify(hole).slice(1, -1));
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": protocolVersion,
    "mcp-method": "tools/call",
    "mcp-name": tool,
  };
  return (id, key) => {
    const filled = after === undefined ? before : before + key + after;
    const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${filled}}`;
    return httpRequest(url, headers, body);
  };
}

/** The bytes of one request. */
export function httpRequest(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
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
    if (knownLength !== undefined || textOf(reply) !== text) throw unexpected(reply);
    knownLength = reply.body.length;
  };
}

function askOf(reply: HttpReply): { requestState: string; ask: string } {
  const result = field(parse(reply), "result");
  const requestState = field(result, "requestState");
  const [ask] = Object.keys(Object(field(result, "inputRequests")));
  if (typeof requestState !== "string" || ask === undefined) throw unexpected(reply);
  return { requestState, ask };
}

function parse(reply: HttpReply): unknown {
  if (!reply.contentType.startsWith("application/json")) throw unexpected(reply);
  return JSON.parse(reply.body);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** What ends a load: a reply that is not the expected one. */
export function unexpected(reply: HttpReply): Error {
  return new Error(`unexpected reply ${reply.status}: ${reply.body.slice(0, 500)}`);
}
