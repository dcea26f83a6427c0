/**
 * What a client answers: as its person has it in mind, unusably, in contradiction, or before it is asked.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { Call } from "./calls.ts";
import { type AskNode, keyOf, nodesWith, type Program } from "./program.ts";
import type { Question } from "./questions.ts";
import type { Draw } from "./random.ts";
import { opposite } from "./replies.ts";
import type { SealedState } from "./sealedStates.ts";
import { Violation } from "./violation.ts";

/** The first one can be used where a page is asked for: an accept of that has no content that could be missing. */
const unusable: readonly JsonValue[] = [
  { action: "accept", content: {} },
  {},
  17,
  null,
  { action: "maybe" },
];

/** The answers to a program's asks, by key. */
export class Answers {
  readonly #asks: ReadonlyMap<string, AskNode>;

  constructor(programs: readonly Program[]) {
    const asks = programs.flatMap((program) => nodesWith(program, "ask"));
    this.#asks = new Map(asks.map((ask) => [keyOf(ask), ask]));
  }

  /** The ask of that key, which the program has. */
  ask(key: string): AskNode | undefined {
    return this.#asks.get(key);
  }

  /** All that a question asks for. */
  to({ requestState, keys }: Question): Call {
    const answers = keys.map((key) => [key, this.#answerTo(key)] as const);
    return { requestState, inputResponses: Object.fromEntries(answers) };
  }

  /** Some of it, and some that can't be used. `differed`: some can't, and may stand all the same. */
  troubled(
    { requestState, keys }: Question,
    draw: Draw,
  ): { readonly call: Call; readonly differed: boolean } {
    let differed = false;
    const answers = new Map<string, JsonValue>();
    for (const key of keys) {
      const roll = draw.below(100);
      if (roll < 55) answers.set(key, this.#answerTo(key));
      else if (roll < 75) {
        differed = true;
        const isPage = this.#asks.get(key)?.kind === "elicitUrl";
        answers.set(key, draw.pick(isPage ? unusable.slice(1) : unusable));
      }
    }
    if (draw.chance(20))
      answers.set("nobody asked", { action: "accept", content: { confirm: true } });
    return { call: { requestState, inputResponses: Object.fromEntries(answers) }, differed };
  }

  /** All that a question asks for, and others to what is sealed in its state. */
  contradictingSealed(question: Question, { entries = [] }: SealedState): Call {
    const others = entries.flatMap((entry) => {
      const ask = entry.kind === "answer_taken" ? this.#asks.get(entry.key) : undefined;
      return entry.kind === "answer_taken" && ask !== undefined
        ? [[entry.key, opposite(ask)] as const]
        : [];
    });
    const { requestState, inputResponses } = this.to(question);
    const answers = { ...Object.fromEntries(others), ...(inputResponses as JsonObject) };
    return { requestState, inputResponses: answers };
  }

  /** What is said before anything is asked: true of forms and models, and false where a yes must not count unasked (3.8). */
  unasked(): JsonObject {
    const answers = [...this.#asks].map(([key, ask]) => {
      const isTaken = ask.kind === "elicit" || ask.kind === "sample";
      return [key, isTaken ? ask.answer : opposite(ask)] as const;
    });
    return Object.fromEntries(answers);
  }

  #answerTo(key: string): JsonValue {
    const ask = this.#asks.get(key);
    if (ask === undefined) throw new Violation(`a question "${key}" that the program does not ask`);
    return ask.answer;
  }
}
