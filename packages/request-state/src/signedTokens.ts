/**
 * Judges access tokens that somebody else signed: JWTs of configured issuers (RFC 7519, RFC 9068), by their public keys.
 *
 * The front calls `verify` for each bearer token, and turns the verdict into an answer. Nothing here has a network, a
 * store or a log; what a refused client reads is not decided here, and must not depend on the cause.
 *
 * 1. The algorithms are a fixed list of asymmetric ones. `none` and HMAC are not on it, so a public key can never serve
 *    as a shared secret (RFC 8725, 2.1 and 3.1).
 * 2. The issuer that a token names chooses whose keys are tried and nothing else; it is compared as it is written.
 * 3. What a token claims is believed only under its signature.
 * 4. A token that can't be judged now is `keys_unavailable`, never a refusal.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import { type IssuerKeys, KeysUnavailable, type TokenClock } from "./issuerKeys.ts";

/** The asymmetric ones of RFC 7518, RFC 8037 and RFC 9864. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/**
 * RFC 9068 wants `at+jwt`; many issuers write `JWT` or nothing. Other types (of logouts, of proofs) are signed with the
 * same keys and are no access tokens.
 */
const tokenTypes = new Set(["at+jwt", "application/at+jwt", "jwt"]);

/** Longest token that is looked at. Node.js takes headers of 16 KiB in all, so an honest client can't send more. */
const maxTokenBytes = 16_384;

/**
 * Why a token was refused, for logs and metrics only. The first that applies, in this order:
 * - `too_large`, `malformed`: no JWT of at most 16 KiB
 * - `algorithm`, `type`: signed in a way, or for a purpose, that is not accepted
 * - `issuer`: names none of the configured issuers
 * - `key_unknown`: its issuer has no such key
 * - `key_unusable`: it has, but the key is too short (RSA below 2048 bits) or damaged
 * - `signature`: the issuer's key did not sign this
 * - `audience`: meant for another server
 * - `expired`, `not_yet_valid`: outside its time, with the tolerance
 * - `sender_constrained`: bound to a key that a bearer token does not prove (`cnf`, RFC 9449 and RFC 8705)
 * - `claims`: lacks its subject or expiry, or one of them is of the wrong type
 */
export type TokenRefusalCause =
  | "too_large"
  | "malformed"
  | "algorithm"
  | "type"
  | "issuer"
  | "key_unknown"
  | "key_unusable"
  | "signature"
  | "audience"
  | "expired"
  | "not_yet_valid"
  | "sender_constrained"
  | "claims";

/** What is known of a token that holds. */
export interface VerifiedToken {
  /** One of the configured issuers. */
  readonly issuer: string;
  /** Not empty. Unique at its issuer only. */
  readonly subject: string;
  /** All claims as they were signed. */
  readonly claims: JWTPayload;
}

/** The verdict on a token. `keys_unavailable` is none: the same token may be brought again. */
export type TokenVerdict =
  | { readonly ok: true; readonly token: VerifiedToken }
  | { readonly ok: false; readonly cause: TokenRefusalCause }
  | { readonly ok: false; readonly cause: "keys_unavailable"; readonly retryAfterMs: number };

/** Options of `createTokenVerifier`. */
export interface TokenVerifierOptions {
  /** The keys of each accepted issuer, by its exact identifier. At least one. */
  readonly issuers: ReadonlyMap<string, IssuerKeys>;
  /** What a token's `aud` must name one of, exactly. At least one. */
  readonly audiences: readonly string[];
  readonly clock: TokenClock;
  /** How far the issuer's clock may be off. Default 30000. */
  readonly clockToleranceMs?: number;
}

/** Judges tokens. Safe for any number of calls at once. */
export interface TokenVerifier {
  /** Refusals are returned, never thrown. */
  verify(token: string): Promise<TokenVerdict>;
}

/** Makes one. @throws TypeError or RangeError naming the option */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { clock, clockToleranceMs = 30_000 } = options;
  const issuers = new Map(options.issuers);
  const audience = [...options.audiences];
  if (issuers.size === 0) throw new TypeError("issuers must name at least one issuer");
  if (audience.length === 0 || audience.includes("")) {
    throw new TypeError("audiences must name at least one audience, and none may be empty");
  }
  if (!Number.isFinite(clockToleranceMs) || clockToleranceMs < 0) {
    throw new RangeError("clockToleranceMs must be a number of milliseconds from 0");
  }

  const judge = async (token: string): Promise<VerifiedToken> => {
    const issuer = admittedIssuer(token);
    const keys = issuers.get(issuer);
    if (keys === undefined) throw new Refused("issuer");
    const claims = await signedClaims(token, keys, {
      algorithms,
      issuer,
      audience,
      currentDate: new Date(clock.now()),
      clockTolerance: clockToleranceMs / 1000,
      requiredClaims: ["sub", "exp"],
    });
    if (claims["cnf"] !== undefined) throw new Refused("sender_constrained");
    const { sub } = claims;
    if (typeof sub !== "string" || sub === "") throw new Refused("claims");
    return { issuer, subject: sub, claims };
  };

  return {
    async verify(token) {
      try {
        return { ok: true, token: await judge(token) };
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

class Refused extends Error {
  readonly reason: TokenRefusalCause;

  constructor(reason: TokenRefusalCause) {
    super(reason);
    this.reason = reason;
  }
}

/** The issuer that a token names, if its form lets it through. Nothing of this is trusted. */
function admittedIssuer(token: string): string {
  if (token.length > maxTokenBytes) throw new Refused("too_large");
  const { alg, typ } = headerOf(token);
  if (typeof alg !== "string" || !algorithms.includes(alg)) throw new Refused("algorithm");
  if (typ !== undefined && !isAccessTokenType(typ)) throw new Refused("type");
  const { iss } = decodeJwt(token);
  if (typeof iss !== "string") throw new Refused("issuer");
  return iss;
}

function isAccessTokenType(typ: unknown): boolean {
  return typeof typ === "string" && tokenTypes.has(typ.toLowerCase());
}

function headerOf(token: string): { readonly alg?: unknown; readonly typ?: unknown } {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    // jose throws TypeError for whatever is not base64url of a JSON object.
    if (error instanceof TypeError) throw new Refused("malformed");
    throw error;
  }
}

async function signedClaims(
  token: string,
  keys: IssuerKeys,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys.find.bind(keys), options);
    return payload;
  } catch (error) {
    if (isUnusableKey(error)) throw new Refused("key_unusable");
    // A token without a key id, and an issuer with several keys of its algorithm: one of them must fit.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        const { payload } = await jwtVerify(token, key, options);
        return payload;
      } catch (failed) {
        const isOther = failed instanceof errors.JWSSignatureVerificationFailed;
        if (!isOther && !isUnusableKey(failed)) throw failed;
      }
    }
    throw new Refused("signature");
  }
}

/** jose has no error of its own for keys that WebCrypto does not take. */
function isUnusableKey(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}

/** @throws whatever is no verdict on a token */
function refusalOf(error: unknown): TokenVerdict & { readonly ok: false } {
  if (error instanceof KeysUnavailable) {
    return { ok: false, cause: "keys_unavailable", retryAfterMs: error.retryAfterMs };
  }
  const cause = causeOf(error);
  if (cause === undefined) throw error;
  return { ok: false, cause };
}

function causeOf(error: unknown): TokenRefusalCause | undefined {
  if (error instanceof Refused) return error.reason;
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    // A missing `nbf` is none; one that is no number is a wrong claim like the rest.
    if (error.reason !== "check_failed") return error.claim === "aud" ? "audience" : "claims";
    if (error.claim === "nbf") return "not_yet_valid";
    return error.claim === "aud" ? "audience" : error.claim === "iss" ? "issuer" : "claims";
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  if (error instanceof errors.JWKSNoMatchingKey) return "key_unknown";
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm";
  // What is left is a token of a form that jose does not take: critical members it does not know, a broken payload.
  return error instanceof errors.JOSEError ? "malformed" : undefined;
}
