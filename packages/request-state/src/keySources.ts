/**
 * The two key sources that need nothing outside the process: configured secrets, and a key made at start.
 *
 * The composition root picks one. Neither changes after construction and neither ever waits.
 */
import { randomBytes } from "node:crypto";
import { deriveKey, type KeySource, MIN_SECRET_BYTES, type SealingKey } from "./keys.ts";
import { type Secrets, secretList } from "./secrets.ts";

/**
 * Keys from the setting `requestStateKey`: the first secret seals, all open. To rotate, put the new secret first
 * and drop the old one when its last states are past use (`requestStateLifetime` plus 30 days).
 *
 * A string counts as its UTF-8 bytes, as it is: a trailing newline that only one instance reads makes another
 * key. Bytes are used at once, so the caller may wipe them afterwards.
 * @throws TypeError if a secret is neither string nor bytes.
 * @throws RepriseError CONFIG_INVALID if there is none, or one has fewer than 32 bytes. No message shows a secret.
 */
export function keysFromSecrets(secrets: Secrets): KeySource {
  const [first, ...others] = secretList(secrets, "requestStateKey");
  const sealing = deriveKey(first);
  return fixedSource(sealing, [sealing, ...others.map((secret) => deriveKey(secret))]);
}

/**
 * One random key that lives as long as this object: states of another process, or of this one before its
 * restart, are refused. For servers that share nothing and keep nothing.
 */
export function ephemeralKeys(): KeySource {
  const key = deriveKey(randomBytes(MIN_SECRET_BYTES));
  return fixedSource(key, [key]);
}

function fixedSource(first: SealingKey, all: readonly SealingKey[]): KeySource {
  const byKid = new Map(all.map((key) => [key.kid, key]));
  return { sealing: () => first, find: (kid) => byKid.get(kid) };
}
