/**
 * The rule that headers mirror the body (MCP 2026-07-28, Streamable HTTP, "Server Validation").
 *
 * Called by the front for each modern request: an intermediary may have routed or billed by these headers, so a
 * request whose headers and body differ is refused with HEADER_MISMATCH before anything runs. Nothing here
 * knows tools; the declarations of `Mcp-Param-*` come in.
 */
import { RepriseError } from "@reprise/errors";
import { decodeHeaderValue, trimOptionalSpace } from "./headerValue.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Headers as Node gives them: names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** One `x-mcp-header` annotation of a tool's input schema. */
export interface HeaderParamRule {
  /** The annotation's value: the header is `Mcp-Param-<header>`. */
  readonly header: string;
  /** Where the value stands in the arguments. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

/** A header's value without the space around it. Repeated headers arrive joined and thus match nothing. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (typeof value === "string") return trimOptionalSpace(value);
  return value === undefined ? undefined : value.join(", ");
}

/** Refuses unless `Mcp-Method` is there and names the body's method. */
export function checkMethodHeader(headers: Headers, method: string): void {
  const header = headerOf(headers, "mcp-method");
  if (header === undefined) throw mismatch("the required Mcp-Method header is missing");
  if (header !== method) {
    throw mismatch(`Mcp-Method header value '${shown(header)}' does not match the body's method`);
  }
}

/** Refuses unless `Mcp-Name` is there and, decoded, names the body's tool, prompt or URI. */
export function checkNameHeader(headers: Headers, name: string): void {
  const header = headerOf(headers, "mcp-name");
  if (header === undefined) throw mismatch("the required Mcp-Name header is missing");
  // Nearly all names are plain: equal and unmarked needs no decoding.
  if (header === name && !header.startsWith("=?")) {
    if (decodeHeaderValue(header) !== undefined) return;
  }
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) throw mismatch("the Mcp-Name header is malformed");
  if (decoded !== name) {
    throw mismatch(`Mcp-Name header value '${shown(decoded)}' does not match the body`);
  }
}

/**
 * Refuses unless each declared `Mcp-Param-*` header mirrors its argument. A header without a value in the body
 * is a mismatch too: somebody upstream may have acted on a value that the tool will never see.
 */
export function checkParamHeaders(
  headers: Headers,
  rules: readonly HeaderParamRule[],
  args: JsonObject | undefined,
): void {
  for (const rule of rules) {
    const name = `Mcp-Param-${rule.header}`;
    const header = headerOf(headers, name.toLowerCase());
    const decoded = header === undefined ? undefined : decodeHeaderValue(header);
    if (header !== undefined && decoded === undefined)
      throw mismatch(`the ${name} header is malformed`);
    const value = valueAt(args, rule.path);
    if (value === undefined || value === null) {
      if (decoded !== undefined) throw mismatch(`the ${name} header has no value in the body`);
      continue;
    }
    if (decoded === undefined) {
      // An object or array has no header form; the schema refuses it with a better message.
      if (typeof value === "object") continue;
      throw mismatch(`the ${name} header is missing while the body has a value`);
    }
    if (!mirrors(decoded, value, rule.type)) {
      throw mismatch(`${name} header value '${shown(decoded)}' does not match the body`);
    }
  }
}

const decimal = /^-?\d{1,30}(\.\d{1,30})?$/;

function mirrors(decoded: string, value: JsonValue, type: HeaderParamRule["type"]): boolean {
  if (typeof value === "string") return decoded === value;
  if (typeof value === "boolean") return decoded === String(value);
  if (typeof value !== "number") return false;
  if (decoded === String(value)) return true;
  // 42.0 is 42, but 9007199254740993 is not 9007199254740992, although both are the same double.
  return (
    type === "integer" &&
    Number.isSafeInteger(value) &&
    decimal.test(decoded) &&
    Number(decoded) === value
  );
}

/** Only own members: a path through `constructor` must not find one. */
function valueAt(root: JsonObject | undefined, path: readonly string[]): JsonValue | undefined {
  let node: JsonValue | undefined = root;
  for (const step of path) {
    if (!isJsonObject(node) || !Object.hasOwn(node, step)) return undefined;
    node = node[step];
  }
  return node;
}

/** Short enough to quote back. */
function shown(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}...` : value;
}

function mismatch(what: string): RepriseError {
  return new RepriseError("HEADER_MISMATCH", `Header mismatch: ${what}.`);
}
