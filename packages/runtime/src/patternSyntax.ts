/**
 * Regular expressions as trees: as much of their syntax as `patternCost` needs to judge them.
 *
 * It never runs a pattern. What it does not know (a back-reference, a class of its own kind) is undefined as a whole, and whoever
 * asks must expect the worst.
 */

/** Code points from and to, both included. */
export type Range = readonly [number, number];

/** One node. A look-around is kept beside what it stands in: it reads nothing. */
export type PatternNode =
  | { readonly kind: "set"; readonly ranges: readonly Range[] }
  | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly item: PatternNode;
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: "look"; readonly item: PatternNode }
  | { readonly kind: "start" | "end" };

const last = 0x10ffff;
const everything: readonly Range[] = [[0, last]];
const digit: readonly Range[] = [[48, 57]];
const word: readonly Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
// Wider than the real white space above ASCII, which only makes the judgement stricter.
const space: readonly Range[] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x3000],
  [0xfeff, 0xfeff],
];
const shorthand: Readonly<Record<string, readonly Range[]>> = {
  ...{ d: digit, w: word, s: space },
  ...{ D: others(digit), W: others(word), S: everything },
};
const control: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

class Unknown extends Error {}

/** The tree of a pattern's source; undefined when it holds something unknown. */
export function parsePattern(source: string): PatternNode | undefined {
  try {
    return new Reader(source).all();
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

/** Everything outside of sorted ranges. */
function others(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  let next = 0;
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  return next > last ? result : [...result, [next, last]];
}

const one = (code: number): readonly Range[] => [[code, code]];

class Reader {
  readonly #text: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#text = [...source];
  }

  all(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new Unknown();
    return node;
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #take(): string {
    const character = this.#text[this.#at];
    if (character === undefined) throw new Unknown();
    this.#at += 1;
    return character;
  }

  #takes(text: string): boolean {
    if (this.#text.slice(this.#at, this.#at + text.length).join("") !== text) return false;
    this.#at += text.length;
    return true;
  }

  #choice(): PatternNode {
    // A pattern of parentheses alone must not exhaust the stack.
    this.#depth += 1;
    if (this.#depth > 100) throw new Unknown();
    const items = [this.#sequence()];
    while (this.#takes("|")) items.push(this.#sequence());
    this.#depth -= 1;
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: "choice", items };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) {
      if (next === "|" || next === ")") break;
      const item = this.#atom();
      if (item !== undefined) items.push(this.#repeated(item));
    }
    return { kind: "sequence", items };
  }

  #repeated(item: PatternNode): PatternNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return item;
    // Laziness changes the order in which ways are tried, not their number.
    this.#takes("?");
    return { kind: "repeat", item, ...bounds };
  }

  #bounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.#takes("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#takes("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#takes("?")) return { min: 0, max: 1 };
    const given = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(
      this.#text.slice(this.#at, this.#at + 24).join(""),
    );
    if (given === null) return undefined;
    this.#at += given[0].length;
    const min = Number(given[1]);
    if (given[2] === undefined) return { min, max: min };
    return { min, max: given[3] === "" ? Number.POSITIVE_INFINITY : Number(given[3]) };
  }

  /** Undefined for what reads nothing and looks at nothing further: `\b`. */
  #atom(): PatternNode | undefined {
    const character = this.#take();
    switch (character) {
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case ".":
        return { kind: "set", ranges: everything };
      case "(":
        return this.#group();
      case "[":
        return { kind: "set", ranges: this.#class() };
      case "\\":
        if (this.#takes("b") || this.#takes("B")) return undefined;
        return { kind: "set", ranges: this.#escape() };
      default:
        if ("*+?".includes(character)) throw new Unknown();
        return { kind: "set", ranges: one(character.codePointAt(0) ?? 0) };
    }
  }

  #group(): PatternNode {
    let isLook = false;
    if (this.#takes("?")) {
      if (["=", "!", "<=", "<!"].some((mark) => this.#takes(mark))) isLook = true;
      else if (this.#takes("<")) while (this.#take() !== ">");
      else if (!this.#takes(":")) throw new Unknown();
    }
    const item = this.#choice();
    if (!this.#takes(")")) throw new Unknown();
    return isLook ? { kind: "look", item } : item;
  }

  #class(): readonly Range[] {
    const negated = this.#takes("^");
    const ranges: Range[] = [];
    while (!this.#takes("]")) {
      const from = this.#member();
      const [[low] = [0]] = from;
      if (from.length === 1 && this.#peek() === "-" && this.#text[this.#at + 1] !== "]") {
        this.#at += 1;
        const to = this.#member();
        ranges.push(...(to.length === 1 ? [[low, to[0]?.[1] ?? low] as const] : everything));
      } else {
        ranges.push(...from);
      }
    }
    return negated ? others(ranges) : ranges;
  }

  #member(): readonly Range[] {
    const character = this.#take();
    if (character !== "\\") return one(character.codePointAt(0) ?? 0);
    return this.#takes("b") ? one(8) : this.#escape();
  }

  #escape(): readonly Range[] {
    const character = this.#take();
    const known = Object.hasOwn(shorthand, character) ? shorthand[character] : undefined;
    if (known !== undefined) return known;
    if (Object.hasOwn(control, character)) return one(control[character] ?? 0);
    if (character === "x") return one(this.#hex(2));
    if (character === "u") {
      if (!this.#takes("{")) return one(this.#hex(4));
      let digits = "";
      for (let next = this.#take(); next !== "}"; next = this.#take()) digits += next;
      return one(Number.parseInt(digits, 16));
    }
    if (character === "p" || character === "P") {
      while (this.#take() !== "}");
      return everything;
    }
    if (/[\dkc]/.test(character)) throw new Unknown();
    return one(character.codePointAt(0) ?? 0);
  }

  #hex(length: number): number {
    const digits = Array.from({ length }, () => this.#take()).join("");
    if (!/^[\da-f]+$/i.test(digits)) throw new Unknown();
    return Number.parseInt(digits, 16);
  }
}
