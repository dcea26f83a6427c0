/**
 * What a program must come to, worked out without the engine.
 *
 * Where the outcome depends on what nobody promises (which branch of a race is first, whether a crash left a step of
 * policy "fail" in doubt) it takes every possibility: the model is the list of all allowed outcomes.
 */
import { keyOf, type Node, type Program, type StepNode } from "./program.ts";
import { numberOf, plus } from "./random.ts";

/** The value of everything that was caught. */
export const CAUGHT: number = numberOf("caught");

/** One allowed outcome. */
export interface Outcome {
  readonly kind: "returned" | "threw";
  /** The handler's number at its end. */
  readonly value: number;
  /** Ids of the steps that must have happened. */
  readonly must: ReadonlySet<string>;
}

/** Programs with more outcomes than this say too little; the generator draws another. */
const MAX_PATHS = 400;

class Thrown extends Error {}
class Ended extends Error {
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
}
/** The possibility that was taken can't be. */
class Impossible extends Error {}

/** All allowed outcomes; undefined when there are too many. */
export function outcomesOf(program: Program): readonly Outcome[] | undefined {
  const outcomes: Outcome[] = [];
  let path: { taken: number; of: number }[] = [];
  for (let count = 0; ; count += 1) {
    if (count >= MAX_PATHS) return undefined;
    const outcome = evaluate(program, path);
    if (outcome !== undefined) outcomes.push(outcome);
    while (path.length > 0 && (path.at(-1)?.taken ?? 0) + 1 >= (path.at(-1)?.of ?? 0)) path.pop();
    const last = path.pop();
    if (last === undefined) return outcomes;
    path = [...path, { taken: last.taken + 1, of: last.of }];
  }
}

/** Follows one path of possibilities; new ones are added to it with the first alternative. */
function evaluate(program: Program, path: { taken: number; of: number }[]): Outcome | undefined {
  let at = 0;
  const choose = (of: number): number => {
    const known = path[at];
    if (known === undefined) path.push({ taken: 0, of });
    at += 1;
    return known?.taken ?? 0;
  };
  const evaluation = new Evaluation(choose);
  try {
    const value = evaluation.run(program.body, 0, evaluation.must);
    return { kind: "returned", value, must: evaluation.must };
  } catch (error) {
    if (error instanceof Ended)
      return { kind: "returned", value: error.value, must: evaluation.must };
    if (error instanceof Thrown) return { kind: "threw", value: 0, must: evaluation.must };
    if (error instanceof Impossible) return undefined;
    throw error;
  }
}

class Evaluation {
  readonly must = new Set<string>();
  readonly #state = new Map<string, number>();
  readonly #choose: (of: number) => number;

  constructor(choose: (of: number) => number) {
    this.#choose = choose;
  }

  /** The number after the node, when it was `value` before. */
  run(node: Node, value: number, must: Set<string>): number {
    switch (node.op) {
      case "step":
        if (!this.#works(node)) throw new Thrown();
        must.add(node.id);
        return plus(value, numberOf(node.id));
      case "read":
        if (node.throws) throw new Thrown();
        return plus(value, numberOf(node.id));
      case "ask":
        return plus(value, numberOf(`${keyOf(node)} ${node.value}`));
      case "set":
        this.#state.set(node.key, value);
        return value;
      case "get":
        return plus(value, numberOf(`got ${this.#state.get(node.key)}`));
      case "draw":
      case "added":
        return value;
      case "seq":
        return node.nodes.reduce((before, child) => this.run(child, before, must), value);
      case "all":
        return this.#all(node.branches, value, must);
      case "allSettled": {
        let sum = value;
        for (const branch of node.branches) {
          const settled = this.#settle(branch, value);
          if (settled === undefined) sum = plus(sum, CAUGHT);
          else {
            sum = plus(sum, settled.value - value);
            for (const id of settled.must) must.add(id);
          }
        }
        return sum;
      }
      case "race":
        return this.run(branchAt(node.branches, this.#choose(node.branches.length)), value, must);
      case "any":
        return this.#any(node.branches, value, must);
      case "try": {
        const settled = this.#settle(node.body, value);
        if (settled === undefined) return plus(value, CAUGHT);
        for (const id of settled.must) must.add(id);
        return settled.value;
      }
      case "when": {
        const asked = this.run(node.ask, value, must);
        return this.run(node.ask.value === "no" ? node.no : node.yes, asked, must);
      }
      case "throw":
        throw new Thrown();
      case "nothingDone":
        throw new Ended(value);
    }
  }

  #works(step: StepNode): boolean {
    const { plan, policy } = step;
    switch (plan.does) {
      case "refuses":
      case "breaks":
        return false;
      case "recovers":
        // It depends on how often the call was repeated.
        return this.#choose(2) === 0;
      case "works":
        // A crash leaves a mark behind, and under "fail" a mark is a failure.
        return policy !== "fail" || this.#choose(2) === 0;
    }
  }

  #settle(node: Node, value: number): { value: number; must: Set<string> } | undefined {
    const must = new Set<string>();
    try {
      return { value: this.run(node, value, must), must };
    } catch (error) {
      if (error instanceof Thrown) return undefined;
      throw error;
    }
  }

  #all(branches: readonly Node[], value: number, must: Set<string>): number {
    const settled = branches.map((branch) => this.#settle(branch, value));
    let sum = value;
    for (const one of settled) {
      if (one === undefined) throw new Thrown();
      sum = plus(sum, one.value - value);
    }
    for (const one of settled) for (const id of one?.must ?? []) must.add(id);
    return sum;
  }

  #any(branches: readonly Node[], value: number, must: Set<string>): number {
    const choice = this.#choose(branches.length + 1);
    if (choice === branches.length) {
      if (branches.some((branch) => this.#settle(branch, value) !== undefined))
        throw new Impossible();
      throw new Thrown();
    }
    const won = this.#settle(branchAt(branches, choice), value);
    if (won === undefined) throw new Impossible();
    for (const id of won.must) must.add(id);
    return won.value;
  }
}

function branchAt(branches: readonly Node[], index: number): Node {
  const branch = branches[index];
  if (branch === undefined) throw new RangeError("no such branch");
  return branch;
}
