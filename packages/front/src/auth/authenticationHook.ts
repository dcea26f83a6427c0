/**
 * fastify's hook that asks the authenticator, before a body is read.
 *
 * Routes of the endpoint install it behind the Host and Origin checks. It notes the caller of a request, or ends the request:
 * nothing behind it sees a request whose caller is not known.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { Caller } from "@reprise/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticate, AuthOutcome } from "./authenticate.ts";
import { invalidTokenChallenge } from "./challenge.ts";
import type { PublishedResource } from "./protectedResource.ts";

/** Answers a request that was refused. */
interface RefusesRequests {
  refuse(error: RepriseError, request: FastifyRequest, reply: FastifyReply): void;
}

/** Makes the hook. `callers` gets who sent a request. */
export function authenticationHook(
  authenticate: Authenticate,
  resource: PublishedResource | undefined,
  callers: WeakMap<FastifyRequest, Caller>,
  endpoint: RefusesRequests,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return async (request, reply) => {
    const outcome = await decide(authenticate, request);
    if ("caller" in outcome) {
      callers.set(request, outcome.caller);
      return undefined;
    }
    const { refusal, reason } = outcome;
    if (reason !== undefined) {
      request.log.info({ reason, code: refusal.code }, "refused before its body was read");
    }
    // The header of a hook that has one of its own replaces this.
    if (refusal.code === "UNAUTHORIZED" && resource !== undefined) {
      reply.header("www-authenticate", invalidTokenChallenge(resource));
    }
    reply.headers(outcome.headers ?? {});
    endpoint.refuse(refusal, request, reply);
    return reply;
  };
}

async function decide(authenticate: Authenticate, request: FastifyRequest): Promise<AuthOutcome> {
  try {
    return await authenticate({
      headers: request.raw.headers,
      method: request.method,
      url: request.raw.url ?? "",
      remoteAddress: request.ip,
    });
  } catch (error) {
    if (isRepriseError(error)) return { refusal: error };
    request.log.error({ err: error }, "authentication failed to decide");
    const refusal = new RepriseError("UNAUTHORIZED", "The caller could not be authenticated.");
    return { refusal };
  }
}
