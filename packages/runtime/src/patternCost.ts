/**
 * How long a regular expression may take, judged from its text: what JavaScript's backtracking makes of the worst input.
 *
 * `schemaCost` asks for every pattern of a schema. The answer is an upper bound, so that a pattern that is called harmless is:
 *
 * 1. Infinity where one text can be read in exponentially many ways. That is so exactly when the pattern's automaton (a
 *    position for each character it reads) has two different ways from a position back to itself over the same text.
 * 2. Else the exponent of a polynomial: how many loops, one after the other, can share a text between them. That the pattern may
 *    begin anywhere counts as a loop.
 */
import { automatonOf, isLoop } from "./patternAutomaton.ts";
import { type PatternNode, parsePattern } from "./patternSyntax.ts";

const remembered = new Map<string, number>();

/**
 * The exponent of a pattern's running time in the length of the text: 0 or 1 is linear.
 * @param flagsLost also judge it as if it had the flags `i` and `m`, which JSON Schema can't say and libraries leave out
 */
export function patternDegree(source: string, flagsLost: boolean): number {
  const key = `${flagsLost ? "i" : "-"}${source}`;
  let degree = remembered.get(key);
  if (degree === undefined) {
    degree = judge(source, flagsLost);
    // Schemas that are made anew for each call bring the same patterns.
    if (remembered.size >= 1000) remembered.clear();
    remembered.set(key, degree);
  }
  return degree;
}

function judge(source: string, flagsLost: boolean): number {
  const tree = parsePattern(source);
  if (tree === undefined) return Number.POSITIVE_INFINITY;
  const anywhere: PatternNode = {
    kind: "repeat",
    item: anything,
    min: 0,
    max: Number.POSITIVE_INFINITY,
  };
  const whole: PatternNode = isAnchored(tree)
    ? tree
    : { kind: "sequence", items: [anywhere, tree] };
  let degree = degreeOf(whole, flagsLost);
  for (const { body, isFree } of looksOf(tree)) {
    const inner = degreeOf(body, flagsLost);
    degree = isFree ? Math.max(degree, inner) : degree + inner;
  }
  return degree;
}

const anything: PatternNode = { kind: "set", ranges: [[0, 0x10ffff]] };

/** Of a tree without its look-arounds. */
function degreeOf(node: PatternNode, flagsLost: boolean): number {
  const automaton = automatonOf(node, flagsLost);
  if (automaton === undefined || automaton.isAmbiguous()) return Number.POSITIVE_INFINITY;
  return automaton.longestChain() ?? loopsOf(node);
}

const childrenOf = (node: PatternNode): readonly PatternNode[] => {
  if (node.kind === "sequence" || node.kind === "choice") return node.items;
  return node.kind === "repeat" ? [node.item] : [];
};

/** Loops that one text can be handed through at most, without a look at what they read. */
function loopsOf(node: PatternNode): number {
  const inner = childrenOf(node).map(loopsOf);
  const most =
    node.kind === "choice" ? Math.max(0, ...inner) : inner.reduce((sum, one) => sum + one, 0);
  return most + (isLoop(node) ? 1 : 0);
}

interface Look {
  readonly body: PatternNode;
  /** In front of every loop of an anchored pattern: it is tried once, not once for each way. */
  readonly isFree: boolean;
}

function looksOf(tree: PatternNode): readonly Look[] {
  const found: Look[] = [];
  let isFree = isAnchored(tree);
  const visit = (node: PatternNode): void => {
    if (isLoop(node)) isFree = false;
    if (node.kind === "look") {
      found.push({ body: node.item, isFree });
      found.push(...looksOf(node.item).map(({ body }) => ({ body, isFree: false })));
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(tree);
  return found;
}

function isAnchored(node: PatternNode): boolean {
  if (node.kind === "start") return true;
  if (node.kind === "choice") return node.items.every(isAnchored);
  if (node.kind !== "sequence") return false;
  const first = node.items.find((item) => item.kind !== "look");
  return first !== undefined && isAnchored(first);
}
