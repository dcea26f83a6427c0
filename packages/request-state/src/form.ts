/**
 * The two forms of a token and the exact bytes of their protected headers.
 *
 * The sealer asks for the header of a key; the envelope reads a kid back. Never decides by a header's content:
 * the number of parts gives the form, the form gives the one header text that is accepted (RFC 8725 section 3.1:
 * the algorithm comes from us, not from the token).
 *
 * 1. A header is one fixed text with a kid in one place. Another order, a duplicate, a space, `crit`, `zip` or
 *    `alg:none` is thus no case to think of: it is a different text.
 * 2. Members stand in RFC 8785 order, so any canonical JSON writer gives the same bytes.
 * 3. `typ` keeps other tokens under the same ring (session ids) from ever being read as request states
 *    (RFC 8725 section 3.11).
 */
/** `jws`: signed, readable by whoever holds it. `jwe`: encrypted, opaque to everyone but the servers. */
export type StateForm = "jws" | "jwe";

const before: Readonly<Record<StateForm, string>> = {
  jws: '{"alg":"HS256","kid":"',
  jwe: '{"alg":"dir","enc":"A256GCM","kid":"',
};
const after = '","typ":"reprise-state"}';

// 128 bits as base64url. A fixed length keeps the length of headers fixed too.
const KID_LENGTH = 22;
const kidShape = /^[A-Za-z0-9_-]{22}$/;

/** Whether `kid` can stand in a header without escapes. */
export function isKid(kid: string): boolean {
  return kidShape.test(kid);
}

/** The protected header, encoded: the first part of each token that `kid` seals in this form. */
export function headerPart(form: StateForm, kid: string): string {
  return Buffer.from(before[form] + kid + after, "latin1").toString("base64url");
}

/** Length of an encoded header: the same for every kid. */
export const headerPartLength: Readonly<Record<StateForm, number>> = {
  jws: headerPart("jws", "A".repeat(KID_LENGTH)).length,
  jwe: headerPart("jwe", "A".repeat(KID_LENGTH)).length,
};

/** The kid in a decoded header, or undefined if that is not, byte for byte, a header that we would write. */
export function kidOfHeader(form: StateForm, header: Buffer): string | undefined {
  // latin1 keeps each byte one character: nothing that is not ASCII can decode to the expected text.
  const text = header.toString("latin1");
  if (!text.startsWith(before[form]) || !text.endsWith(after)) return undefined;
  const kid = text.slice(before[form].length, -after.length);
  return isKid(kid) ? kid : undefined;
}
