/**
 * One `tools/call` of revision 2026-07-28 over a connection of its own, for clients of a server that is being hurt: whatever is
 * no JSON-RPC response (a proxy's 502, half a body, silence) is a lost connection.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { errorCodes, errorSpecs } from "@reprise/errors";

/** The params of a call, without what every request carries. */
export interface CallParams {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
}

/** Who sends, and how patiently. */
export interface Sender {
  readonly caller: string;
  /** The client's key for the call. */
  readonly idempotencyKey: string;
  /** A request without an answer for so long is given up: its connection is closed. */
  readonly timeoutMs: number;
}

/** A result of a tool, with the members that clients here look at. */
export interface CallResult {
  readonly resultType?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly inputRequests?: Readonly<
    Record<string, { readonly params?: { readonly url?: string } }>
  >;
  readonly requestState?: string;
}

/** What came back. */
export type Reply =
  | { readonly kind: "result"; readonly result: CallResult }
  | {
      readonly kind: "refused";
      /** Of the registry; `RPC <number>` for what is not in it. */
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs: number;
    }
  | { readonly kind: "lost"; readonly why: string };

/** A request under way. */
export interface Sent {
  /** Never rejects. */
  readonly reply: Promise<Reply>;
  /** Closes its connection. */
  leave(): void;
}

/** What a client waits that is told to come again and not when. */
const usualPauseMs = 250;

/** Sends a call. */
export function send(url: string, params: CallParams, sender: Sender): Sent {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: randomUUID(),
    method: "tools/call",
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "chaos", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
        "reprise/idempotencyKey": sender.idempotencyKey,
      },
    },
  });
  const sent = request(url, {
    method: "POST",
    agent: false,
    signal: AbortSignal.timeout(sender.timeoutMs),
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": params.name,
      "x-caller": sender.caller,
    },
  });
  const reply = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.once("close", () => reject(new Error("closed")));
  })
    .then((response) => text(response))
    .then(replyIn)
    .catch((error: unknown): Reply => ({ kind: "lost", why: String(error) }));
  sent.on("error", () => undefined);
  sent.end(body);
  return { reply, leave: () => sent.destroy() };
}

/** The response in a body. @throws SyntaxError for what is none */
function replyIn(body: string): Reply {
  const { result, error } = JSON.parse(body) as {
    readonly result?: CallResult;
    readonly error?: {
      readonly code: number;
      readonly message: string;
      readonly data?: { readonly code?: string; readonly retryAfterMs?: number };
    };
  };
  if (result !== undefined) return { kind: "result", result };
  if (error === undefined) throw new SyntaxError("no JSON-RPC response");
  const code =
    errorCodes.find((each) => each === error.data?.code) ??
    errorCodes.find((each) => errorSpecs[each].rpcCode === error.code);
  return {
    kind: "refused",
    code: code ?? `RPC ${error.code}`,
    message: error.message,
    retryable: code !== undefined && errorSpecs[code].retryable,
    retryAfterMs: error.data?.retryAfterMs ?? usualPauseMs,
  };
}
