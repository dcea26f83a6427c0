/**
 * Dialogues that an earlier release left open: its records, its states and its sessions are read today, and no step runs again.
 *
 * A golden file is written once per format and never again. To add one for a new format, run this file's last test: it fails and
 * says what today's release writes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { restore, shape } from "../../../../test/support/lmdbDump.ts";
import { deploy, type Effects, freshDirectory } from "./support/deployment.ts";
import { begin, finish, type HeldByClients } from "./support/dialogues.ts";

interface Golden {
  readonly clients: HeldByClients;
  readonly directory: Readonly<Record<string, string>>;
}

const folder = new URL("./golden/", import.meta.url);
const files = readdirSync(folder).toSorted();
const read = (file: string): Golden =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Golden;

const result = "decline, kind, 1970-01-01T00:00:00.000Z, 4990";
const allEnded = { refund_once: result, refund_repeatable: result, legacy: result };

describe.each(files)("dialogues of %s", (file) => {
  // promise P3.9.7
  test("end today in every era as they would have then, and no step happens again", async () => {
    const { clients, directory } = read(file);
    const restored = freshDirectory();
    await restore(restored, directory);
    const effects: Effects = [];
    const { url } = await deploy(restored, effects, 60_000);
    expect(await finish(url, clients)).toEqual(allEnded);
    expect(effects).toEqual([]);
  });
});

test("Today's release leaves what the newest golden file has: the same kinds of records, the same members", async () => {
  const directory = freshDirectory();
  const effects: Effects = [];
  const { url, held } = await deploy(directory, effects);
  const clients = await begin(url);
  const written = await held();
  expect(effects).toHaveLength(3);
  const newest = files.at(-1);
  const golden = newest === undefined ? {} : read(newest).directory;
  expect(shapes(written), JSON.stringify({ clients, directory: written })).toEqual(shapes(golden));
  expect(await finish(url, clients)).toEqual(allEnded);
});

/** Of every kind of key, the shapes of what stands there; ids and times are of the dialogue and not of the format. */
function shapes(held: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const byKind = new Map<string, readonly string[]>();
  for (const [key, text] of Object.entries(held)) {
    const kind = withoutIds(key.split("/").slice(0, 2).join("/"));
    const known = new Set(byKind.get(kind)).add(withoutIds(JSON.stringify(shape(text))));
    byKind.set(kind, [...known].toSorted(byText));
  }
  return byKind;
}

/** An ask's id ends with a digest, which has the run's id in it, and a count. */
function withoutIds(text: string): string {
  return text.replace(/[\w-]{20,}(?:\.[\w-]{16}(?=\.\d))?|\d{6,}/g, "#");
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}
