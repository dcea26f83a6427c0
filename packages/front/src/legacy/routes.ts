/**
 * GET and DELETE at the endpoint: only the handshake era has them.
 *
 * Both are answered in hooks, before a body is read: a DELETE may come with any.
 */
import { type Headers, headerOf, isLegacyVersion, supportedVersions } from "@reprise/protocol";
import { anonymous, type Caller } from "@reprise/runtime";
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
} from "fastify";
import type { LegacyLane } from "./lane.ts";

type Hook = onRequestHookHandler | onRequestAsyncHookHandler;

/** What the routes need of the front. */
export interface LegacyRoutes {
  readonly path: string;
  readonly lane: LegacyLane;
  /** Admission and authentication. */
  readonly before: readonly Hook[];
  readonly callers: WeakMap<FastifyRequest, Caller>;
  /** Answers with 405. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Adds the routes. */
export function serveLegacyRoutes(app: FastifyInstance, routes: LegacyRoutes): void {
  const { path, lane, before, callers, refuse } = routes;
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    const headers = request.raw.headers as Headers;
    if (!isOfSession(headers)) return refuse(request, reply);
    const caller = callers.get(request) ?? anonymous;
    if (request.method === "GET") lane.get({ headers, caller, reply });
    else lane.end({ headers, caller, reply });
  };
  app.route({
    method: ["GET", "DELETE"],
    url: path,
    exposeHeadRoute: false,
    onRequest: [...before, answer],
    handler: answer,
  });
  // Open streams would keep the instance from closing; their clients go on elsewhere.
  app.addHook("preClose", () => lane.close());
}

/**
 * Whether a request without a message is of the handshake era: it names one of its revisions, or a session and none that is
 * served without. A version that nobody knows is for the lane to refuse with 400 (MCP 2025-11-25, transports, "Protocol
 * Version Header").
 */
function isOfSession(headers: Headers): boolean {
  const version = headerOf(headers, "mcp-protocol-version");
  if (version !== undefined && isLegacyVersion(version)) return true;
  const isServed = version !== undefined && supportedVersions.includes(version);
  return !isServed && headers["mcp-session-id"] !== undefined;
}
