/**
 * CORS for origins that were admitted already (admission.ts). Nothing here decides who may call.
 */
import type { FastifyReply } from "fastify";

/** Request headers that a browser client needs; `Mcp-Param-*` can't be listed one by one. */
const requestHeader =
  /^(accept|authorization|content-type|last-event-id|traceparent|tracestate|baggage|mcp-[a-z0-9!#$%&'*+.^_`|~-]+)$/;

/** Response headers that a browser client must be able to read. */
const exposed = "Mcp-Session-Id, Retry-After, WWW-Authenticate";

/** Lets a page of `origin` read the response. */
export function allowOrigin(reply: FastifyReply, origin: string): void {
  reply.header("access-control-allow-origin", origin);
  reply.header("access-control-expose-headers", exposed);
  reply.header("vary", "Origin");
}

/** Answers a preflight: `requested` is Access-Control-Request-Headers. */
export function answerPreflight(reply: FastifyReply, requested: string | undefined): void {
  const headers = (requested ?? "content-type")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => requestHeader.test(name));
  reply.header("access-control-allow-methods", "POST");
  reply.header("access-control-allow-headers", headers.join(", "));
  reply.header("access-control-max-age", "600");
  reply.header("allow", "POST, OPTIONS");
  reply.code(204).send();
}
