/**
 * Scripts are what their headers and descriptors say: neither can drift from the other.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "vitest";

const folder = new URL("../lua/", import.meta.url);
const sources = new URL("../src/", import.meta.url);
const files = readdirSync(folder).map((file) => file.replace(/\.lua$/, ""));
const typescript = readdirSync(sources)
  .map((file) => readFileSync(new URL(file, sources), "utf8"))
  .join("\n");

/** Names that a header gives after a word, in order. */
function namesIn(text: string, word: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^-- ${word} +(\\w+) `, "gm"))].map(([, name]) => name ?? "");
}

/** The list of a descriptor's member, of the call that defines script `name`. */
function listedIn(name: string, member: string): readonly string[] {
  const start = typescript.indexOf(`defineScript("${name}"`);
  const from = start < 0 ? typescript.search(new RegExp(`defineScript\\(\\s*"${name}"`)) : start;
  assert.ok(from >= 0, `${name}.lua has no descriptor`);
  const text = typescript.slice(from);
  const list = new RegExp(`${member}: \\[([^\\]]*)\\]`).exec(text)?.[1] ?? "";
  return [...list.matchAll(/"(\w+)"/g)].map(([, word]) => word ?? "");
}

describe.each(files)("the script %s", (name) => {
  const text = readFileSync(new URL(`${name}.lua`, folder), "utf8");

  test("has a header that names its keys and arguments as its descriptor does", () => {
    assert.deepEqual(namesIn(text, "KEYS"), listedIn(name, "keys"));
    assert.deepEqual(namesIn(text, "ARGV"), listedIn(name, "args"));
  });

  test("names keys and arguments once, and never by number after that", () => {
    const code = text
      .split("\n")
      .filter((line) => !line.startsWith("--"))
      .join("\n");
    const names = [...code.matchAll(/^local ([\w, \n]+?)=\s*unpack\((?:KEYS|ARGV)/gm)].length;
    const numbered = [...code.matchAll(/(?:KEYS|ARGV)\[\d+\]/g)].length;
    assert.ok(names > 0 || numbered > 0, "it takes nothing");
    if (names > 0) assert.equal(numbered, 0);
    assert.doesNotMatch(code, /'reprise|"reprise/, "a script builds no key");
  });

  test("is short, and says every reply that it gives", () => {
    const code = text.split("\n").filter((line) => line !== "" && !line.startsWith("--"));
    assert.ok(code.length <= 60, `${code.length} lines`);
    const given = [...code.join("\n").matchAll(/return \{\s*['"]([A-Z_]+)['"]/g)];
    for (const [, tag] of given) assert.match(text, new RegExp(`^-- ${tag}\\b`, "m"));
    assert.ok(given.length > 0);
  });
});
