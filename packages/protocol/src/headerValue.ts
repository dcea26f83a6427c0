/**
 * The value encoding of `Mcp-Name` and `Mcp-Param-*` (MCP 2026-07-28, Streamable HTTP, "Value Encoding").
 *
 * The front decodes, clients encode. Decoding is strict: a proxy that routes on the header must not be able to
 * read another value than we do, so there is exactly one spelling of each encoded value.
 */
import { isUtf8 } from "node:buffer";

const prefix = "=?base64?";
const suffix = "?=";
const plain = /^[\t\x20-\x7e]*$/;

/**
 * The value that a header carries; undefined when it is malformed: characters outside ASCII, or marked as
 * base64 and not canonical base64 of UTF-8. The marks are case-sensitive; other spellings are literal text.
 */
export function decodeHeaderValue(raw: string): string | undefined {
  const value = trimOptionalSpace(raw);
  if (!plain.test(value)) return undefined;
  if (!isMarked(value)) return value;
  const encoded = value.slice(prefix.length, -suffix.length);
  const bytes = Buffer.from(encoded, "base64");
  // Node skips what is no base64; only writing it again shows that nothing was skipped or left over.
  if (bytes.toString("base64") !== encoded || !isUtf8(bytes)) return undefined;
  return bytes.toString("utf8");
}

/** The header form of a value: as it is where that is safe, else base64. */
export function encodeHeaderValue(value: string): string {
  if (plain.test(value) && !isMarked(value) && trimOptionalSpace(value) === value) return value;
  return `${prefix}${Buffer.from(value, "utf8").toString("base64")}${suffix}`;
}

/** Without the spaces and tabs around a field value that RFC 9110 (5.5) says are not part of it. */
export function trimOptionalSpace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isOptionalSpace(value.charCodeAt(start))) start++;
  while (end > start && isOptionalSpace(value.charCodeAt(end - 1))) end--;
  return start === 0 && end === value.length ? value : value.slice(start, end);
}

function isOptionalSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function isMarked(value: string): boolean {
  return (
    value.length >= prefix.length + suffix.length &&
    value.startsWith(prefix) &&
    value.endsWith(suffix)
  );
}
