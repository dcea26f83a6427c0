/**
 * Host names as people would read them: the inverse of the ASCII form that addresses have on the wire (RFC 3492).
 *
 * Called by the URL review, in Node and in browsers, of which only Node has this built in. Pure, and for showing only: nothing
 * is ever looked up or opened by the decoded name. A label that is no valid punycode stays as it is, so that nothing is hidden.
 */

// RFC 3492, section 5: the parameters of Punycode.
const BASE = 36;
const SMALLEST_THRESHOLD = 1;
const LARGEST_THRESHOLD = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const FIRST_NON_ASCII = 128;

const LAST_CODE_POINT = 0x10ffff;

/** The name with every `xn--` label decoded. */
export function hostToUnicode(hostname: string): string {
  return hostname
    .split(".")
    .map((label) => (label.startsWith("xn--") ? (decoded(label.slice(4)) ?? label) : label))
    .join(".");
}

/** Undefined for what is no punycode. */
function decoded(text: string): string | undefined {
  const basicLength = Math.max(text.lastIndexOf("-"), 0);
  const points = [...text.slice(0, basicLength)].map((sign) => sign.codePointAt(0) ?? 0);
  const digits = [...text.slice(basicLength === 0 ? 0 : basicLength + 1)].map(digitOf);
  let codePoint = FIRST_NON_ASCII;
  let place = 0;
  let bias = INITIAL_BIAS;
  for (let at = 0; at < digits.length; ) {
    const number = numberAt(digits, at, bias);
    if (number === undefined) return undefined;
    at = number.end;
    const length = points.length + 1;
    bias = adapted(number.value, length, points.length === basicLength);
    place += number.value;
    codePoint += Math.floor(place / length);
    place %= length;
    if (codePoint > LAST_CODE_POINT) return undefined;
    points.splice(place, 0, codePoint);
    place += 1;
  }
  return String.fromCodePoint(...points);
}

/** One variable-length number: little-endian digits, each with a threshold of its own; a digit below it is the last. */
function numberAt(
  digits: readonly (number | undefined)[],
  start: number,
  bias: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  let weight = 1;
  for (let at = start; at < digits.length; at += 1) {
    const digit = digits[at];
    if (digit === undefined) return undefined;
    value += digit * weight;
    if (!Number.isSafeInteger(value)) return undefined;
    const wanted = BASE * (at - start + 1) - bias;
    const threshold = Math.min(Math.max(wanted, SMALLEST_THRESHOLD), LARGEST_THRESHOLD);
    if (digit < threshold) return { value, end: at + 1 };
    weight *= BASE - threshold;
  }
  return undefined;
}

function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(isFirst ? delta / DAMP : delta / 2);
  rest += Math.floor(rest / length);
  const range = BASE - SMALLEST_THRESHOLD;
  let steps = 0;
  while (rest > (range * LARGEST_THRESHOLD) / 2) {
    rest = Math.floor(rest / range);
    steps += 1;
  }
  return BASE * steps + Math.floor(((range + 1) * rest) / (rest + SKEW));
}

function digitOf(sign: string): number | undefined {
  if (sign >= "a" && sign <= "z") return sign.charCodeAt(0) - 97;
  return sign >= "0" && sign <= "9" ? sign.charCodeAt(0) - 48 + 26 : undefined;
}
