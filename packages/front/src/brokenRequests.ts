/**
 * What becomes of requests that never reach a route: broken HTTP, headers without end, slow senders, unknown paths.
 *
 * `createHttpServer` gives these to fastify, whose own answers would be no errors of the registry and would quote the request.
 *
 * 1. Every answer is an error of the registry without an id, or the connection is closed without one.
 * 2. A connection whose bytes could not be read as HTTP is closed: where the next request begins is anybody's guess.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { RepriseError } from "@reprise/errors";
import { errorResponse } from "@reprise/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";

const jsonType = "application/json; charset=utf-8";

/** Answers on a connection whose request Node could not read, and closes it. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  // With a response half sent, a second head would be read as part of its body.
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, body } = errorResponse(refusalOf(error), undefined);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${jsonType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
    // A sender that does not read must not keep the connection.
    () => socket.destroy(),
  );
}

function refusalOf({ code }: NodeJS.ErrnoException): RepriseError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RepriseError("REQUEST_TOO_SLOW", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW":
      return new RepriseError(
        "HEADERS_TOO_LARGE",
        "The headers are larger than this server takes.",
      );
    default:
      return new RepriseError("HTTP_MALFORMED", "This is no HTTP request as RFC 9112 has it.");
  }
}

/** Answers where no route is. */
export function refusePath(_request: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = pathUnknown("Nothing is served at this path.");
  reply.code(status).header("content-type", jsonType).send(body);
}

/** Answers what the router could not read: a path that is no path. No hook of fastify runs for it. */
export function refuseUrl(
  _error: Error,
  _request: unknown,
  { raw }: { readonly raw: ServerResponse },
): void {
  const { status, body } = pathUnknown("The path can't be read.");
  raw.writeHead(status, { "content-type": jsonType, "content-length": Buffer.byteLength(body) });
  raw.end(body);
}

function pathUnknown(message: string): ReturnType<typeof errorResponse> {
  return errorResponse(new RepriseError("PATH_UNKNOWN", message), undefined);
}

/** Headers of which Node keeps the first and a proxy may have heeded the last. */
const onlyOnce = new Set(["host", "content-type", "authorization"]);

/**
 * Why a request that Node could read must not be served: another reader could take it for another one. Undefined where none is.
 * `rawHeaders` has names and values in turn.
 */
export function ambiguityOf(
  url: string | undefined,
  rawHeaders: readonly string[],
): RepriseError | undefined {
  if (url?.startsWith("/") === false) {
    // A whole URL names a host of its own beside the Host header (RFC 9112, 3.2.2).
    return new RepriseError("HTTP_MALFORMED", "The request's target must be a path.");
  }
  let seen: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!onlyOnce.has(name)) continue;
    if (seen?.includes(name) === true) {
      return new RepriseError("HTTP_MALFORMED", `The ${name} header came twice.`);
    }
    seen ??= [];
    seen.push(name);
  }
  return undefined;
}
