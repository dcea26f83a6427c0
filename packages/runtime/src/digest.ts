/**
 * Digests: how requests, questions and answers are compared without being kept or shown.
 *
 * Canonical form is RFC 8785 (JSON Canonicalization Scheme), so that member order and number spelling, which
 * clients are free to change between retries, make no difference.
 */
import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "@reprise/journal";
import canonicalizeModule from "canonicalize";

// The package is CommonJS with a default export; NodeNext types it as the module, Node gives the function.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;

/** RFC 8785 text of a JSON value. */
export function canonicalJson(value: JsonValue): string {
  return canonicalize(value) ?? "null";
}

/** SHA-256, base64url without padding: 43 characters. */
export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

/** Digest of a JSON value's canonical form. */
export function digestOf(value: JsonValue): string {
  return sha256(canonicalJson(value));
}

const notPartOfTheRequest = new Set(["_meta", "inputResponses", "requestState"]);

/** A request's `params` without what changes between the rounds of one request. */
export function stableParams(params: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(params).filter(([name]) => !notPartOfTheRequest.has(name)),
  );
}

/** Digest of an ask: its key and its exact question. */
export function askDigest(key: string, question: string): string {
  return sha256(`${JSON.stringify(key)} ${question}`);
}

/** Most texts that a `rememberedSha256` keeps. */
const REMEMBERED = 1000;

/** `sha256` that remembers: for texts that come again with every request. */
export function rememberedSha256(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let digest = known.get(text);
    if (digest === undefined) {
      digest = sha256(text);
      // Names and principals are few; whoever sends many different ones only makes this forget.
      if (known.size >= REMEMBERED) known.clear();
      known.set(text, digest);
    }
    return digest;
  };
}
