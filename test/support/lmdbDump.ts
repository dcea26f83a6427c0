/**
 * What a directory holds, as keys and values: for tests that pin formats and for those that look for what was left behind.
 */
import { join } from "node:path";
import { open } from "lmdb";

/** All keys and values of a directory that no store has open. */
export async function dump(directory: string): Promise<Record<string, string>> {
  const database = open<string, string>({
    path: join(directory, "reprise.mdb"),
    noSubdir: true,
    encoding: "string",
  });
  const all = Object.fromEntries([...database.getRange()].map(({ key, value }) => [key, value]));
  await database.close();
  return all;
}

/** Puts them into an empty directory. */
export async function restore(directory: string, golden: Record<string, string>): Promise<void> {
  const database = open<string, string>({
    path: join(directory, "reprise.mdb"),
    noSubdir: true,
    encoding: "string",
  });
  await database.transaction(() => {
    for (const [key, value] of Object.entries(golden)) void database.put(key, value);
  });
  await database.close();
}

/** Names of members, whatever their values: the shape of a record. */
export function shape(text: string): unknown {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member)]));
  };
  return text.startsWith("{") ? walk(JSON.parse(text)) : "text";
}
