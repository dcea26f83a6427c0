/**
 * Makes random programs, and random changes of them as a deploy brings them.
 *
 * Programs are deterministic given what ctx gives them, as the replay rule asks of authors: state is read only where the same
 * sequence wrote it before, because a value from the last round is another in each round.
 */
import type { JsonValue } from "@reprise/journal";
import {
  type AskNode,
  type Node,
  nodesOf,
  type Program,
  type ReadNode,
  rebuilt,
  type StepNode,
  type StepPlan,
  UNFINISHED,
} from "./program.ts";
import type { Draw } from "./random.ts";

class Maker {
  readonly #draw: Draw;
  #left: number;
  #ids = 0;
  readonly #kindsAsked = new Set<string>();

  constructor(draw: Draw, size: number) {
    this.#draw = draw;
    this.#left = size;
  }

  body(): Node {
    return this.#sequence(2, "main");
  }

  /** State keys belong to one sequence: parallel branches would write them in any order. */
  #sequence(depth: number, scope: string): Node {
    const nodes: Node[] = [];
    const length = 1 + this.#draw.below(depth === 2 ? 7 : 3);
    const keys: string[] = [];
    for (let index = 0; index < length && this.#left > 0; index += 1) {
      // An effect of what was read: the usual handler, and what the order of writes is about.
      if (this.#draw.chance(12)) nodes.push(this.#read(), this.step());
      else nodes.push(this.#part(depth, scope, keys));
    }
    return { op: "seq", nodes };
  }

  #part(depth: number, scope: string, keys: string[]): Node {
    this.#left -= 1;
    const draw = this.#draw;
    const roll = draw.below(100);
    if (roll < 26) return this.step();
    if (roll < 38) return this.#read();
    if (roll < 58) return this.#ask();
    if (roll < 66) {
      const key = `${scope}.${draw.below(2)}`;
      keys.push(key);
      return { op: "set", key };
    }
    if (roll < 71 && keys.length > 0) return { op: "get", key: draw.pick(keys) };
    if (roll < 75)
      return { op: "draw", id: this.#id("d"), what: draw.pick(["uuid", "random", "now"]) };
    if (depth > 0 && roll < 89) {
      const op = draw.pick(["all", "all", "allSettled", "race", "any"] as const);
      const id = this.#id("p");
      const branches = Array.from({ length: 2 + draw.below(2) }, (_, index) =>
        this.#sequence(depth - 1, `${id}-${index}`),
      );
      return { op, id, branches };
    }
    if (depth > 0 && roll < 93) {
      const id = this.#id("t");
      return { op: "try", id, body: this.#sequence(depth - 1, id), swallows: draw.chance(30) };
    }
    if (depth > 0 && roll < 98) {
      const id = this.#id("w");
      const yes = this.#sequence(depth - 1, `${id}-yes`);
      const no: Node = depth === 2 && draw.chance(60) ? { op: "nothingDone" } : this.step();
      return { op: "when", ask: this.#ask(), yes, no };
    }
    if (roll === 98 && depth < 2) return { op: "throw" };
    return this.step();
  }

  step(): StepNode {
    const draw = this.#draw;
    const id = this.#id("s");
    const roll = draw.below(100);
    let plan: StepPlan = { does: "works", throwsBefore: 0, throwsAfter: 0 };
    if (roll >= 92) plan = { does: draw.pick(["refuses", "breaks", "recovers"]) };
    else if (roll >= 75) {
      const after = draw.below(3);
      plan = { does: "works", throwsBefore: draw.below(3 - after), throwsAfter: after };
    }
    const policy = draw.pick(["retry", "retry", "retry", "fail", "lookup"] as const);
    return { op: "step", id, name: id, policy, plan, turns: draw.below(4) };
  }

  #read(): ReadNode {
    const id = this.#id("r");
    return {
      op: "read",
      id,
      name: id,
      throws: this.#draw.chance(6),
      turns: this.#draw.below(3),
    };
  }

  #ask(): AskNode {
    const draw = this.#draw;
    const id = this.#id("q");
    const kind = draw.pick(["confirm", "confirm", "elicit", "sample"] as const);
    const first = !this.#kindsAsked.has(kind);
    this.#kindsAsked.add(kind);
    const key = first && draw.chance(70) ? undefined : `key-${id}`;
    return { op: "ask", id, kind, key, text: `question ${id}`, ...this.#answer(kind, id) };
  }

  #answer(kind: AskNode["kind"], id: string): { answer: JsonValue; value: string } {
    const draw = this.#draw;
    if (kind === "sample") {
      const answer = {
        role: "assistant",
        model: "m",
        content: { type: "text", text: `words ${id}` },
      };
      return { answer, value: `words ${id}` };
    }
    const roll = draw.below(100);
    if (roll < 12) return { answer: { action: "decline" }, value: "no" };
    if (roll < 20) return { answer: { action: "cancel" }, value: "no" };
    if (kind === "elicit") {
      return { answer: { action: "accept", content: { amount: roll } }, value: `amount ${roll}` };
    }
    const confirm = roll < 85;
    return { answer: { action: "accept", content: { confirm } }, value: confirm ? "yes" : "no" };
  }

  #id(letter: string): string {
    this.#ids += 1;
    return `${letter}${this.#ids}`;
  }
}

/** A random program in its first version. */
export function newProgram(draw: Draw): Program {
  for (;;) {
    const body = new Maker(draw, 4 + draw.below(10)).body();
    const nodes = nodesOf(body);
    // Most of what can go wrong needs an effect; what does without is asked for now and then.
    if (nodes.some((node) => node.op === "step") || draw.chance(10)) return { version: "1", body };
  }
}

/** The program, now and then with URL asks in place of other questions. */
export function withPages(program: Program, draw: Draw): Program {
  if (!draw.chance(30)) return program;
  let isKeyless = true;
  const change = (node: Node): Node => {
    if (node.op !== "ask" || !draw.chance(60)) return node;
    const key = isKeyless && draw.chance(70) ? undefined : `key-${node.id}`;
    isKeyless &&= key !== undefined;
    const page = draw.pick(["completes", "completes", "completes", "never", "none"] as const);
    const roll = draw.below(100);
    const action = roll < 10 ? "decline" : roll < 15 ? "cancel" : "accept";
    // As JSON: what the page says is any.
    const seen = page === "completes" ? `page "${node.id}"` : UNFINISHED;
    const value = action === "accept" ? seen : "no";
    const waitMs = draw.pick([2_000, 20_000]);
    return { ...node, kind: "elicitUrl", key, page, waitMs, answer: { action }, value };
  };
  return { ...program, body: rebuilt(program.body, change) };
}

/** The program as one whose effects may repeat: without undo functions, which need a record. */
export function asRepeatable(program: Program): Program {
  const body = rebuilt(program.body, (node) => {
    if (node.op !== "step") return node;
    const { undoThrows: _, ...step } = node;
    return step;
  });
  return { ...program, body, repeatable: true };
}

/** The program, now and then with questions that must be answered soon; never with pages, which are waited for. */
export function withDeadline(program: Program, draw: Draw): Program {
  if (!draw.chance(40) || nodesOf(program.body).some(isPage)) return program;
  return { ...program, answerWithinMs: draw.pick([60_000, 120_000]) };
}

function isPage(node: Node): boolean {
  return node.op === "ask" && node.kind === "elicitUrl";
}

/** The program with undo functions for most of its steps; of some programs for none. */
export function withUndo({ version, body }: Program, draw: Draw): Program {
  if (!draw.chance(60)) return { version, body };
  const change = (node: Node): Node =>
    node.op === "step" && draw.chance(75) ? { ...node, undoThrows: draw.below(3) } : node;
  return { version, body: rebuilt(body, change) };
}

/** What a deploy changed, and the program after it. */
export interface Deploy {
  readonly program: Program;
  readonly what: string;
}

/** A version 2 of a program: one step or read renamed, added or moved, or one question worded anew. */
export function deployOf(program: Program, draw: Draw): Deploy {
  const nodes = nodesOf(program.body);
  const named = nodes.filter((node) => node.op === "step" || node.op === "read");
  const asks = nodes.filter((node) => node.op === "ask");
  const changed = (what: string, change: (node: Node) => Node): Deploy => ({
    program: { ...program, version: "2", body: rebuilt(program.body, change) },
    what,
  });
  const roll = draw.below(100);
  if (roll < 40 && named.length > 0) {
    const { id } = draw.pick(named);
    return changed(`renamed ${id}`, (node) =>
      (node.op === "step" || node.op === "read") && node.id === id
        ? { ...node, name: `${id}-renamed` }
        : node,
    );
  }
  if (roll < 60 && asks.length > 0) {
    const { id } = draw.pick(asks);
    return changed(`worded ${id} anew`, (node) =>
      node.op === "ask" && node.id === id ? { ...node, text: `${node.text}, worded anew` } : node,
    );
  }
  const isPlain = nodes.every((node) => node.op !== "set" && node.op !== "get");
  const sequences = nodes.filter((node) => node.op === "seq" && node.nodes.length > 0);
  const place = draw.below(sequences.length);
  const target = sequences[place];
  let seen = -1;
  const inPlace = (change: (nodes: readonly Node[]) => readonly Node[]) => (node: Node) => {
    if (node.op !== "seq" || target?.op !== "seq" || node.nodes.length === 0) return node;
    // Leaves come first in `rebuilt`: the sequence is known by what stands in it, not by its turn.
    if (JSON.stringify(node) !== JSON.stringify(target)) return node;
    seen += 1;
    return seen === 0 ? { ...node, nodes: change(node.nodes) } : node;
  };
  if (roll < 80 && isPlain && target?.op === "seq" && target.nodes.length > 1) {
    const at = draw.below(target.nodes.length - 1);
    return changed(
      "moved a part",
      inPlace((list) => {
        const moved = [...list];
        const [part] = moved.splice(at, 1);
        return part === undefined
          ? list
          : [...moved.slice(0, at + 1), part, ...moved.slice(at + 1)];
      }),
    );
  }
  const length = target?.op === "seq" ? target.nodes.length : 0;
  const at = draw.below(length + 1);
  const plan = { does: "works", throwsBefore: 0, throwsAfter: 0 } as const;
  const node: StepNode | ReadNode = draw.chance(70)
    ? { op: "step", id: "extra", name: "extra", policy: "retry", plan, turns: 0 }
    : { op: "read", id: "extra", name: "extra", throws: false, turns: 0 };
  return changed(
    `added ${node.op} extra`,
    inPlace((list) => [...list.slice(0, at), { op: "added", node }, ...list.slice(at)]),
  );
}
