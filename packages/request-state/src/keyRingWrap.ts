/**
 * Wraps what the ring keeps of a key under `keyEncryptionKey`, as compact JWE `dir`+A256GCM.
 *
 * The record format calls it. It knows secrets and texts, not what is in them. One exact header a secret, so that
 * algorithm and wrapping key are chosen by us and not by whoever can write the ring.
 *
 * 1. The first secret wraps, all unwrap: to change it, put the new one first and keep the old one for as long as
 *    keys that it wrapped open states.
 * 2. The wrapping key and its id come from the secret by HKDF-SHA256 under a salt of their own: one secret used
 *    by mistake for both settings still gives unlike keys.
 */
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { decodeCanonical } from "./base64url.ts";
import { decrypt, encrypt, IV_BYTES, TAG_BYTES } from "./primitives.ts";
import { type Secrets, secretList } from "./secrets.ts";

/** Why something could not be unwrapped: by no secret of ours, or altered since. */
export type UnwrapFault = "wrapped_by_another" | "altered";

/** Wraps and unwraps texts. */
export interface KeyWrapping {
  wrap(text: string): string;
  unwrap(jwe: string): { readonly text: string } | UnwrapFault;
}

interface WrappingKey {
  readonly header: string;
  readonly key: KeyObject;
}

const salt = Buffer.from("reprise/key-ring/1", "latin1");

function wrappingKey(secret: Uint8Array): WrappingKey {
  const derive = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, salt, label, bytes));
  const kid = derive("wrapping kid", 16).toString("base64url");
  const header = `{"alg":"dir","enc":"A256GCM","kid":"${kid}","typ":"reprise-key"}`;
  return {
    header: Buffer.from(header, "latin1").toString("base64url"),
    key: createSecretKey(derive("wrap A256GCM", 32)),
  };
}

/**
 * The wrapping of a setting.
 * @throws TypeError or RepriseError CONFIG_INVALID as `keysFromSecrets`, naming `keyEncryptionKey`.
 */
export function createKeyWrapping(secrets: Secrets): KeyWrapping {
  const [first, ...others] = secretList(secrets, "keyEncryptionKey");
  const wrapping = wrappingKey(first);
  const known = new Map(
    [wrapping, ...others.map(wrappingKey)].map(({ header, key }) => [header, key]),
  );
  return {
    wrap(text) {
      const { iv, ciphertext, tag } = encrypt(wrapping.key, wrapping.header, Buffer.from(text));
      return [
        wrapping.header,
        "",
        ...[iv, ciphertext, tag].map((p) => p.toString("base64url")),
      ].join(".");
    },
    unwrap(jwe) {
      const [header = "", encryptedKey, ...rest] = jwe.split(".", 6);
      const key = known.get(header);
      if (key === undefined) return "wrapped_by_another";
      const [iv, ciphertext, tag, more] = rest.map(decodeCanonical);
      if (encryptedKey !== "" || rest.length !== 3 || more !== undefined) return "altered";
      if (iv?.length !== IV_BYTES || ciphertext === undefined || tag?.length !== TAG_BYTES) {
        return "altered";
      }
      const text = decrypt(key, header, { iv, ciphertext, tag });
      return text === undefined ? "altered" : { text: text.toString("utf8") };
    },
  };
}
