/**
 * A token's outside: from an untrusted value to decoded parts, or to the reason why not.
 *
 * The sealer calls it first on everything that a client sent. It knows no key and trusts nothing it returns:
 * what it gives is well formed and not yet authentic.
 *
 * 1. Size is checked before a single character is decoded, so a huge value costs one comparison.
 * 2. Every part is canonical base64url before anything is read from it.
 */
import { decodeCanonical } from "./base64url.ts";
import { kidOfHeader } from "./form.ts";
import { IV_BYTES, MAC_BYTES, TAG_BYTES } from "./primitives.ts";

/** A signed token, taken apart. */
export interface JwsEnvelope {
  readonly form: "jws";
  readonly kid: string;
  /** `header.payload` as it stood in the token: what the MAC covers. */
  readonly signed: string;
  readonly body: Buffer;
  readonly mac: Buffer;
}

/** An encrypted token, taken apart. */
export interface JweEnvelope {
  readonly form: "jwe";
  readonly kid: string;
  /** The encoded header as it stood in the token: the additional authenticated data. */
  readonly header: string;
  readonly iv: Buffer;
  readonly body: Buffer;
  readonly tag: Buffer;
}

/** What can be wrong with a token before a key is looked up. */
export type EnvelopeFault = "too_large" | "malformed" | "header";

/** Takes a token apart. A string result is the fault. */
export function readEnvelope(
  token: unknown,
  maxBytes: number,
): JwsEnvelope | JweEnvelope | EnvelopeFault {
  if (typeof token !== "string" || token.length === 0) return "malformed";
  // UTF-16 units never outnumber bytes, and a token with a non-ASCII character fails as not canonical.
  if (token.length > maxBytes) return "too_large";
  // The limit keeps a value of 32,768 dots from becoming an array of that length.
  const parts = token.split(".", 6);
  if (parts.length === 3) return readJws(parts[0] ?? "", parts[1] ?? "", parts[2] ?? "");
  // The second part of `dir` is the empty encrypted key (RFC 7518 section 4.5).
  if (parts.length === 5 && parts[1] === "") {
    return readJwe(parts[0] ?? "", parts[2] ?? "", parts[3] ?? "", parts[4] ?? "");
  }
  return "malformed";
}

function readJws(header: string, payload: string, signature: string): JwsEnvelope | EnvelopeFault {
  const head = decodeCanonical(header);
  const body = decodeCanonical(payload);
  const mac = decodeCanonical(signature);
  if (head === undefined || body === undefined || mac === undefined) return "malformed";
  if (mac.length !== MAC_BYTES) return "malformed";
  const kid = kidOfHeader("jws", head);
  if (kid === undefined) return "header";
  return { form: "jws", kid, signed: `${header}.${payload}`, body, mac };
}

function readJwe(
  header: string,
  ivPart: string,
  ciphertext: string,
  tagPart: string,
): JweEnvelope | EnvelopeFault {
  const head = decodeCanonical(header);
  const iv = decodeCanonical(ivPart);
  const body = decodeCanonical(ciphertext);
  const tag = decodeCanonical(tagPart);
  if (head === undefined || iv === undefined || body === undefined || tag === undefined) {
    return "malformed";
  }
  // A tag cut to 4 bytes is still a GCM tag, one that 2^32 guesses forge: only the full length counts.
  if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) return "malformed";
  const kid = kidOfHeader("jwe", head);
  if (kid === undefined) return "header";
  return { form: "jwe", kid, header, iv, body, tag };
}
