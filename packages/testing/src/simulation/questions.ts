/**
 * The questions that a client was shown, each held against what the program asks.
 *
 * Within one life of a run a question under one key is the same each time, but for what is added to one whose page is waited for.
 */
import type { JsonObject } from "@reprise/journal";
import type { Answers } from "./answers.ts";
import type { Reply } from "./calls.ts";
import type { Fleet } from "./fleet.ts";
import { livesBefore } from "./lives.ts";
import type { Pages } from "./pages.ts";
import type { AskNode } from "./program.ts";
import { readState } from "./replies.ts";
import { Violation } from "./violation.ts";

/** A question that the client was shown. */
export interface Question {
  readonly requestState: string;
  readonly keys: readonly string[];
  readonly run: string;
  readonly round: number;
}

/** What `stillWaiting` of the runtime adds. */
const still = / \(Still waiting for the page to be completed\.\)/;

/** The questions of one conversation. */
export class Questions {
  readonly history: Question[] = [];
  readonly #fleet: Fleet;
  readonly #pages: Pages;
  readonly #answers: Answers;
  readonly #texts = new Map<string, string>();

  constructor(fleet: Fleet, answers: Answers, pages: Pages) {
    this.#fleet = fleet;
    this.#answers = answers;
    this.#pages = pages;
  }

  /**
   * @param mayDiffer whether a question may have other words: a deploy changed it, or it is made of what each attempt of a run
   *   that may repeat reads for itself
   * @throws Violation
   */
  shown(reply: Extract<Reply, { kind: "question" }>, mayDiffer: boolean): Question {
    const { requestState, inputRequests } = reply;
    const { run, round } = this.#fleet.stateIn?.(requestState) ?? readState(requestState);
    const keys = Object.keys(inputRequests);
    if (keys.length === 0) throw new Violation("a question without a question");
    const lives = livesBefore(this.#fleet.world.log, run, round);
    for (const key of keys) {
      const ask = this.#judge(key, `${run} ${key} life ${lives}`, inputRequests[key], mayDiffer);
      if (ask.kind === "elicitUrl") this.#pages.shown(ask, run, inputRequests[key]);
    }
    const question = { requestState, keys, run, round };
    this.history.push(question);
    return question;
  }

  #judge(key: string, asked: string, request: JsonObject | undefined, mayDiffer: boolean): AskNode {
    const ask = this.#answers.ask(key);
    const words = JSON.stringify(request);
    if (ask === undefined || !words.includes(`question ${ask.id}`)) {
      throw new Violation(`a question that the undisturbed run does not ask: ${key} ${words}`);
    }
    const text = words.replace(still, "");
    const before = this.#texts.get(asked) ?? text;
    this.#texts.set(asked, text);
    if (!mayDiffer && before !== text) {
      throw new Violation(`question "${key}" changed: ${before} / ${text}`);
    }
    return ask;
  }
}
