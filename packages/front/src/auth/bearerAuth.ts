/**
 * Bearer tokens of an authorization server: the authenticator that MCP's authorization chapter describes.
 *
 * The front calls `authenticate` once a request. Tokens are judged here, by the issuer's public keys; nothing is asked of
 * the issuer about a single token, and no token is kept, logged or passed on.
 *
 * 1. Whatever is wrong with a token, the answer is the same; the cause is a word in the log.
 * 2. A token that can't be judged, because its issuer is away, is answered with 503: a 401 would make the client throw a
 *    good token away and send its person to a login that does not answer either.
 * 3. A caller is named by issuer, subject and client, never by the token: a refreshed one goes on where the old one was.
 */
import { RepriseError } from "@reprise/errors";
import {
  createIssuerKeys,
  createTokenVerifier,
  type IssuerKeys,
  type TokenClock,
  type VerifiedToken,
} from "@reprise/request-state";
import {
  type Caller,
  type Duration,
  durationMs,
  type Logger,
  silentLogger,
} from "@reprise/runtime";
import type { Authenticate, AuthOutcome, AuthRequest } from "./authenticate.ts";
import {
  insufficientScopeChallenge,
  invalidTokenChallenge,
  missingTokenChallenge,
} from "./challenge.ts";
import { type FetchJson, fetchJson } from "./fetchJson.ts";
import { checkIssuer, Issuer } from "./issuer.ts";
import {
  type ProtectedResource,
  type PublishedResource,
  publishedResource,
} from "./protectedResource.ts";
import { callerOf, scopeHierarchy } from "./tokenCaller.ts";

/** Options of `createBearerAuth`. */
export interface BearerAuthOptions extends Omit<ProtectedResource, "authorizationServers"> {
  /** Issuer identifiers, exactly as in the tokens' `iss`. At least one. */
  readonly issuers: string | readonly string[];
  /** What a token's `aud` must name one of. Default: `resource`. Set it for issuers that give their own names to servers. */
  readonly audiences?: readonly string[];
  /** Scopes that include others: `{ "files:write": ["files:read"] }`. Applied over several steps. Default none. */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>>;
  /** How far the issuers' clocks may be off; 0 for not at all. Default `"30s"`. */
  readonly clockTolerance?: Duration;
  /** Told when an issuer goes away and when it is back. Default: nothing is said. */
  readonly logger?: Logger;
  /** The clock that tokens are judged by. Default: the system's. */
  readonly clock?: TokenClock;
  /** How documents of an issuer are fetched. Default: over HTTP, with a timeout of 5 s. */
  readonly fetchJson?: FetchJson;
}

/** What a front needs for bearer tokens: spread it into the options of `listen`, `createFront` or `serve`. */
export interface BearerAuth {
  readonly authenticate: Authenticate;
  readonly protectedResource: ProtectedResource;
  /** Loads the issuers' keys before the first token comes. Never rejects: an issuer that is away is logged. */
  warmUp(): Promise<void>;
}

/**
 * Makes the authenticator; nothing is fetched yet, so a front starts while its issuer is away.
 * @throws TypeError naming the option, RepriseError CONFIG_INVALID for an unfit duration
 */
export function createBearerAuth(options: BearerAuthOptions): BearerAuth {
  const { clock = { now: () => Date.now() }, logger = silentLogger } = options;
  const { clockTolerance = "30s" } = options;
  const fetchDocument = options.fetchJson ?? fetchJson;
  const issuers = typeof options.issuers === "string" ? [options.issuers] : [...options.issuers];
  for (const issuer of issuers) checkIssuer("issuers", issuer);
  const { resource, requiredScopes, scopesSupported, resourceName, documentation } = options;
  const protectedResource: ProtectedResource = {
    resource,
    authorizationServers: issuers,
    ...(requiredScopes === undefined ? {} : { requiredScopes }),
    ...(scopesSupported === undefined ? {} : { scopesSupported }),
    ...(resourceName === undefined ? {} : { resourceName }),
    ...(documentation === undefined ? {} : { documentation }),
  };
  const published = publishedResource(protectedResource);
  const implied = scopeHierarchy(options.impliedScopes ?? {});
  const keys = new Map<string, IssuerKeys>(
    issuers.map((issuer) => [issuer, loggedKeys(new Issuer(issuer, fetchDocument), clock, logger)]),
  );
  const verifier = createTokenVerifier({
    issuers: keys,
    audiences: options.audiences ?? spellingsOf(resource),
    clock,
    clockToleranceMs: clockTolerance === 0 ? 0 : durationMs(clockTolerance, "clockTolerance"),
  });

  const authenticate = async (request: AuthRequest): Promise<AuthOutcome> => {
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) return missing(published);
    const verdict = await verifier.verify(token);
    if (verdict.ok) return admitted(verdict.token, published, implied);
    return verdict.cause === "keys_unavailable"
      ? unavailable(verdict.retryAfterMs)
      : invalid(published, verdict.cause);
  };
  return {
    authenticate,
    protectedResource,
    async warmUp() {
      await Promise.allSettled([...keys.values()].map((held) => held.warmUp()));
    },
  };
}

/** Both spellings of a server without a path: which one is written into a token is up to client and issuer. */
function spellingsOf(resource: string): readonly string[] {
  const { href, origin, pathname } = new URL(resource);
  return pathname === "/" ? [...new Set([resource, origin, href])] : [resource];
}

/** RFC 6750 section 2.1; the scheme in any case (RFC 9110, 11.1). What follows is judged by the verifier, whatever it is. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(.*\S) *$/i.exec(authorization ?? "")?.[1];
}

function loggedKeys(issuer: Issuer, clock: TokenClock, logger: Logger): IssuerKeys {
  let isAway = false;
  return createIssuerKeys({
    clock,
    async load() {
      try {
        const set = await issuer.loadKeys();
        if (isAway) logger.info({ issuer: issuer.identifier }, "the issuer answers again");
        isAway = false;
        return set;
      } catch (error) {
        // Once an outage: every request with a token would try again.
        if (!isAway) {
          const reason = reasonOf(error);
          logger.warn(
            { issuer: issuer.identifier, reason },
            "the issuer's keys can't be loaded: keys that are held are used for an hour, then its tokens are answered with 503",
          );
        }
        isAway = true;
        throw error;
      }
    },
  });
}

/** fetch says "fetch failed" and has the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function admitted(
  token: VerifiedToken,
  resource: PublishedResource,
  implied: ReturnType<typeof scopeHierarchy>,
): AuthOutcome {
  const caller: Caller = callerOf(token, implied);
  const { requiredScopes } = resource;
  const missingScopes = requiredScopes.filter((scope) => !caller.scopes.includes(scope));
  if (missingScopes.length === 0) return { caller };
  const message = `The token lacks the scope ${missingScopes.join(" ")}.`;
  return {
    refusal: new RepriseError("INSUFFICIENT_SCOPE", message),
    headers: { "www-authenticate": insufficientScopeChallenge(resource, requiredScopes) },
    reason: "scope",
  };
}

function missing(resource: PublishedResource): AuthOutcome {
  return {
    refusal: new RepriseError("UNAUTHORIZED", "This server needs a bearer token."),
    headers: { "www-authenticate": missingTokenChallenge(resource) },
  };
}

function invalid(resource: PublishedResource, reason: string): AuthOutcome {
  return {
    refusal: new RepriseError("UNAUTHORIZED", "The access token is not valid."),
    headers: { "www-authenticate": invalidTokenChallenge(resource) },
    reason,
  };
}

function unavailable(retryAfterMs: number): AuthOutcome {
  return {
    refusal: new RepriseError(
      "AUTH_UNAVAILABLE",
      "The issuer of the token can't be reached, so the token can't be judged now.",
      { data: { retryAfterMs } },
    ),
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
    reason: "keys_unavailable",
  };
}
