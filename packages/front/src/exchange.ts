/**
 * One request and its one response.
 *
 * Made by the endpoint for each admitted request; whoever handles the method ends it with `result` or `error`.
 *
 * 1. The first end counts, later ones are ignored.
 * 2. `disconnected` aborts when the connection closes before the response was handed to it, and only then.
 */
import type { ServerResponse } from "node:http";
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
  #disconnect: AbortController | undefined;
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

  /** Aborts when the one who sent the request is gone. Made on first use: many handlers never look. */
  get disconnected(): AbortSignal {
    if (this.#disconnect === undefined) {
      const controller = new AbortController();
      this.#disconnect = controller;
      const raw: ServerResponse = this.#reply.raw;
      const closed = (): void => {
        if (this.#ended) return;
        this.#ended = true;
        this.#stream?.close();
        this.#metrics.requestEnded(this.#method, "disconnected");
        controller.abort();
      };
      if (raw.destroyed) closed();
      else raw.on("close", closed);
    }
    return this.#disconnect.signal;
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
