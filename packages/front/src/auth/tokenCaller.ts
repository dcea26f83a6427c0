/**
 * From a verified token to the caller that handlers and bindings see. Pure.
 *
 * Runs, keys and request states are bound to `principal`, so what goes into it must be the same in every token of the same
 * person and client, and differ for any other.
 */
import type { VerifiedToken } from "@reprise/request-state";
import type { Caller } from "@reprise/runtime";
import { isScope } from "./challenge.ts";

/** What else a scope is good for, over all steps. */
export type ScopeHierarchy = ReadonlyMap<string, readonly string[]>;

/** Reads a hierarchy and closes it over its steps. @throws TypeError for what is no scope */
export function scopeHierarchy(
  implied: Readonly<Record<string, readonly string[]>>,
): ScopeHierarchy {
  const given = new Map(Object.entries(implied));
  const wrong = [...given].flat(2).find((scope) => !isScope(scope));
  if (wrong !== undefined) throw new TypeError(`impliedScopes: "${wrong}" is no scope`);
  const closed = (scope: string): readonly string[] => {
    const reached = new Set([scope]);
    // A set takes what is added while it is walked, and nothing twice: circles end.
    for (const each of reached) for (const next of given.get(each) ?? []) reached.add(next);
    return [...reached];
  };
  return new Map([...given.keys()].map((scope) => [scope, closed(scope)]));
}

/** The caller that a token stands for. */
export function callerOf(
  { issuer, subject, claims }: VerifiedToken,
  implied: ScopeHierarchy,
): Caller {
  // RFC 9068 has client_id; OpenID Connect providers write azp. Without either, clients of a person are not told apart.
  const client = [claims["client_id"], claims["azp"]].find(
    (each) => typeof each === "string" && each !== "",
  );
  // Arrays as JSON: no issuer, subject or client can be written so that two of them run together.
  const person = JSON.stringify([issuer, subject]);
  const granted = grantedScopes(claims);
  return {
    principal: JSON.stringify([issuer, subject, client ?? null]),
    person,
    scopes: [...new Set(granted.flatMap((scope) => implied.get(scope) ?? [scope]))],
    // Parsed from JSON, so it holds nothing else.
    claims: claims as Caller["claims"],
  };
}

/** `scope` as one text (RFC 9068, 2.2.3); some providers have `scp`, or lists. */
function grantedScopes(claims: Readonly<Record<string, unknown>>): readonly string[] {
  const given = claims["scope"] ?? claims["scp"] ?? [];
  const scopes: readonly unknown[] = typeof given === "string" ? given.split(" ") : asList(given);
  return scopes.filter((scope) => typeof scope === "string" && isScope(scope)) as readonly string[];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
