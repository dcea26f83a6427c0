/**
 * POST to the MCP endpoint: parse, admit, dispatch.
 *
 * fastify calls `handle` with a body that `parseMcpBody` parsed. Every path ends in exactly one response; every
 * refusal is an error of the registry and echoes the request's id where it could be read.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import {
  admit,
  errorResponse,
  type Headers,
  isLegacyOnly,
  type JsonValue,
  parseBody,
  readMessage,
  requestIdOf,
} from "@reprise/protocol";
import { anonymous, type Caller } from "@reprise/runtime";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Exchange } from "./exchange.ts";
import type { LegacyLane } from "./legacy/lane.ts";
import { refuseLegacy } from "./legacy/refuse.ts";
import type { AnswerMethod } from "./methods.ts";
import type { FrontMetrics } from "./metrics.ts";

/** fastify's content type parser for `application/json` at the endpoint. */
export function parseMcpBody(
  { headers }: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body?: JsonValue) => void,
): void {
  const encoding = headers["content-encoding"] ?? "identity";
  let value: JsonValue;
  try {
    if (encoding.toLowerCase() !== "identity") {
      throw new RepriseError("CONTENT_TYPE", "The body must come without a Content-Encoding.");
    }
    value = parseBody(body);
  } catch (error) {
    done(error as RepriseError);
    return;
  }
  done(null, value);
}

/** Dispatches admitted requests to the served methods. */
export class McpEndpoint {
  readonly #methods: ReadonlyMap<string, AnswerMethod>;
  readonly #metrics: FrontMetrics;
  readonly #callers: WeakMap<FastifyRequest, Caller>;

  readonly #legacy: LegacyLane | undefined;

  /** `callers` has who sent a request, if anybody was authenticated; without `legacy` its clients are refused. */
  constructor(
    methods: ReadonlyMap<string, AnswerMethod>,
    metrics: FrontMetrics,
    callers: WeakMap<FastifyRequest, Caller>,
    legacy: LegacyLane | undefined,
  ) {
    this.#legacy = legacy;
    this.#methods = methods;
    this.#metrics = metrics;
    this.#callers = callers;
  }

  /** Answers one POST. Never throws. */
  handle(request: FastifyRequest, reply: FastifyReply): void {
    const body = request.body as JsonValue | undefined;
    let exchange: Exchange | undefined;
    try {
      // fastify parses no body where neither length nor type is given.
      if (body === undefined) throw new RepriseError("CONTENT_TYPE", "There is no JSON body.");
      // Node gives these as plain strings and string arrays with lower-case names.
      const headers = request.raw.headers as Headers;
      const caller = this.#callers.get(request) ?? anonymous;
      // Responses and batches are messages of the handshake era alone.
      if (this.#legacy !== undefined && isLegacyOnly(body, headers)) {
        this.#legacy.post(body, { headers, caller, reply });
        return;
      }
      const message = readMessage(body);
      const inbound = admit(message, headers);
      if (inbound.kind === "legacy") {
        if (this.#legacy !== undefined) this.#legacy.post(body, { headers, caller, reply });
        else refuseLegacy(inbound, reply, this.#metrics);
        return;
      }
      if (inbound.kind === "notification") {
        this.#metrics.requestEnded("notification", "ok");
        reply.code(202).send();
        return;
      }
      const answer = this.#methods.get(inbound.method);
      const label = answer === undefined ? "other" : inbound.method;
      exchange = new Exchange(reply, inbound.id, label, this.#metrics);
      if (answer === undefined) throw methodNotFound(inbound.method);
      answer({ request: inbound, headers, caller, exchange });
    } catch (error) {
      if (!isRepriseError(error))
        request.log.error({ err: error }, "a request could not be answered");
      exchange ??= new Exchange(reply, requestIdOf(body), "other", this.#metrics);
      exchange.error(error);
    }
  }

  /** Answers what fastify or a hook refused before a message could be read. */
  refuse(error: FastifyError | RepriseError, request: FastifyRequest, reply: FastifyReply): void {
    const known = isRepriseError(error) ? error : fromFastify(error);
    if (known.code === "INTERNAL") request.log.error({ err: error }, "a request could not be read");
    this.#metrics.requestEnded("none", known.code);
    const { status, body } = errorResponse(known, undefined);
    reply.code(status).header("content-type", "application/json; charset=utf-8").send(body);
  }
}

function methodNotFound(method: string): RepriseError {
  return new RepriseError("METHOD_NOT_FOUND", `There is no method ${method.slice(0, 128)} here.`);
}

function fromFastify(error: FastifyError): RepriseError {
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return new RepriseError("CONTENT_TYPE", "The Content-Type must be application/json.");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new RepriseError("BODY_TOO_LARGE", "The body is larger than this server takes.");
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    // The sender went away in the middle of its body.
    case "ECONNRESET":
      return new RepriseError("PARSE_ERROR", "The body is not complete.");
    default:
      return new RepriseError("INTERNAL", "The request could not be read.", { cause: error });
  }
}
