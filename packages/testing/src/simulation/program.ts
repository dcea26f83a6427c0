/**
 * Random handlers as data: what `handler.ts` executes with ctx, and `model.ts` judges without it.
 *
 * Everything has an id that survives a deploy; a step's or read's name may change in one. Values are of two sorts: numbers that
 * every run of the program must come to, and "traces" of things that differ between runs (read counters, uuids, times)
 * and must only be the same on every attempt of one run.
 */
import type { JsonValue } from "@reprise/journal";

/** What the outside world does with a step. */
export type StepPlan =
  /** Works, after throwing `times` times without having done anything (so nobody knows: uncertain). */
  | { readonly does: "works"; readonly throwsBefore: number; readonly throwsAfter: number }
  /** Always says that nothing happened. */
  | { readonly does: "refuses" }
  /** Always throws without saying what happened; nothing did. */
  | { readonly does: "breaks" }
  /** Says that nothing happened, 4 times, and then works: longer than one attempt tries. */
  | { readonly does: "recovers" };

/** An effect. */
export interface StepNode {
  readonly op: "step";
  readonly id: string;
  readonly name: string;
  readonly policy: "retry" | "fail" | "lookup";
  readonly plan: StepPlan;
  /** Turns of the event loop that it takes. */
  readonly turns: number;
  /** It has an undo function, which throws so many times before it works: fewer than it is tried in one attempt. */
  readonly undoThrows?: number;
}

/** A value from outside. */
export interface ReadNode {
  readonly op: "read";
  readonly id: string;
  readonly name: string;
  readonly throws: boolean;
  readonly turns: number;
}

/** A question, and the answer that the person has in mind. */
export interface AskNode {
  readonly op: "ask";
  readonly id: string;
  readonly kind: "confirm" | "elicit" | "elicitUrl" | "sample";
  /** Undefined: the name of its kind. */
  readonly key: string | undefined;
  readonly text: string;
  readonly answer: JsonValue;
  /** What the handler makes of the answer. */
  readonly value: string;
  /**
   * Of a URL ask: whether its person completes the page, never does, or could not because the URL was made without the id.
   */
  readonly page?: "completes" | "never" | "none";
  /** How long an accept waits for the page. */
  readonly waitMs?: number;
}

/** What the handler makes of a page that nobody completed. */
export const UNFINISHED = "unfinished";

/** A part of a handler. */
export type Node =
  | StepNode
  | ReadNode
  | AskNode
  | { readonly op: "set" | "get"; readonly key: string }
  | { readonly op: "draw"; readonly id: string; readonly what: "uuid" | "random" | "now" }
  | { readonly op: "seq"; readonly nodes: readonly Node[] }
  | {
      readonly op: "all" | "allSettled" | "race" | "any";
      readonly id: string;
      readonly branches: readonly Node[];
    }
  /** Catches; `swallows` also the suspension signal, and goes on as if nothing had been. */
  | { readonly op: "try"; readonly id: string; readonly body: Node; readonly swallows: boolean }
  | { readonly op: "when"; readonly ask: AskNode; readonly yes: Node; readonly no: Node }
  | { readonly op: "throw" }
  /** Ends the handler with nothing done, if that is true. */
  | { readonly op: "nothingDone" }
  /** A step or read that a deploy added; its value is not used. */
  | { readonly op: "added"; readonly node: StepNode | ReadNode };

/** A handler in one of its versions. */
export interface Program {
  readonly version: string;
  readonly body: Node;
  /** How long its questions may be answered. Default: a day. */
  readonly answerWithinMs?: number;
  /** Its effects may repeat: the client carries the journal. */
  readonly repeatable?: true;
}

/** Every node of a tree, the root first. */
export function nodesOf(node: Node): readonly Node[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)];
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case "seq":
      return node.nodes;
    case "all":
    case "allSettled":
    case "race":
    case "any":
      return node.branches;
    case "try":
      return [node.body];
    case "when":
      return [node.ask, node.yes, node.no];
    case "added":
      return [node.node];
    default:
      return [];
  }
}

/** The same tree with every node replaced by what `change` makes of it, the leaves first. */
export function rebuilt(node: Node, change: (node: Node) => Node): Node {
  const inner = (child: Node): Node => rebuilt(child, change);
  switch (node.op) {
    case "seq":
      return change({ ...node, nodes: node.nodes.map(inner) });
    case "all":
    case "allSettled":
    case "race":
    case "any":
      return change({ ...node, branches: node.branches.map(inner) });
    case "try":
      return change({ ...node, body: inner(node.body) });
    case "when":
      return change({
        ...node,
        ask: inner(node.ask) as AskNode,
        yes: inner(node.yes),
        no: inner(node.no),
      });
    default:
      return change(node);
  }
}

/** All nodes of one sort. */
export function nodesWith<Op extends Node["op"]>(
  program: Program,
  op: Op,
): readonly Extract<Node, { readonly op: Op }>[] {
  return nodesOf(program.body).filter((node) => node.op === op) as Extract<
    Node,
    { readonly op: Op }
  >[];
}

/** The key that an ask has on the wire. */
export function keyOf(ask: AskNode): string {
  return ask.key ?? ask.kind;
}

function pageOf({ page, waitMs }: AskNode): string {
  return page === undefined ? "" : `, page: ${page}, waits ${waitMs} ms`;
}

/** The program as a person reads it. */
export function printed(node: Node, indent = ""): string {
  const deeper = `${indent}  `;
  const list = (nodes: readonly Node[]): string =>
    nodes.map((child) => printed(child, deeper)).join("\n");
  switch (node.op) {
    case "step": {
      const { plan } = node;
      const doubts =
        plan.does === "works" ? ` throws ${plan.throwsBefore}+${plan.throwsAfter} times` : "";
      const undo = node.undoThrows === undefined ? "" : `, undo throws ${node.undoThrows} times`;
      return `${indent}step ${node.name} [${node.policy}] ${plan.does}${doubts}, ${node.turns} turns${undo}`;
    }
    case "read":
      return `${indent}read ${node.name}${node.throws ? " throws" : ""}, ${node.turns} turns`;
    case "ask":
      return `${indent}${node.kind} ${keyOf(node)} "${node.text}" -> ${node.value}${pageOf(node)}`;
    case "set":
    case "get":
      return `${indent}state.${node.op} ${node.key}`;
    case "draw":
      return `${indent}${node.what} ${node.id}`;
    case "seq":
      return node.nodes.map((child) => printed(child, indent)).join("\n");
    case "all":
    case "allSettled":
    case "race":
    case "any":
      return `${indent}${node.op}\n${node.branches.map((branch) => `${deeper}branch\n${printed(branch, `${deeper}  `)}`).join("\n")}`;
    case "try":
      return `${indent}try${node.swallows ? " and swallow everything" : ""}\n${list([node.body])}`;
    case "when":
      return `${printed(node.ask, indent)}\n${indent}yes:\n${list([node.yes])}\n${indent}no:\n${list([node.no])}`;
    case "added":
      return `${printed(node.node, indent)} (added)`;
    default:
      return `${indent}${node.op}`;
  }
}
