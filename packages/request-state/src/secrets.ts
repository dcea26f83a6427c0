/**
 * Secrets as operators configure them: one or a list, each a string or bytes, each long enough.
 *
 * Called where a setting holds secrets (`requestStateKey`, `keyEncryptionKey`). No message shows a secret.
 */
import { RepriseError } from "@reprise/errors";
import { MIN_SECRET_BYTES } from "./keys.ts";

/** What a setting that holds secrets may be. */
export type Secrets = string | Uint8Array | readonly (string | Uint8Array)[];

/**
 * The secrets of a setting as bytes, at least one. A string counts as its UTF-8 bytes, as it is.
 * @param option the setting's name, quoted by the errors
 * @throws TypeError if a secret is neither string nor bytes.
 * @throws RepriseError CONFIG_INVALID if there is none, or one has fewer than 32 bytes.
 */
export function secretList(
  secrets: Secrets,
  option: string,
): readonly [Uint8Array, ...Uint8Array[]] {
  const list = typeof secrets === "string" || secrets instanceof Uint8Array ? [secrets] : secrets;
  if (!Array.isArray(list)) {
    throw new TypeError(`${option} must be a string, bytes, or a list of them`);
  }
  const [first, ...others] = list.map((secret: unknown, index) =>
    secretBytes(secret, `${option}[${index}]`),
  );
  if (first === undefined) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `${option} is an empty list: give at least one secret`,
    );
  }
  return [first, ...others];
}

function secretBytes(secret: unknown, name: string): Uint8Array {
  if (typeof secret !== "string" && !(secret instanceof Uint8Array)) {
    throw new TypeError(`${name} must be a string or bytes`);
  }
  const bytes = typeof secret === "string" ? Buffer.from(secret, "utf8") : secret;
  if (bytes.byteLength < MIN_SECRET_BYTES) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `${name} has ${bytes.byteLength} bytes, at least ${MIN_SECRET_BYTES} are needed: ` +
        "use the output of `openssl rand -base64 48`",
    );
  }
  return bytes;
}
