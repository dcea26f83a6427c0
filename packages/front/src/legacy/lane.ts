/**
 * The legacy lane: every message of MCP 2025-11-25, 2025-06-18 and 2025-03-26 (docs/design.md 8.2).
 *
 * The front calls `post`, `get` and `end` for requests of the handshake era; each ends in exactly one HTTP response. No
 * request needs a particular instance: a session is its sealed id, and everything that changes is a shared record.
 *
 * Order of the refusals: version header, session, body, method.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import {
  clientCapabilities,
  type Headers,
  headerOf,
  isJsonObject,
  isLegacyRevision,
  type JsonValue,
  type LegacyRevision,
  legacyErrorResponse,
  type Message,
  negotiate,
  readCancelled,
  readInitialize,
  readLegacyBody,
  requestIdOf,
  resultResponse,
  unsupportedLegacyVersion,
} from "@reprise/protocol";
import type { Caller } from "@reprise/runtime";
import type { FastifyReply } from "fastify";
import { acceptsEvents } from "../admission.ts";
import { hearsUntil } from "../auth/hearing.ts";
import type { FrontMetrics } from "../metrics.ts";
import { deliver } from "./answers.ts";
import { BatchResponse } from "./batchResponse.ts";
import { cancelCall } from "./cancels.ts";
import { EventStream } from "./eventStream.ts";
import { type LaneParts, randomId } from "./laneParts.ts";
import { PostResponse } from "./postResponse.ts";
import type { RequestMessage, Sender } from "./requests.ts";
import { resume } from "./resume.ts";
import { ended } from "./sessionRecord.ts";

const jsonType = "application/json; charset=utf-8";

/** One HTTP request, as the lane gets it. */
export interface LaneRequest {
  readonly headers: Headers;
  readonly caller: Caller;
  readonly reply: FastifyReply;
}

/** Serves the handshake era. */
export class LegacyLane {
  readonly #parts: LaneParts;
  readonly #metrics: FrontMetrics;

  constructor(parts: LaneParts, metrics: FrontMetrics) {
    this.#parts = parts;
    this.#metrics = metrics;
  }

  /** A POST with a parsed body. */
  post(body: JsonValue, request: LaneRequest): void {
    const work = isInitialize(body)
      ? this.#initialize(body, request)
      : this.#messages(body, request);
    work.catch((error: unknown) =>
      this.#refuse(error, request.reply, refusedId(body), hasRequest(body)),
    );
  }

  /** A GET: the session's stream, or the rest of a call's. */
  get(request: LaneRequest): void {
    this.#listen(request).catch((error: unknown) =>
      this.#refuse(error, request.reply, undefined, false),
    );
  }

  /** A DELETE: the session is over on every instance. */
  end(request: LaneRequest): void {
    const { records, notices } = this.#parts;
    const work = async (): Promise<void> => {
      const { session } = await this.#sender(request);
      await records.change(session, ended);
      notices.sessionEnded(session.id);
      this.#metrics.requestEnded("DELETE", "ok");
      request.reply.code(204).send();
    };
    work().catch((error: unknown) => this.#refuse(error, request.reply, undefined, false));
  }

  /** Closes the streams and says that this front drives nothing any more. Calls whose attempt runs still write its outcome. */
  async close(): Promise<void> {
    const { ports, streams, resumed, notices, endChanges } = this.#parts;
    endChanges();
    await streams.close();
    for (const reader of [...resumed.values()]) reader.end();
    for (const call of ports.calls.values()) call.release();
    notices.close();
    ports.wheel.stop();
    await ports.presence.close().catch(ports.failed);
  }

  async #initialize(body: JsonValue, { caller, reply }: LaneRequest): Promise<void> {
    const read = readLegacyBody(body, undefined);
    const [message] = read.messages;
    if (read.kind !== "calls" || message?.kind !== "request") {
      throw new RepriseError("INVALID_REQUEST", "initialize must be a request.");
    }
    const { requested, capabilities, clientInfo } = readInitialize(message.params);
    const revision = negotiate(requested);
    const { tokens, requests, ports } = this.#parts;
    const token = await tokens.issue({
      id: randomId(),
      revision,
      client: clientInfo,
      capabilities: clientCapabilities(capabilities, revision),
      principal: caller.principal,
      expiresAt: ports.clock.now() + ports.config.sessionLifetimeMs,
    });
    reply.header("mcp-session-id", token);
    const text = resultResponse(message.id, requests.served(revision).initialize);
    this.#metrics.requestEnded("initialize", "ok");
    reply.code(200).header("content-type", jsonType).send(text);
  }

  async #messages(body: JsonValue, request: LaneRequest): Promise<void> {
    const sender = await this.#sender(request);
    const { revision } = sender.session;
    let read: ReturnType<typeof readLegacyBody>;
    try {
      read = readLegacyBody(body, revision);
    } catch (error) {
      return this.#refuse(error, request.reply, refusedId(body));
    }
    const { ports } = this.#parts;
    if (read.kind === "responses") {
      const { session, caller } = sender;
      await Promise.all(read.messages.map((each) => deliver(session, caller, each, ports)));
      this.#accepted("response", request.reply);
      return;
    }
    const wanted = read.messages.filter((each): each is RequestMessage => each.kind === "request");
    if (wanted.length === 0) {
      for (const message of read.messages) await this.#notified(message, sender);
      this.#accepted("notification", request.reply);
      return;
    }
    const name = wanted.length === 1 ? this.#metricName(wanted[0], revision) : "batch";
    const { monotonic } = ports.clock;
    const whole = new PostResponse(request.reply, name, this.#metrics, () => monotonic());
    const batch = read.isBatch ? new BatchResponse(whole, wanted.length) : undefined;
    for (const message of read.messages) {
      if (message.kind === "notification") await this.#notified(message, sender);
      else void this.#parts.requests.answer(message, sender, batch?.part() ?? whole);
    }
  }

  async #notified({ method, params }: Message, sender: Sender): Promise<void> {
    if (method !== "notifications/cancelled") return;
    const cancelled = readCancelled(params);
    if (cancelled === undefined) return;
    const { ports, notices } = this.#parts;
    await cancelCall(sender.session, sender.caller, cancelled, ports, notices);
  }

  async #listen(request: LaneRequest): Promise<void> {
    const { headers, reply } = request;
    const accept = headerOf(headers, "accept");
    if (accept !== undefined && !acceptsEvents(accept)) {
      throw new RepriseError("NOT_ACCEPTABLE", "Accept must allow text/event-stream.");
    }
    const { session, caller } = await this.#sender(request);
    const { ports, protectedResource } = this.#parts;
    const { clock } = ports;
    const expiresAt = hearsUntil(caller, clock.now(), protectedResource, {
      challenge(header) {
        reply.header("www-authenticate", header);
      },
    });
    const open = (): EventStream => {
      this.#metrics.requestEnded("GET", "ok");
      return new EventStream(reply, this.#metrics, () => clock.monotonic(), expiresAt);
    };
    const lastEventId = headerOf(headers, "last-event-id");
    if (lastEventId !== undefined) await resume(lastEventId, session, caller, open, this.#parts);
    else await this.#parts.streams.open(session, randomId(), open);
  }

  /** Who sends, once the version header and the session are admitted. */
  async #sender({ headers, caller }: LaneRequest): Promise<Sender> {
    const version = headerOf(headers, "mcp-protocol-version");
    if (version !== undefined && !isLegacyRevision(version))
      throw unsupportedLegacyVersion(version);
    const token = headerOf(headers, "mcp-session-id");
    if (token === undefined) {
      throw new RepriseError(
        "SESSION_REQUIRED",
        "The Mcp-Session-Id header is missing: initialize first, or send MCP-Protocol-Version and _meta of 2026-07-28.",
      );
    }
    const { tokens, records, notices } = this.#parts;
    const session = await tokens.open(token, caller.principal);
    const [record] = await Promise.all([records.read(session), notices.listening()]);
    return { session, record, caller };
  }

  #metricName(message: RequestMessage | undefined, revision: LegacyRevision): string {
    const { methods, runs } = this.#parts.requests.served(revision);
    const { method = "" } = message ?? {};
    return methods.has(method) || runs.has(method) ? method : "other";
  }

  #accepted(what: string, reply: FastifyReply): void {
    this.#metrics.requestEnded(what, "ok");
    reply.code(202).send();
  }

  /**
   * `inBody`: a JSON-RPC response is expected, so that an error may go out with status 200. Who sends an answer or a notification looks at
   * the status alone (MCP 2025-11-25, transports: "an HTTP error status code"), and would take a 200 for its acceptance.
   */
  #refuse(
    error: unknown,
    reply: FastifyReply,
    id: ReturnType<typeof requestIdOf>,
    inBody = true,
  ): void {
    if (!isRepriseError(error)) this.#parts.ports.failed(error);
    const known = isRepriseError(error)
      ? error
      : new RepriseError("INTERNAL", "The server failed to answer.", { cause: error });
    const { status, body } = legacyErrorResponse(known, id, undefined);
    this.#metrics.requestEnded("legacy", known.code);
    if (reply.sent) return;
    const withoutBody = known.spec.retryable ? 503 : 400;
    reply
      .code(status === 200 && !inBody ? withoutBody : status)
      .header("content-type", jsonType)
      .send(body);
  }
}

/** Of a request. What refuses an answer has no id (MCP 2025-11-25, transports): it would be that of a request of ours. */
function refusedId(body: JsonValue): ReturnType<typeof requestIdOf> {
  const isRequest = isJsonObject(body) && Object.hasOwn(body, "method");
  return isRequest ? requestIdOf(body) : undefined;
}

/** Whether somebody waits for a response. */
function hasRequest(body: JsonValue): boolean {
  if (Array.isArray(body)) return body.some(hasRequest);
  return isJsonObject(body) && Object.hasOwn(body, "method") && Object.hasOwn(body, "id");
}

function isInitialize(body: JsonValue): boolean {
  return isJsonObject(body) && body["method"] === "initialize";
}
