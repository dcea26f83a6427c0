/**
 * CORS for origins that were admitted already (admission.ts), and for documents that are everybody's. Nothing here decides
 * who may call.
 *
 * No credentials mode: a browser adds no cookie, so a page can send only what it knows itself.
 */
import type { FastifyReply } from "fastify";

/** Request headers that a browser client needs; `Mcp-Param-*` has names that tools make up, and can't be listed. */
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

/**
 * Answers a preflight. Names are echoed one by one, since `*` does not cover Authorization.
 *
 * Only headers that clients of MCP send are allowed, and those of `more`: a page must not be able to set what a gateway
 * sets to say who calls.
 */
export function answerPreflight(
  reply: FastifyReply,
  methods: string,
  requested: string | undefined,
  more: readonly string[] = [],
): void {
  const headers = (requested ?? "content-type")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => requestHeader.test(name) || more.includes(name));
  reply.header("access-control-allow-methods", methods);
  reply.header("access-control-allow-headers", headers.join(", "));
  reply.header("access-control-max-age", "600");
  reply.header("allow", `${methods}, OPTIONS`);
  reply.code(204).send();
}
