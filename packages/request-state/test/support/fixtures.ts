/**
 * What the tests of this package share: fixed secrets, one binding, one clock reading, and hand-made tokens.
 *
 * `signed` and `encrypted` seal any header and any text with real subkeys, through node:crypto and not through
 * the package: they stand for another release, another program with our secret, or a bug of ours.
 */
import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import type { OpenReply, SealInput, SealingKey, StateBinding } from "@reprise/request-state";

export const SECRET = "a secret for tests only, 32 bytes or more";
export const OTHER_SECRET = "another secret for tests only, also long enough";

export const binding: StateBinding = {
  audience: "audience-digest",
  operation: "operation-digest",
  principal: "principal-digest",
  params: "params-digest",
};

export const NOW_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;

export const input: SealInput = {
  payload: { run: "r-1", round: 1, asks: { confirm: "digest" } },
  binding,
  issuedAtMs: NOW_MS,
  expiresAtMs: NOW_MS + 24 * HOUR_MS,
  confidential: false,
};

/** The claims that `input` becomes, as this format writes them. */
export const claimsOf = (form: "jws" | "jwe"): Record<string, unknown> => ({
  v: 1,
  form,
  aud: binding.audience,
  op: binding.operation,
  sub: binding.principal,
  par: binding.params,
  iatMs: input.issuedAtMs,
  expMs: input.expiresAtMs,
  state: input.payload,
});

export const headerText = (form: "jws" | "jwe", kid: string): string =>
  form === "jws"
    ? `{"alg":"HS256","kid":"${kid}","typ":"reprise-state"}`
    : `{"alg":"dir","enc":"A256GCM","kid":"${kid}","typ":"reprise-state"}`;

const encode = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");

export function signed(key: SealingKey, header: string, text: string): string {
  const covered = `${encode(header)}.${encode(text)}`;
  return `${covered}.${createHmac("sha256", key.signing).update(covered).digest("base64url")}`;
}

export function encrypted(key: SealingKey, header: string, text: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key.encryption, iv);
  cipher.setAAD(Buffer.from(encode(header)));
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
  return `${encode(header)}..${encode(iv)}.${encode(ciphertext)}.${encode(cipher.getAuthTag())}`;
}

/** The cause of a refusal; `"opened"` if it was none. */
export const causeOf = (reply: OpenReply): string => (reply.ok ? "opened" : reply.cause);
