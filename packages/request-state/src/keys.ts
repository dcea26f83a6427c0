/**
 * One key as the sealer uses it, and how it comes from a secret.
 *
 * Key sources (this package's two, the embedded store's key file, later the Redis ring) derive each key once and
 * keep it: HKDF and the import into OpenSSL cost more than sealing a token. A key never gives its bytes back.
 *
 * 1. Signing and encryption have separate subkeys: what one primitive leaks says nothing about the other, and a
 *    token of one form can never be made to verify as the other (RFC 8725 section 3.1).
 * 2. The derivation is pinned by test/golden: changing a label here ends every open dialogue.
 */
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { KeyLife } from "./keyLife.ts";

/** A key that opens states. Make one with `deriveKey`; a hand-made kid of another shape is never found. */
export interface OpeningKey {
  /** 22 characters of base64url; stands readable in every token. */
  readonly kid: string;
  /** HMAC-SHA256 subkey. */
  readonly signing: KeyObject;
  /** AES-256-GCM subkey. */
  readonly encryption: KeyObject;
  /** Absent: the key is good until its source no longer gives it. */
  readonly life?: KeyLife | undefined;
}

/** A key that seals states; it opens them too. */
export interface SealingKey extends OpeningKey {}

/**
 * Where keys come from. The sealer asks anew for every state and keeps no key, so a rotation or a revocation is
 * in force with the source's next answer.
 */
export interface KeySource {
  /**
   * The newest key of this process, at once. A source that has none yet (its publication is not acknowledged)
   * throws a RepriseError REQUEST_STATE_UNAVAILABLE: a state under an unpublished key opens nowhere else.
   */
  sealing(): SealingKey;
  /**
   * The key of a kid that some client sent: untrusted text of the right shape. Undefined: there is no such key.
   * A promise when the source has to look; `"unavailable"` when it could not, which is never "no such key".
   * Must not reject: outages are `"unavailable"`, anything else is a bug that open() passes on.
   */
  find(kid: string): OpeningKey | undefined | Promise<OpeningKey | undefined | "unavailable">;
}

/** Shortest secret, in bytes: 256 bits, as long as the hash (RFC 7518 section 3.2). */
export const MIN_SECRET_BYTES = 32;

const salt = Buffer.from("reprise/request-state/1", "latin1");
const derive = (secret: Uint8Array, label: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, label, bytes));

/**
 * The key of a secret: HKDF-SHA256 (RFC 5869) with a label each for signing, encryption and the kid. The same
 * secret gives the same key everywhere. The kid tells nothing about the subkeys; like any token it lets someone
 * test guesses at a secret, so a secret is to be random, not a phrase.
 * @throws RangeError if `secret` is shorter than 32 bytes.
 */
export function deriveKey(secret: Uint8Array, life?: KeyLife): SealingKey {
  if (secret.byteLength < MIN_SECRET_BYTES) {
    throw new RangeError(`secret must have at least ${MIN_SECRET_BYTES} bytes`);
  }
  return Object.freeze({
    kid: derive(secret, "kid", 16).toString("base64url"),
    signing: createSecretKey(derive(secret, "sign HS256", 32)),
    encryption: createSecretKey(derive(secret, "encrypt A256GCM", 32)),
    life,
  });
}
