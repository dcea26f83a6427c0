/**
 * Requests of revision 2026-07-28 written by hand and sent over HTTP, for what no honest client sends.
 *
 * Connections are kept alive and reused, so that a hundred thousand requests are a matter of seconds.
 */
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { encodeHeaderValue, metaKeys } from "@reprise/protocol";

/** One request; what is left out is what an honest client would send. */
export interface RawRequest {
  readonly id?: string | number;
  /** Default `tools/call`. */
  readonly method?: string;
  /** Without `_meta`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A response as it was received. */
export interface RawReply {
  readonly status: number;
  /** Names and values in turn, as on the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** The members of a response that tests look at. */
export interface RawMessage {
  readonly id?: unknown;
  readonly result?: {
    readonly resultType?: string;
    readonly content?: readonly { readonly text?: string }[];
    readonly isError?: boolean;
    readonly inputRequests?: Readonly<Record<string, unknown>>;
    readonly requestState?: string;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly code?: string };
  };
}

/** What a client declares that can be asked everything. */
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** Answers to a confirm. */
export const accepted = { action: "accept", content: { confirm: true } } as const;

/** Sends requests over up to `sockets` connections. */
export class RawClient {
  readonly #agent: Agent;
  readonly #patienceMs: number;
  #lastId = 0;

  /** `patienceMs`: a request that takes longer is given up, which rejects. */
  constructor(sockets = 16, patienceMs = 120_000) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets });
    this.#patienceMs = patienceMs;
  }

  /** The next id that `send` would give. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Sends one request and gives the response as it came. */
  async send(url: string, request: RawRequest): Promise<RawReply> {
    const { id = this.nextId(), method = "tools/call", params, headers = {}, meta } = request;
    const named = params["name"] ?? params["uri"];
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: {
        ...params,
        _meta: {
          [metaKeys.protocolVersion]: "2026-07-28",
          [metaKeys.clientInfo]: { name: "by-hand", version: "1.0.0" },
          [metaKeys.clientCapabilities]: capabilities,
          ...meta,
        },
      },
    });
    return await new Promise((resolve, reject) => {
      const sent = httpRequest(
        url,
        {
          agent: this.#agent,
          method: "POST",
          signal: AbortSignal.timeout(this.#patienceMs),
          headers: {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
            accept: "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            ...(typeof named === "string" ? { "mcp-name": encodeHeaderValue(named) } : {}),
            ...headers,
          },
        },
        (response) => {
          read(response).then(resolve, reject);
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Sends one request and gives the JSON of its response. */
  async call(url: string, request: RawRequest): Promise<RawMessage> {
    const { body } = await this.send(url, request);
    return JSON.parse(body) as RawMessage;
  }

  /** Calls and expects a question: gives the state that came with it. */
  async ask(url: string, request: RawRequest): Promise<string> {
    const { body } = await this.send(url, request);
    const state = (JSON.parse(body) as RawMessage).result?.requestState;
    if (state === undefined) throw new Error(`no question came: ${body}`);
    return state;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function read(response: IncomingMessage): Promise<RawReply> {
  const body = await text(response);
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body };
}
