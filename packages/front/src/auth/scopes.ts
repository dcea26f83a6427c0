/**
 * Scopes of handlers: who may run what.
 *
 * Both lanes call `check` after the handler is known and before anything of it runs or is sent, so that a refusal has its
 * status 403 and its challenge.
 */
import { RepriseError } from "@reprise/errors";
import type { Caller, Catalog } from "@reprise/runtime";
import { insufficientScopeChallenge } from "./challenge.ts";
import type { PublishedResource } from "./protectedResource.ts";

/** A response that can still get a header. */
export interface Challenged {
  /** Gives the response its `WWW-Authenticate`. */
  challenge(header: string): void;
}

/** Compares what handlers need with what callers have. Exists only where there are tokens. */
export class ScopeRule {
  readonly #resource: PublishedResource | undefined;
  readonly #known: ReadonlySet<string>;

  constructor(resource: PublishedResource | undefined, catalog: Catalog) {
    this.#resource = resource;
    this.#known = new Set([...(resource?.requiredScopes ?? []), ...catalog.scopes]);
  }

  /**
   * Refuses a caller who lacks one of the scopes that a handler needs; the response gets the challenge.
   *
   * It names all scopes of the handler and those that the caller has of this server: a client of 2025-11-25 asks for what
   * the challenge names and nothing else, and must not lose with the new token what the old one was good for.
   * @throws RepriseError INSUFFICIENT_SCOPE
   */
  check(caller: Caller, needed: readonly string[], response: Challenged): void {
    const missing = needed.filter((scope) => !caller.scopes.includes(scope));
    if (missing.length === 0) return;
    const required = this.#resource?.requiredScopes ?? [];
    const kept = caller.scopes.filter((scope) => this.#known.has(scope));
    const scopes = [...new Set([...kept, ...required, ...needed])];
    const facts = { metadataUrl: this.#resource?.metadataUrl, requiredScopes: required };
    response.challenge(insufficientScopeChallenge(facts, scopes));
    throw new RepriseError("INSUFFICIENT_SCOPE", `The token lacks the scope ${missing.join(" ")}.`);
  }
}
