/**
 * The official Streamable HTTP transport, watched for responses that never come.
 *
 * Called by the official client; calls the official transport. Left to itself, that transport tells nobody when a response
 * stream ends before its response: the request then hangs until its timeout, a minute or more in which the person looks at
 * nothing. And what it throws for a cut body is a bare TypeError or SyntaxError, like a programming mistake. Here:
 *
 * 1. `send` of a request settles when its response was delivered, or rejects with ConnectionLost when it can't come any more.
 * 2. Everything that fetch or reading a body throws becomes ConnectionLost with its cause; the official errors pass.
 * 3. An HTTP error whose body is the JSON-RPC error of this request is delivered as that error (the official transport does
 *    so for status 400 only, and 404 with -32601 is an ordinary answer on 2026-07-28).
 * 4. An answer to a request of the server (handshake era) is sent as often as `deliver` has patience: nobody else has it, and a
 *    server takes the first of equal ones. If it can't be delivered, all requests under way are lost with it.
 * 5. A 404 in a session is the session's end and not an answer of the method (MCP 2025-11-25, "Session Management").
 *
 * It never sends anything of its own.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  SdkError,
  SdkHttpError,
  type Transport,
  type TransportSendOptions,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { ConnectionLost } from "./retry.ts";

/** See the top of this file. */
export class WatchedTransport implements Transport {
  readonly hasPerRequestStream = true;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly #inner: Transport;
  readonly #deliverAnswer: (send: () => Promise<void>) => Promise<void>;
  /** Requests without a response; called when it is there, with an error when it can't come. */
  readonly #waiting = new Map<RequestId, (lost?: unknown) => void>();

  /** `inner`: the official Streamable HTTP transport, not yet started. `deliver`: repeats a sending that breaks. */
  constructor(inner: Transport, deliver: (send: () => Promise<void>) => Promise<void>) {
    this.#inner = inner;
    this.#deliverAnswer = deliver;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message: JSONRPCMessage) => this.#deliver(message);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async close(): Promise<void> {
    for (const settle of this.#waiting.values()) settle();
    this.#waiting.clear();
    await this.#inner.close();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!isJSONRPCRequest(message)) {
      await this.#sendOther(message, options);
      return;
    }
    const { id } = message;
    const answered = new Promise<"answered">((resolve, reject) => {
      this.#waiting.set(id, (lost) => (lost === undefined ? resolve("answered") : reject(lost)));
    });
    // It may be lost while the request is still being sent, when nobody listens yet.
    answered.catch(() => undefined);
    try {
      const ended = await this.#sendRequest(message, options, answered);
      if (ended === "lost") throw new ConnectionLost("the response stream ended early");
    } finally {
      this.#waiting.delete(id);
    }
  }

  async #sendOther(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!isJSONRPCResponse(message)) {
      await this.#inner.send(message, options);
      // Its response will not be waited for any more (the official client sends this on the handshake era only).
      if (isCancellation(message)) this.#waiting.get(message.params.requestId)?.();
      return;
    }
    try {
      await this.#deliverAnswer(async () => {
        await this.#inner.send(message, options).catch((error: unknown) => {
          throw asLost(error);
        });
      });
    } catch (error) {
      for (const settle of this.#waiting.values()) settle(error);
      throw error;
    }
  }

  /** Sends, then waits for the response, the end of its stream, or the caller's abort. */
  async #sendRequest(
    message: JSONRPCMessage & { readonly id: RequestId },
    options: TransportSendOptions | undefined,
    answered: Promise<"answered">,
  ): Promise<"answered" | "lost" | "aborted"> {
    let endStream = (): void => undefined;
    const streamEnd = new Promise<"lost">((resolve) => {
      endStream = () => resolve("lost");
    });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      endStream();
    };
    try {
      await this.#inner.send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      if (this.#deliverRefusal(message.id, error)) return "answered";
      throw asLost(error);
    }
    // `answered` stands first: a stream often brings the response and its own end in one chunk.
    return await Promise.race([answered, aborted(options?.requestSignal), streamEnd]);
  }

  #deliver(message: JSONRPCMessage): void {
    this.onmessage?.(message);
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#waiting.get(message.id)?.();
  }

  #deliverRefusal(id: RequestId, error: unknown): boolean {
    if (!(error instanceof SdkHttpError) || error.status === 401 || error.status === 403)
      return false;
    if (error.status === 404 && this.sessionId !== undefined) return false;
    const message = parseBody(error.data["text"]);
    if (message === undefined || !isJSONRPCErrorResponse(message) || message.id !== id)
      return false;
    this.#deliver(message);
    return true;
  }
}

function parseBody(text: unknown): JSONRPCMessage | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseJSONRPCMessage(JSON.parse(text));
  } catch {
    // A proxy's error page: the HTTP status is all there is to tell.
    return undefined;
  }
}

function isCancellation(
  message: JSONRPCMessage,
): message is JSONRPCMessage & { readonly params: { readonly requestId: RequestId } } {
  if (!("method" in message) || message.method !== "notifications/cancelled") return false;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number";
}

function aborted(signal: AbortSignal | undefined): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve("aborted");
    signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

// TypeError: fetch, and undici for a body cut short. SyntaxError: JSON cut short by a server without Content-Length.
function asLost(error: unknown): unknown {
  if (error instanceof SdkError || error instanceof UnauthorizedError) return error;
  if (error instanceof Error && (error.name === "TypeError" || error.name === "SyntaxError")) {
    return new ConnectionLost(describe(error), { cause: error });
  }
  return error;
}

// undici says only "fetch failed"; the reason (ECONNREFUSED and the like) is the cause's.
function describe(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
