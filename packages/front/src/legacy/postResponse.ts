/**
 * The response to the POST of one legacy request.
 *
 * Whoever handles the request ends it once; what comes later is ignored. Once a stream is open this holds nothing of the
 * HTTP request any more: a call may wait for days.
 */
import type { RepriseError } from "@reprise/errors";
import { legacyErrorResponse, type RequestId, resultResponse } from "@reprise/protocol";
import type { FastifyReply } from "fastify";
import type { FrontMetrics } from "../metrics.ts";
import type { CallResponse } from "./callPorts.ts";
import { type EventSink, EventStream } from "./eventStream.ts";

const jsonType = "application/json; charset=utf-8";

/** A response that can be given in any of the ways that a request of the lane needs. */
export interface RequestResponse extends CallResponse {
  /** Gives the response its `WWW-Authenticate`: for the refusal that follows. */
  challenge(header: string): void;
}

/** Of a request that came alone. */
export class PostResponse implements RequestResponse {
  readonly #metrics: FrontMetrics;
  readonly #monotonic: () => number;
  readonly #method: string;
  #reply: FastifyReply | undefined;

  /** `method` is what metrics call it. */
  constructor(reply: FastifyReply, method: string, metrics: FrontMetrics, monotonic: () => number) {
    this.#reply = reply;
    this.#method = method;
    this.#metrics = metrics;
    this.#monotonic = monotonic;
  }

  json(status: number, body: string, outcome: string): void {
    const reply = this.#taken(outcome);
    reply?.code(status).header("content-type", jsonType).send(body);
  }

  stream(): EventSink {
    const reply = this.#reply;
    if (reply === undefined) throw new TypeError("the response was given already");
    this.#reply = undefined;
    return new EventStream(reply, this.#metrics, this.#monotonic);
  }

  nothing(): void {
    // HTTP wants an answer where JSON-RPC wants none: a stream without an event is one.
    const reply = this.#taken("cancelled");
    reply?.code(200).header("content-type", "text/event-stream").send("");
  }

  ended(outcome: string): void {
    this.#metrics.requestEnded(this.#method, outcome);
  }

  challenge(header: string): void {
    this.#reply?.header("www-authenticate", header);
  }

  #taken(outcome: string): FastifyReply | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    if (reply !== undefined) this.#metrics.requestEnded(this.#method, outcome);
    return reply;
  }
}

/** Answers with a result. */
export function giveResult(response: CallResponse, id: RequestId, result: string): void {
  response.json(200, resultResponse(id, result), "ok");
}

/** Answers with an error. */
export function giveError(
  response: CallResponse,
  error: RepriseError,
  request: { readonly id: RequestId | undefined; readonly method: string | undefined },
): void {
  const { status, body } = legacyErrorResponse(error, request.id, request.method);
  response.json(status, body, error.code);
}
