/**
 * Jobs and mails as Redis holds them: versioned JSON, encrypted when a key is given.
 *
 * J1 A version or a key that is not known is refused, never guessed.
 * J2 With a key nothing unencrypted is taken: whoever can write to Redis could otherwise make jobs up.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { RepriseError } from "@reprise/errors";
import type { JsonObject } from "@reprise/journal";

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MIN_SECRET_BYTES = 32;

/** What BullMQ stores as the job's data, and a stream as a mail. */
export type Packed =
  | { readonly v: number; readonly open: JsonObject }
  | { readonly v: number; readonly sealed: string };

/** Packs and unpacks. */
export interface JobCodec {
  pack(content: object): Packed;
  /** @throws RepriseError FORMAT_UNKNOWN, CONFIG_INVALID for what another release or another key made */
  unpack(packed: unknown): JsonObject;
}

/**
 * @param secrets the first encrypts, all decrypt; none: nothing is encrypted
 * @throws RangeError for a secret below 32 bytes
 */
export function createJobCodec(secrets: readonly string[]): JobCodec {
  const keys = secrets.map(keyOf);
  const [first] = keys;
  return {
    pack: (content) =>
      first === undefined
        ? { v: VERSION, open: content as JsonObject }
        : { v: VERSION, sealed: seal(first, JSON.stringify(content)) },
    unpack(packed) {
      const { v, open, sealed } = (packed ?? {}) as Partial<
        Record<"v" | "open" | "sealed", unknown>
      >;
      if (v !== VERSION) {
        throw new RepriseError("FORMAT_UNKNOWN", `a job has format ${String(v)}, not ${VERSION}`);
      }
      if (typeof sealed === "string") return JSON.parse(unseal(keys, sealed)) as JsonObject;
      if (first === undefined && typeof open === "object" && open !== null)
        return open as JsonObject;
      throw new RepriseError(
        "CONFIG_INVALID",
        "a job is not encrypted, and this process has a jobEncryptionKey; give all processes the same",
      );
    },
  };
}

function keyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret, "utf8");
  if (bytes.length < MIN_SECRET_BYTES) {
    throw new RangeError(`jobEncryptionKey has ${bytes.length} bytes; give at least 32`);
  }
  return Buffer.from(hkdfSync("sha256", bytes, "", "reprise pool job", 32));
}

function seal(key: Buffer, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
}

function unseal(keys: readonly Buffer[], sealed: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  for (const key of keys) {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(tag);
      const body = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      return Buffer.concat([body, decipher.final()]).toString("utf8");
    } catch {
      // Another key of the list may fit.
    }
  }
  throw new RepriseError(
    "CONFIG_INVALID",
    "a job was encrypted with a key that this process lacks",
  );
}
