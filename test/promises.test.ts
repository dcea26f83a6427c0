/**
 * Every promise of docs/design.md, sections 3 to 5, has a test that cites it.
 *
 * docs/promises.md gives each promise an id and quotes the design's words. A test cites ids in a comment right above it:
 * `// promise P4.2.3, P4.2.7`. Cases of the shared suites, which run as tests of every adapter, are cited above their title.
 *
 * 1. A quote stands word for word in its section, so that a promise can't be changed without a look at what shows it.
 * 2. No item, bullet or paragraph of these sections is without a promise, but for those that only lead to a list.
 * 3. An id is given once, is cited at least once, and nothing else is cited.
 */
import { describe, expect, test } from "vitest";
import { files, textOf } from "./support/sourceTree.ts";

interface Promised {
  readonly id: string;
  readonly section: string;
  readonly words: string;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const promises: readonly Promised[] = [
  ...textOf("docs/promises.md").matchAll(/^\| (P(\d(?:\.\d)?)\.\d+) \| (.+) \|$/gm),
].map(([, id = "", section = "", words = ""]) => ({
  id,
  section,
  words: oneLine(words.replaceAll("\\|", "|")),
}));

/** Items, bullets and paragraphs of sections 3 to 5, by the section that promises of theirs are named by. */
const blocks: readonly { readonly section: string; readonly text: string }[] = (() => {
  const found: { section: string; text: string }[] = [];
  let section = "";
  let begins = true;
  for (const line of textOf("docs/design.md").split("\n")) {
    const heading = /^(?:## (\d+)\.|### (\d\.\d) )/.exec(line);
    if (heading !== null) section = heading[2] ?? heading[1] ?? "";
    const item = /^(\d)\. /.exec(line);
    if (heading !== null || line === "") begins = true;
    else if (/^[345]/.test(section)) {
      const isNew = begins || item !== null || line.startsWith("- ");
      const name = section === "3" ? `3.${item?.[1]}` : section;
      if (isNew) found.push({ section: name, text: line });
      else
        found.push({
          section: found.at(-1)?.section ?? name,
          text: `${found.pop()?.text} ${line}`,
        });
      begins = false;
    }
  }
  return found.map(({ section: name, text }) => ({ section: name, text: oneLine(text) }));
})();

/** Where ids are cited: a file, a line, and what stands below. */
const citations = files
  .filter((file) => /^(packages|services|test)\/.*\.test\.ts$|\/src\/\w*[sS]uite\//.test(file))
  .flatMap((file) => {
    const lines = textOf(file).split("\n");
    return lines.flatMap((line, at) => {
      const cited = /^\s*\/\/ promise (.*)$/.exec(line)?.[1];
      if (cited === undefined) return [];
      return [{ place: `${file}:${at + 1}`, ids: cited.split(", "), below: lines[at + 1] ?? "" }];
    });
  });

const cited = new Set(citations.flatMap(({ ids }) => ids));

describe("docs/promises.md", () => {
  test("quotes words of the section that the id names", () => {
    const textOfSection = (section: string): string =>
      blocks.flatMap((block) => (block.section === section ? [block.text] : [])).join(" ");
    const strays = promises.filter(({ section, words }) => !textOfSection(section).includes(words));
    expect(strays).toEqual([]);
  });

  test("leaves nothing of sections 3 to 5 without a promise", () => {
    const bare = blocks.filter(
      ({ section, text }) =>
        !text.endsWith(":") &&
        !promises.some((promise) => promise.section === section && text.includes(promise.words)),
    );
    expect(bare).toEqual([]);
  });

  test("gives each id once, counting up in its section", () => {
    const counts = new Map<string, number>();
    for (const { id, section } of promises) {
      const count = (counts.get(section) ?? 0) + 1;
      counts.set(section, count);
      expect(id).toBe(`P${section}.${count}`);
    }
    expect(promises.length).toBeGreaterThan(150);
  });
});

describe("tests", () => {
  test("cite every promise", () => {
    expect(promises.flatMap(({ id }) => (cited.has(id) ? [] : [id]))).toEqual([]);
  });

  test("cite no promise that there is not", () => {
    const known = new Set(promises.map(({ id }) => id));
    const unknown = citations.flatMap(({ place, ids }) =>
      ids.flatMap((id) => (known.has(id) ? [] : [`${place}: ${id}`])),
    );
    expect(unknown).toEqual([]);
  });

  test("cite them right above a test, and no id twice there", () => {
    const loose = citations.filter(
      ({ ids, below }) =>
        !/^\s*((test|it|describe)[.(]|title:)/.test(below) || new Set(ids).size < ids.length,
    );
    expect(loose).toEqual([]);
  });
});
