/**
 * Changing JSON without copying what stays: each function gives back the very object it was given when nothing changes.
 *
 * Everything that is lowered goes through here. Most results need no change on any revision, and copying a large one
 * only to find that out would cost more than sending it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** `value` with the members that are known. */
export function keepKnown(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  for (const name of Object.keys(value)) {
    if (!names.has(name)) {
      return Object.fromEntries(Object.entries(value).filter(([member]) => names.has(member)));
    }
  }
  return value;
}

/** `value` with `change` applied to one member that is an object. */
export function changed(
  value: JsonObject,
  member: string,
  change: (old: JsonObject) => JsonValue,
): JsonObject {
  const old = value[member];
  if (!isJsonObject(old)) return value;
  const next = change(old);
  return next === old ? value : { ...value, [member]: next };
}

/** `items` with `change` applied to each. */
export function changedItems(
  items: readonly JsonValue[],
  change: (item: JsonValue) => JsonValue,
): readonly JsonValue[] {
  let next: JsonValue[] | undefined;
  for (const [index, item] of items.entries()) {
    const lowered = change(item);
    if (lowered !== item) next ??= items.slice(0, index) as JsonValue[];
    next?.push(lowered);
  }
  return next ?? items;
}
