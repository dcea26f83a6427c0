/**
 * Until when a caller may hear what happens: streams that say what changed end with the token that opened them, because from
 * then on nobody knows whether the caller still may hear.
 *
 * Both lanes ask before they open such a stream; the stream's owner ends it.
 */
import { RepriseError } from "@reprise/errors";
import type { Caller } from "@reprise/runtime";
import { invalidTokenChallenge } from "./challenge.ts";
import type { PublishedResource } from "./protectedResource.ts";
import type { Challenged } from "./scopes.ts";

/**
 * Epoch milliseconds at which the caller's token ends; undefined: it has none, or one without an end.
 * @param resource whose challenge a refusal gets; undefined: none
 * @throws RepriseError UNAUTHORIZED for a token that has just ended and that the clock tolerance let in
 */
export function hearsUntil(
  { claims }: Caller,
  nowMs: number,
  resource: PublishedResource | undefined,
  response: Challenged,
): number | undefined {
  const { exp } = claims;
  if (typeof exp !== "number" || !Number.isFinite(exp)) return undefined;
  const expiresAt = exp * 1000;
  if (expiresAt > nowMs) return expiresAt;
  if (resource !== undefined) response.challenge(invalidTokenChallenge(resource));
  throw new RepriseError("UNAUTHORIZED", "The token has expired.");
}
