/**
 * Wraps texts that others keep for us, as compact JWE `dir`+A256GCM: the keys in the ring under `keyEncryptionKey`, run
 * records under `recordEncryptionKey`, what a browser carries through a sign-in to the dashboard.
 *
 * The ring's record format, the stores and the dashboard call it. It knows secrets and texts, not what is in them. One exact header a
 * secret, so that algorithm and wrapping key are chosen by us and not by whoever can write where the text is kept.
 *
 * 1. The first secret wraps, all unwrap: to change it, put the new one first and keep the old one for as long as
 *    what it wrapped is wanted.
 * 2. The wrapping key and its id come from the secret by HKDF-SHA256 under a salt of the purpose: one secret used
 *    by mistake for two settings still gives unlike keys.
 */
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { decodeCanonical } from "./base64url.ts";
import { decrypt, encrypt, IV_BYTES, TAG_BYTES } from "./primitives.ts";
import { type Secrets, secretList } from "./secrets.ts";

/** Why something could not be unwrapped: by no secret of ours, or altered since. */
export type UnwrapFault = "wrapped_by_another" | "altered";

/** Wraps and unwraps texts. */
export interface TextWrapping {
  wrap(text: string): string;
  unwrap(jwe: string): { readonly text: string } | UnwrapFault;
}

interface WrappingKey {
  readonly header: string;
  readonly key: KeyObject;
}

/** What is wrapped, and under which setting's secrets. */
interface Purpose {
  readonly option: string;
  readonly salt: string;
  readonly typ: string;
}

const ringKeys: Purpose = {
  option: "keyEncryptionKey",
  salt: "reprise/key-ring/1",
  typ: "reprise-key",
};
const records: Purpose = {
  option: "recordEncryptionKey",
  salt: "reprise/records/1",
  typ: "reprise-record",
};
const signIns: Purpose = {
  option: "signInKey",
  salt: "reprise/ops-sign-in/1",
  typ: "reprise-sign-in",
};

function wrappingKey(secret: Uint8Array, purpose: Purpose): WrappingKey {
  const salt = Buffer.from(purpose.salt, "latin1");
  const derive = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, salt, label, bytes));
  const kid = derive("wrapping kid", 16).toString("base64url");
  const header = `{"alg":"dir","enc":"A256GCM","kid":"${kid}","typ":"${purpose.typ}"}`;
  return {
    header: Buffer.from(header, "latin1").toString("base64url"),
    key: createSecretKey(derive("wrap A256GCM", 32)),
  };
}

/**
 * The wrapping of the ring's keys.
 * @throws TypeError or RepriseError CONFIG_INVALID as `keysFromSecrets`, naming `keyEncryptionKey`.
 */
export function createKeyWrapping(secrets: Secrets): TextWrapping {
  return createWrapping(secrets, ringKeys);
}

/**
 * The wrapping of what run records hold.
 * @throws TypeError or RepriseError CONFIG_INVALID as `keysFromSecrets`, naming `recordEncryptionKey`.
 */
export function createRecordWrapping(secrets: Secrets): TextWrapping {
  return createWrapping(secrets, records);
}

/**
 * The wrapping of what a browser carries through a sign-in to the dashboard.
 * @throws TypeError or RepriseError CONFIG_INVALID as `keysFromSecrets`
 */
export function createSignInWrapping(secrets: Secrets): TextWrapping {
  return createWrapping(secrets, signIns);
}

function createWrapping(secrets: Secrets, purpose: Purpose): TextWrapping {
  const [first, ...others] = secretList(secrets, purpose.option).map((secret) =>
    wrappingKey(secret, purpose),
  ) as [WrappingKey, ...WrappingKey[]];
  const known = new Map([first, ...others].map(({ header, key }) => [header, key]));
  return {
    wrap(text) {
      const { iv, ciphertext, tag } = encrypt(first.key, first.header, Buffer.from(text));
      return [first.header, "", ...[iv, ciphertext, tag].map((p) => p.toString("base64url"))].join(
        ".",
      );
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
