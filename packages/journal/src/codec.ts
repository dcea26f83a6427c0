/**
 * Journal text of author values: JSON plus Date, bytes, bigint and undefined.
 *
 * Called for every step result and read value, before it is recorded and again before the handler receives it.
 * Whatever this refuses would come back as something else on replay, so it is an error at the first attempt, with
 * the path of the offending member, and never a silent change (a Map that becomes `{}`, a class that loses its methods).
 *
 * C1 decode(encode(v)) is structurally equal to v, for every v that encode accepts.
 * C2 encode never calls user code: no toJSON, no getters, no traps of a Proxy, no methods that a value brings along.
 * C3 a plain object's own member that starts with `$` can't be taken for a tag.
 * C4 whatever encode refuses, it refuses with VALUE_UNSUPPORTED, also what is nested too deep to be walked.
 */
import { types } from "node:util";
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonValue } from "./json.ts";

/** Deeper values could be encoded and then overflow the stack of the attempt that decodes them. */
const MAX_DEPTH = 500;

type Tag = "$date" | "$bytes" | "$bigint" | "$undefined" | "$number" | "$object";

/**
 * Journal text of a value.
 * @param value what a step or read returned
 * @param owner how the error names its source, such as `step "refund"`
 * @throws RepriseError VALUE_UNSUPPORTED naming owner and path
 */
export function encodeValue(value: unknown, owner: string): string {
  return JSON.stringify(toJson(value, "", owner, new Set()));
}

/**
 * The value of a journal text.
 * @throws RepriseError FORMAT_UNKNOWN for a tag that this release does not know
 */
export function decodeValue(text: string): unknown {
  return fromJson(JSON.parse(text) as JsonValue);
}

function refuse(what: string, path: string, owner: string): never {
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `${owner} gave ${what} at ${path === "" ? "the top" : path}: only JSON, Date, bytes, bigint and undefined can be journaled`,
    { data: { owner, path } },
  );
}

function tagged(tag: Tag, value: JsonValue): JsonValue {
  return { [tag]: value };
}

function toJson(value: unknown, path: string, owner: string, open: Set<object>): JsonValue {
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) return refuse(String(value), path, owner);
      // JSON turns -0 into 0; a handler that divides by it would see the other infinity.
      return Object.is(value, -0) ? tagged("$number", "-0") : value;
    case "bigint":
      return tagged("$bigint", value.toString());
    case "undefined":
      return tagged("$undefined", true);
    case "object":
      return value === null ? null : objectToJson(value, path, owner, open);
    default:
      return refuse(`a ${typeof value}`, path, owner);
  }
}

function objectToJson(value: object, path: string, owner: string, open: Set<object>): JsonValue {
  // A Proxy looks like what it stands for, and every look is a call of its traps.
  if (types.isProxy(value)) return refuse("a Proxy", path, owner);
  if (types.isDate(value)) {
    // Not the value's own method, which it may have replaced.
    const time = Date.prototype.getTime.call(value);
    return Number.isNaN(time) ? refuse("an invalid Date", path, owner) : tagged("$date", time);
  }
  if (types.isUint8Array(value)) {
    return tagged(
      "$bytes",
      Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64"),
    );
  }
  if (open.has(value)) return refuse("a cycle", path, owner);
  if (open.size >= MAX_DEPTH) return refuse(`more than ${MAX_DEPTH} levels`, path, owner);
  open.add(value);
  const json = Array.isArray(value)
    ? arrayToJson(value, path, owner, open)
    : plainToJson(value, path, owner, open);
  open.delete(value);
  return json;
}

function arrayToJson(
  value: readonly unknown[],
  path: string,
  owner: string,
  open: Set<object>,
): JsonValue {
  const items: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const descriptor = Object.getOwnPropertyDescriptor(value, index);
    if (descriptor === undefined) return refuse("a hole", `${path}[${index}]`, owner);
    if (!("value" in descriptor)) return refuse("a getter", `${path}[${index}]`, owner);
    items.push(toJson(descriptor.value, `${path}[${index}]`, owner, open));
  }
  // All own members but `length`: symbols and hidden ones would be lost as well.
  if (Reflect.ownKeys(value).length !== value.length + 1)
    return refuse("an array with extra members", path, owner);
  return items;
}

function plainToJson(value: object, path: string, owner: string, open: Set<object>): JsonValue {
  const proto: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm (vm contexts) have a foreign Object.prototype, whose own prototype is null.
  if (proto !== null && Object.getPrototypeOf(proto) !== null) {
    return refuse(`an instance of ${classNameOf(proto as object)}`, path, owner);
  }
  if (proto !== null && !Object.hasOwn(proto as object, "hasOwnProperty")) {
    return refuse("an object with a prototype", path, owner);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return refuse("a symbol member", path, owner);
  const members: [string, JsonValue][] = [];
  let needsEscape = false;
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const at = path === "" ? name : `${path}.${name}`;
    if (!descriptor.enumerable) continue;
    if (!("value" in descriptor)) return refuse("a getter", at, owner);
    if (name.startsWith("$")) needsEscape = true;
    members.push([name, toJson(descriptor.value, at, owner, open)]);
  }
  const json = fromMembers(members) as JsonValue;
  return needsEscape ? tagged("$object", json) : json;
}

/** The name that a prototype's constructor was declared with; read without calling anything (C2). */
function classNameOf(proto: object): string {
  const own = Object.getOwnPropertyDescriptor(proto, "constructor")?.value as unknown;
  const name: unknown =
    typeof own === "function" && !types.isProxy(own)
      ? Object.getOwnPropertyDescriptor(own, "name")?.value
      : undefined;
  return typeof name === "string" && name !== "" ? name : "a class";
}

/** Like Object.fromEntries: defines each member, so `__proto__` stays a member and never sets a prototype. */
function fromMembers(members: Iterable<readonly [string, unknown]>): object {
  return Object.fromEntries(members);
}

function fromJson(json: JsonValue): unknown {
  if (Array.isArray(json)) return json.map(fromJson);
  if (!isJsonObject(json)) return json;
  const names = Object.keys(json);
  const [name] = names;
  if (names.length === 1 && name?.startsWith("$")) return fromTag(name, json[name] as JsonValue);
  return fromMembers(names.map((member) => [member, fromJson(json[member] as JsonValue)]));
}

function fromTag(tag: string, json: JsonValue): unknown {
  switch (tag as Tag) {
    case "$date":
      return new Date(json as number);
    case "$bytes":
      return new Uint8Array(Buffer.from(json as string, "base64"));
    case "$bigint":
      return BigInt(json as string);
    case "$undefined":
      return undefined;
    case "$number":
      return -0;
    case "$object": {
      const inner = json as Record<string, JsonValue>;
      return fromMembers(
        Object.keys(inner).map((name) => [name, fromJson(inner[name] as JsonValue)]),
      );
    }
    default:
      throw new RepriseError(
        "FORMAT_UNKNOWN",
        `a journaled value has the unknown tag ${tag}; run a release that knows it`,
      );
  }
}
