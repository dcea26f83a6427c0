/**
 * The `WWW-Authenticate` header of refusals: RFC 6750 section 3, RFC 9728 section 5.1, and the words of MCP ("Access Token
 * Usage", "Scope Challenge Handling").
 *
 * The front and the bearer authenticator call it. It never sees a token; of a refused one it says the same whatever was
 * wrong with it.
 */

/** What a challenge tells besides the error. */
interface ChallengeFacts {
  /** Where the metadata of the protected resource is; undefined where there is none. */
  readonly metadataUrl: string | undefined;
  /** Scopes that every request needs. */
  readonly requiredScopes: readonly string[];
}

/** RFC 6749 section 3.3: no quote and no backslash, so a scope can stand in a quoted parameter. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Whether a text can be one scope. */
export function isScope(text: string): boolean {
  return scopeToken.test(text);
}

/** A request came without a token: no error code, because nothing was wrong with it (RFC 6750, 3.1). */
export function missingTokenChallenge(facts: ChallengeFacts): string {
  return bearer(resourceParameters(facts, facts.requiredScopes));
}

/** The token is no good. */
export function invalidTokenChallenge(facts: ChallengeFacts): string {
  return bearer([
    ["error", "invalid_token"],
    ["error_description", "The access token is not valid."],
    ...resourceParameters(facts, facts.requiredScopes),
  ]);
}

/** The token is good, but lacks some of `scopes`. All that the request needs is named at once. */
export function insufficientScopeChallenge(
  facts: ChallengeFacts,
  scopes: readonly string[],
): string {
  return bearer([
    ["error", "insufficient_scope"],
    ["error_description", "The access token lacks a scope."],
    ...resourceParameters(facts, scopes),
  ]);
}

type Parameter = readonly [name: string, value: string];

function resourceParameters(
  { metadataUrl }: ChallengeFacts,
  scopes: readonly string[],
): readonly Parameter[] {
  const where: readonly Parameter[] =
    metadataUrl === undefined ? [] : [["resource_metadata", metadataUrl]];
  return scopes.length === 0 ? where : [...where, ["scope", scopes.join(" ")]];
}

/** Values are quoted as they are: those who configured them were held to characters that need no escape. */
function bearer(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "Bearer";
  return `Bearer ${parameters.map(([name, value]) => `${name}="${value}"`).join(", ")}`;
}
