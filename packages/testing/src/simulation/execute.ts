/**
 * Executes a program with a real ctx: the handler behind the one tool of the property tests.
 *
 * Its result, returned or thrown, names the run, the number it came to and the trace of what differs between runs.
 */
import type { Context, StepOptions } from "@reprise/runtime";
import { CallerError, isSuspension, notDone } from "@reprise/runtime";
import { CAUGHT } from "./model.ts";
import type { Outside, Place } from "./outside.ts";
import {
  type AskNode,
  keyOf,
  type Node,
  type Program,
  type StepNode,
  UNFINISHED,
} from "./program.ts";
import { numberOf, plus } from "./random.ts";

/** What a part of a handler came to. */
interface Values {
  readonly value: number;
  readonly trace: number;
}

/** What a run says at its end. */
export interface Said {
  readonly run: string;
  readonly value: number;
  readonly trace: number;
}

/** The end of a handler from deep inside. */
class Ended extends Error {
  readonly values: Values;
  constructor(values: Values) {
    super("ended");
    this.values = values;
  }
}

const amountForm = {
  type: "object",
  properties: { amount: { type: "integer", minimum: 0 } },
  required: ["amount"],
} as const;

/** Executes the program once from its first line. */
export async function execute(program: Program, outside: Outside, ctx: Context): Promise<string> {
  const state = ["main.0", "main.1"].map((key) => ctx.state.get(key) ?? "");
  outside.began(placeOf(ctx), JSON.stringify(state));
  const said = ({ value, trace }: Values): string =>
    JSON.stringify({ run: ctx.run.id, value, trace } satisfies Said);
  try {
    return said(await new Execution(outside, ctx).run(program.body, { value: 0, trace: 0 }));
  } catch (error) {
    if (isSuspension(error)) throw error;
    if (!(error instanceof Ended)) {
      // What a handler throws differs with the branch that came first; the model knows only that it threw.
      throw new CallerError(said({ value: 0, trace: 0 }), { cause: error });
    }
    try {
      return ctx.nothingDone(said(error.values));
    } catch (refusal) {
      if (isSuspension(refusal)) throw refusal;
      return said(error.values);
    }
  }
}

class Execution {
  readonly #outside: Outside;
  readonly #ctx: Context;
  readonly #place: Place;

  constructor(outside: Outside, ctx: Context) {
    this.#outside = outside;
    this.#ctx = ctx;
    this.#place = placeOf(ctx);
  }

  async run(node: Node, before: Values): Promise<Values> {
    const ctx = this.#ctx;
    switch (node.op) {
      case "step":
        return after(before, node.id, await this.#step(node, before));
      case "read": {
        const reading = await ctx.read(node.name, () => this.#outside.read(node, this.#place));
        return after(before, node.id, reading);
      }
      case "ask": {
        const value = await this.#ask(node, before);
        return after(before, `${keyOf(node)} ${value}`, 0);
      }
      case "set":
        ctx.state.set(node.key, JSON.stringify(before));
        return before;
      case "get": {
        const got = JSON.parse(ctx.state.get(node.key) ?? "{}") as Values;
        return after(before, `got ${got.value}`, got.trace);
      }
      case "draw": {
        const drawn = node.what === "now" ? ctx.now() : ctx[node.what](node.id);
        return { ...before, trace: numberOf(`${before.trace} ${drawn}`) };
      }
      case "seq": {
        let values = before;
        for (const child of node.nodes) values = await this.run(child, values);
        return values;
      }
      case "all":
        return joined(before, await Promise.all(this.#branches(node.branches, before)));
      case "allSettled": {
        const settled = await Promise.allSettled(this.#branches(node.branches, before));
        return joined(
          before,
          settled.map((one) => {
            if (one.status === "fulfilled") return one.value;
            if (isSuspension(one.reason)) throw one.reason;
            return { value: plus(before.value, CAUGHT), trace: before.trace };
          }),
        );
      }
      case "race":
        return Promise.race(this.#branches(node.branches, before));
      case "any":
        return Promise.any(this.#branches(node.branches, before)).catch((error: unknown) => {
          const all = error instanceof AggregateError ? error.errors : [error];
          throw all.find(isSuspension) ?? error;
        });
      case "try":
        try {
          return await this.run(node.body, before);
        } catch (error) {
          if (error instanceof Ended) throw error;
          if (isSuspension(error) && !node.swallows) throw error;
          return { value: plus(before.value, CAUGHT), trace: before.trace };
        }
      case "when": {
        const asked = await this.run(node.ask, before);
        const isYes = asked.value !== after(before, `${keyOf(node.ask)} no`, 0).value;
        return this.run(isYes ? node.yes : node.no, asked);
      }
      case "throw":
        throw new Error("the handler throws");
      case "nothingDone":
        throw new Ended(before);
      case "added":
        await this.run(node.node, before);
        return before;
    }
  }

  #branches(branches: readonly Node[], before: Values): Promise<Values>[] {
    return branches.map((branch) => this.run(branch, before));
  }

  #step(node: StepNode, before: Values): Promise<number> {
    const ctx = this.#ctx;
    const inputs = `${before.value} ${before.trace}`;
    const onUncertain: StepOptions<number>["onUncertain"] =
      node.policy === "lookup"
        ? ({ idempotencyKey }) => this.#outside.lookUp(idempotencyKey)
        : node.policy;
    const undo: StepOptions<number>["undo"] = async (_, { idempotencyKey }) => {
      if (!(await this.#outside.undo(node, this.#place, idempotencyKey))) throw new Error("broke");
    };
    return ctx.step(
      node.name,
      async ({ idempotencyKey }) => {
        const why = await this.#outside.effect(node, this.#place, idempotencyKey, inputs);
        if (typeof why === "number") return why;
        throw why === "refused" ? notDone(new Error(why)) : new Error(why);
      },
      { onUncertain, ...(node.undoThrows === undefined ? {} : { undo }) },
    );
  }

  async #ask(node: AskNode, before: Values): Promise<string> {
    const ctx = this.#ctx;
    const options = node.key === undefined ? {} : { key: node.key };
    const text = `${node.text} (${before.value} ${before.trace})`;
    switch (node.kind) {
      case "confirm":
        return (await ctx.confirm(text, options)) ? "yes" : "no";
      case "elicit": {
        const answer = await ctx.elicit(text, amountForm, options);
        if (answer.action !== "accept") return "no";
        return `amount ${(answer.content as { amount: number }).amount}`;
      }
      case "elicitUrl":
        return this.#page(node, text);
      case "sample": {
        const messages = [{ role: "user", content: { type: "text", text } }] as const;
        return (await ctx.sample({ messages, maxTokens: 10 }, options)).text;
      }
    }
  }

  async #page(node: AskNode, text: string): Promise<string> {
    const ctx = this.#ctx;
    const { page = "none", waitMs = 0 } = node;
    const options = { waitMs, ...(node.key === undefined ? {} : { key: node.key }) };
    const base = `https://pages.test/${node.id}`;
    const url = page === "none" ? base : ({ id }: { readonly id: string }) => `${base}/${id}`;
    const since = this.#outside.now();
    const outcome = await ctx.elicitUrl(text, url, options);
    if (outcome.action !== "accept") return "no";
    const { completed } = outcome;
    if (page !== "none") {
      const tookMs = this.#outside.now() - since;
      this.#outside.gotPage(this.#place, { ask: node.id, completed, tookMs });
    }
    return completed ? `page ${JSON.stringify(outcome.data)}` : UNFINISHED;
  }
}

function placeOf({ run }: Context): Place {
  return { run: run.id, round: run.round };
}

function after(before: Values, what: string, differs: number): Values {
  return {
    value: plus(before.value, numberOf(what)),
    trace: numberOf(`${before.trace} ${what} ${differs}`),
  };
}

/** Branches begin with the same values; each adds its own. */
function joined(before: Values, branches: readonly Values[]): Values {
  return {
    value: branches.reduce((sum, { value }) => plus(sum, value - before.value), before.value),
    trace: numberOf(branches.map(({ trace }) => trace).join(" ")),
  };
}
