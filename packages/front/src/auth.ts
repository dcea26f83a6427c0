/**
 * The seam for authentication: who calls is decided before the body is read.
 */
import type { IncomingHttpHeaders } from "node:http";
import { RepriseError } from "@reprise/errors";
import type { Caller } from "@reprise/runtime";

/** What an authenticator sees of a request. */
export interface AuthRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly remoteAddress: string | undefined;
}

/** Who calls, or why not: the error's status (401, 403) with these headers, such as `WWW-Authenticate`. */
export type AuthOutcome =
  | { readonly caller: Caller }
  | { readonly refusal: RepriseError; readonly headers?: Readonly<Record<string, string>> };

/**
 * Decides who calls. Called once a request to the MCP endpoint, after Host and Origin were checked. What it throws
 * is logged and answered with 401.
 */
export type Authenticate = (request: AuthRequest) => AuthOutcome | Promise<AuthOutcome>;

/** Refuses a caller whose token lacks a scope that the handler needs. */
export function checkScopes(caller: Caller, needed: readonly string[]): void {
  const missing = needed.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new RepriseError("INSUFFICIENT_SCOPE", `The token lacks the scope ${missing.join(" ")}.`);
}
