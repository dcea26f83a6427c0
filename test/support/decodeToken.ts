/**
 * Everything that the bearer of a token can read in it without a key.
 *
 * Each part is decoded, and so is every longer base64url or hexadecimal text found in what was decoded, so that a
 * value does not hide by being encoded twice. What can't be read (a cipher text, a digest) comes out as noise.
 */

const shortestNested = 12;
const deepest = 4;

/** All readable forms of a token, the token itself first. */
function readableForms(token: string): readonly string[] {
  const forms = new Set<string>();
  const read = (text: string, depth: number): void => {
    if (forms.has(text) || depth > deepest) return;
    forms.add(text);
    for (const [nested] of text.matchAll(/[\w\-+/]+/g)) {
      if (nested.length < shortestNested) continue;
      read(Buffer.from(nested, "base64").toString("utf8"), depth + 1);
      if (/^[0-9a-f]+$/i.test(nested)) read(Buffer.from(nested, "hex").toString("utf8"), depth + 1);
    }
  };
  read(token, 0);
  for (const part of token.split(".")) read(Buffer.from(part, "base64url").toString("utf8"), 1);
  return [...forms];
}

/** Those of `markers` that the bearer of any of `tokens` can read. */
export function readableMarkers(
  tokens: readonly string[],
  markers: readonly string[],
): readonly string[] {
  const forms = tokens.flatMap(readableForms);
  return markers.filter((marker) => forms.some((form) => form.includes(marker)));
}
