/**
 * One request and its one response.
 *
 * Made by the endpoint for each admitted request; whoever handles the method ends it with `result` or `error`.
 *
 * 1. The first end counts, later ones are ignored.
 * 2. The sender counts as gone when the connection closes before the response was handed to it, and only then.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { errorResponse, type RequestId, resultResponse } from "@reprise/protocol";
import type { FastifyReply } from "fastify";
import type { FrontMetrics } from "./metrics.ts";
import { NotificationStream, type StreamSettings } from "./notificationStream.ts";

const jsonType = "application/json; charset=utf-8";

/** A request that waits for its response. */
export class Exchange {
  readonly #reply: FastifyReply;
  readonly #id: RequestId | undefined;
  readonly #method: string;
  readonly #metrics: FrontMetrics;
  #stream: NotificationStream | undefined;
  #goneListeners: Set<() => void> | undefined;
  #gone = false;
  #ended = false;

  /** `method` is what metrics call it; `id` undefined where it could not be read. */
  constructor(
    reply: FastifyReply,
    id: RequestId | undefined,
    method: string,
    metrics: FrontMetrics,
  ) {
    this.#reply = reply;
    this.#id = id;
    this.#method = method;
    this.#metrics = metrics;
  }

  /** Opens the way for notifications; undefined when the request opted in to none. */
  notify(
    progressToken: string | number | undefined,
    logs: boolean,
    settings: StreamSettings,
  ): NotificationStream | undefined {
    if (progressToken === undefined && !logs) return undefined;
    this.#stream = new NotificationStream(this.#reply, progressToken, logs, settings);
    return this.#stream;
  }

  /** Gives the response its `WWW-Authenticate`: for the refusal that follows, before anything was sent. */
  challenge(header: string): void {
    this.#reply.header("www-authenticate", header);
  }

  /** Whether the one who sent the request is gone. */
  get isGone(): boolean {
    return this.#gone || (!this.#ended && this.#reply.raw.destroyed);
  }

  /** Calls `listener` once when the sender is gone. The connection is watched from the first call on: many handlers never look. */
  onGone(listener: () => void): () => void {
    let listeners = this.#goneListeners;
    if (listeners === undefined) {
      listeners = new Set();
      this.#goneListeners = listeners;
      this.#reply.raw.on("close", () => this.#closed());
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #closed(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#gone = true;
    this.#stream?.close();
    this.#metrics.requestEnded(this.#method, "disconnected");
    for (const listener of this.#goneListeners ?? []) listener();
  }

  /**
   * Gives the response to whoever streams it from here on: this exchange sends and counts nothing any more. The request's body is
   * let go, because such a stream may be open for days.
   */
  handOver(): FastifyReply {
    this.#ended = true;
    this.#reply.request.body = undefined;
    return this.#reply;
  }

  /** Answers with the text of a result. */
  result(text: string, outcome = "ok"): void {
    if (this.#ended) return;
    // Only a request that was admitted has a result, and its id was read.
    this.#send(200, resultResponse(this.#id as RequestId, text), outcome);
  }

  /** Answers with an error. What is no RepriseError becomes INTERNAL: its text is not for clients. */
  error(error: unknown): void {
    if (this.#ended) return;
    const known = isRepriseError(error)
      ? error
      : new RepriseError("INTERNAL", "The server failed to answer.", { cause: error });
    const { status, body } = errorResponse(known, this.#id);
    this.#send(status, body, known.code);
  }

  #send(status: number, body: string, outcome: string): void {
    this.#ended = true;
    this.#metrics.requestEnded(this.#method, outcome);
    if (this.#stream?.end(status, body) === true) return;
    this.#reply.code(status).header("content-type", jsonType).send(body);
  }
}
