/**
 * The seam for authentication: who calls is decided before the body is read.
 *
 * `createBearerAuth` fills it for tokens of an authorization server. Gateways that have authenticated already, and API
 * keys, fill it with a function of their own.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { RepriseError } from "@reprise/errors";
import type { Caller } from "@reprise/runtime";

/** What an authenticator sees of a request. */
export interface AuthRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly remoteAddress: string | undefined;
}

/**
 * Who calls, or why not: an error (UNAUTHORIZED 401, INSUFFICIENT_SCOPE 403, AUTH_UNAVAILABLE 503) that goes out with
 * these headers, such as `WWW-Authenticate`. A 401 without that header gets the front's own, where a protected resource
 * is configured.
 */
export type AuthOutcome =
  | { readonly caller: Caller }
  | {
      readonly refusal: RepriseError;
      readonly headers?: Readonly<Record<string, string>>;
      /** Why, in a word for the log. Never part of what the caller brought: whoever reads logs must learn no secret. */
      readonly reason?: string;
    };

/**
 * Decides who calls. Called once a request to the MCP endpoint, after Host and Origin were checked. A RepriseError that it
 * throws counts as refusal; anything else is logged and answered with 401.
 */
export type Authenticate = (request: AuthRequest) => AuthOutcome | Promise<AuthOutcome>;
