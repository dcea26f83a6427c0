/**
 * Canonical base64url (RFC 7515 section 2, RFC 4648 section 3.5).
 *
 * The envelope decodes every part of a token here before anything else looks at it. Decoders, Node's and those
 * of JOSE libraries alike, accept padding, white space, the other alphabet and stray bits in the last character,
 * so many strings would mean one token. Who compares or stores tokens (a cache, a log search, a replay guard)
 * relies on there being exactly one.
 */

/** The bytes of `part`, or undefined unless `part` is the one text that encodes them. */
export function decodeCanonical(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  // Encoding again is the whole check: it cannot forget one of the ways in which decoders are lenient.
  return bytes.toString("base64url") === part ? bytes : undefined;
}

/** How many characters `byteLength` bytes take without padding. */
export function encodedLength(byteLength: number): number {
  return Math.ceil((byteLength * 4) / 3);
}
