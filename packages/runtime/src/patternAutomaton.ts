/**
 * The automaton of a regular expression: one position for each character that it reads, and which may follow which.
 *
 * `patternCost` asks it what costs time. No input is needed for that: two readers that go through it side by side over the same,
 * unwritten text meet every ambiguity there is.
 */
import type { PatternNode, Range } from "./patternSyntax.ts";

/** More positions than any sensible pattern has; the search for double ways is quadratic in them. */
const maxPositions = 160;

/** The search for loops that feed each other is of the fifth power in them. */
const maxForChains = 24;

/** Whether a node repeats what it holds an open number of times. */
export const isLoop = (node: PatternNode): boolean =>
  node.kind === "repeat" && node.max > 1 && node.max !== node.min;

class TooLarge extends Error {}

/** The automaton of a tree; undefined where it would be too large to judge. */
export function automatonOf(node: PatternNode, flagsLost: boolean): Automaton | undefined {
  const automaton = new Automaton(flagsLost);
  try {
    automaton.add(node);
    return automaton;
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** What a part of a pattern begins and ends with, as positions. */
interface Ends {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isNullable: boolean;
}

const nothing: Ends = { first: [], last: [], isNullable: true };

/** Positions and edges. An edge that comes about twice is two ways. */
class Automaton {
  readonly #reads: (readonly Range[])[] = [];
  readonly #next: Map<number, number>[] = [];
  readonly #flagsLost: boolean;

  constructor(flagsLost: boolean) {
    this.#flagsLost = flagsLost;
  }

  /** Whether one text can be read in exponentially many ways: two ways from a position back to itself. */
  isAmbiguous(): boolean {
    const size = this.#reads.length;
    const edges = this.#edges();
    const component = componentsOf(edges);
    const isOnCycle = (from: number, to: number): boolean => component[from] === component[to];
    for (const [from, targets] of this.#next.entries()) {
      for (const [to, count] of targets) if (count > 1 && isOnCycle(from, to)) return true;
    }
    // Pairs of positions that two readers of the same text can be at, without leaving the cycles that they are on.
    const pairs = Array.from({ length: size * size }, (_, pair) => {
      const [left, right] = [Math.floor(pair / size), pair % size];
      if (component[left] !== component[right]) return [];
      return (edges[left] ?? []).flatMap((one) =>
        isOnCycle(left, one)
          ? (edges[right] ?? []).flatMap((other) =>
              isOnCycle(right, other) && this.#meet(one, other) ? [one * size + other] : [],
            )
          : [],
      );
    });
    const pairComponent = componentsOf(pairs);
    const together = new Set(this.#reads.map((_, at) => pairComponent[at * size + at]));
    return pairs.some(
      (_, pair) => Math.floor(pair / size) !== pair % size && together.has(pairComponent[pair]),
    );
  }

  /**
   * How many cycles one text can be handed through, at most: the exponent of the ways to read it. Undefined where that would take
   * too long to find out.
   */
  longestChain(): number | undefined {
    const size = this.#reads.length;
    if (size > maxForChains) return undefined;
    const edges = this.#edges();
    const component = componentsOf(edges);
    const cyclic = [...edges.keys()].filter((at) =>
      edges[at]?.some((to) => component[at] === component[to]),
    );
    const feeds = cyclic.map((from) =>
      cyclic.filter((to) => component[from] !== component[to] && this.#feeds(from, to, edges)),
    );
    const indexOf = new Map(cyclic.map((at, index) => [at, index]));
    const memory = new Map<number, number>();
    // All positions of a cycle have the longest chain of any of them. Cycles are fed in one direction only.
    const chainFrom = (cycle: number): number => {
      const known = memory.get(cycle);
      if (known !== undefined) return known;
      const members = cyclic.filter((at) => component[at] === cycle);
      const behind = members.flatMap((at) => feeds[indexOf.get(at) ?? -1] ?? []);
      const chain = 1 + Math.max(0, ...behind.map((to) => chainFrom(component[to] ?? -1)));
      memory.set(cycle, chain);
      return chain;
    };
    return Math.max(0, ...cyclic.map((at) => chainFrom(component[at] ?? -1)));
  }

  /** Whether one text leads from `from` to itself, from `from` to `to`, and from `to` to itself. */
  #feeds(from: number, to: number, edges: readonly (readonly number[])[]): boolean {
    const size = this.#reads.length;
    const goal = (from * size + to) * size + to;
    const start = (from * size + from) * size + to;
    const seen = new Set([start]);
    const open = [start];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      const [one, two, three] = [
        Math.floor(state / size / size),
        Math.floor(state / size) % size,
        state % size,
      ];
      for (const a of edges[one] ?? []) {
        for (const b of edges[two] ?? []) {
          if (!this.#meet(a, b)) continue;
          for (const c of edges[three] ?? []) {
            if (!this.#meet(a, c) || !this.#meet(b, c)) continue;
            const next = (a * size + b) * size + c;
            if (next === goal) return true;
            if (!seen.has(next)) open.push(next);
            seen.add(next);
          }
        }
      }
    }
    return false;
  }

  #edges(): readonly (readonly number[])[] {
    return this.#next.map((targets) => [...targets.keys()]);
  }

  /** Whether some character is read by both. */
  #meet(left: number, right: number): boolean {
    const others = this.#reads[right] ?? [];
    return (
      this.#reads[left]?.some(([from, to]) =>
        others.some(([low, high]) => from <= high && low <= to),
      ) === true
    );
  }

  add(node: PatternNode): Ends {
    switch (node.kind) {
      case "set": {
        if (this.#reads.length >= maxPositions) throw new TooLarge();
        const at = this.#reads.push(this.#flagsLost ? inBothCases(node.ranges) : node.ranges) - 1;
        this.#next.push(new Map());
        return { first: [at], last: [at], isNullable: false };
      }
      case "sequence":
        return node.items.reduce((ends, item) => this.#join(ends, this.add(item)), nothing);
      case "choice": {
        const all = node.items.map((item) => this.add(item));
        return {
          first: all.flatMap(({ first }) => first),
          last: all.flatMap(({ last }) => last),
          isNullable: all.some(({ isNullable }) => isNullable),
        };
      }
      case "repeat":
        return this.#repeat(node);
      case "end":
        // Nothing follows the end of the text, but with the flag `m` it may be the end of a line.
        return this.#flagsLost ? nothing : { first: [], last: [], isNullable: false };
      default:
        return nothing;
    }
  }

  #repeat(node: Extract<PatternNode, { kind: "repeat" }>): Ends {
    if (node.max === 0) return nothing;
    let ends = nothing;
    for (let count = 1; count < node.min; count++) ends = this.#join(ends, this.add(node.item));
    const item = this.add(node.item);
    if (isLoop(node)) this.#connect(item.last, item.first);
    const optional = node.min === 0 ? { ...item, isNullable: true } : item;
    return this.#join(ends, optional);
  }

  #join(left: Ends, right: Ends): Ends {
    this.#connect(left.last, right.first);
    return {
      first: left.isNullable ? [...left.first, ...right.first] : left.first,
      last: right.isNullable ? [...left.last, ...right.last] : right.last,
      isNullable: left.isNullable && right.isNullable,
    };
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const start of from) {
      const edges = this.#next[start];
      for (const end of to) edges?.set(end, (edges.get(end) ?? 0) + 1);
    }
  }
}

function inBothCases(ranges: readonly Range[]): readonly Range[] {
  const shifted = (from: number, to: number, by: number) =>
    ranges.flatMap(([low, high]): Range[] => {
      const start = Math.max(low, from);
      const end = Math.min(high, to);
      return start > end ? [] : [[start + by, end + by]];
    });
  return [...ranges, ...shifted(65, 90, 32), ...shifted(97, 122, -32)];
}

/** Tarjan's strongly connected components, without recursion: the number of each node's component. */
function componentsOf(edges: readonly (readonly number[])[]): readonly number[] {
  const component = edges.map(() => -1);
  const order = edges.map(() => -1);
  const low = edges.map(() => 0);
  const open: number[] = [];
  let counted = 0;
  let components = 0;
  for (const root of edges.keys()) {
    if (order[root] !== -1) continue;
    const path: [node: number, edge: number][] = [[root, 0]];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const [node, edge] = step;
      if (edge === 0) {
        order[node] = low[node] = counted++;
        open.push(node);
      }
      const target = edges[node]?.[edge];
      if (target !== undefined) {
        step[1] += 1;
        if (order[target] === -1) path.push([target, 0]);
        else if (component[target] === -1) low[node] = Math.min(low[node] ?? 0, order[target] ?? 0);
        // A node without edges is entered once only, because its first look finds none.
        continue;
      }
      path.pop();
      const parent = path.at(-1)?.[0];
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[node] ?? 0);
      if (low[node] !== order[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop() ?? node;
        component[member] = components;
      }
      components += 1;
    }
  }
  return component;
}
