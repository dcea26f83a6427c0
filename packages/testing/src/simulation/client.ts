/**
 * A client that answers a program's questions, with everything that clients and networks do wrong, and the judge of each reply.
 *
 * It begins with a budget of trouble; when that is spent it only does what a polite client would, and then the run must come
 * to its end within a few requests.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { Call, Fault, Reply } from "./calls.ts";
import { isExplained } from "./explained.ts";
import type { Fleet, Sending } from "./fleet.ts";
import { livesBefore } from "./lives.ts";
import { type AskNode, keyOf, nodesWith, type Program } from "./program.ts";
import type { Draw } from "./random.ts";
import { opposite, readState, told, toldFault, twoResults } from "./replies.ts";

/** A question that the client was shown. */
interface Question {
  readonly requestState: string;
  readonly keys: readonly string[];
  readonly run: string;
  readonly round: number;
}

/** How a conversation ended. */
export type Ending =
  | { readonly kind: "complete"; readonly result: JsonObject }
  | { readonly kind: "parked" }
  /** The client cancelled it. */
  | { readonly kind: "cancelled" }
  /** A question was not answered in time, and what had been done is undone. */
  | { readonly kind: "expired" }
  /** The person never answers. */
  | { readonly kind: "left" };

/** A request that is never refused takes one round a question, and a few for what was left in the air. */
const MAX_MOVES = 80;
const LEASE_MS = 10_000;

/** Something that must not have happened. */
export class Violation extends Error {}

/** One client and its run. */
export class Client {
  /** What it did and got, for a person. */
  readonly transcript: string[] = [];
  readonly codes: string[] = [];
  readonly history: Question[] = [];
  readonly texts: Map<string, Set<string>> = new Map();
  readonly #fleet: Fleet;
  readonly #draw: Draw;
  readonly #keyed: boolean;
  readonly #asks = new Map<string, AskNode>();
  readonly #versions: readonly string[];
  readonly #answerWithinMs: number | undefined;
  #version = "1";
  #deployed = false;
  #trouble: number;
  #question: Question | undefined;
  /** Answers that differ from the person's were sent: ANSWER_SETTLED may come. */
  #differed = false;
  #lookOnly = false;

  constructor(fleet: Fleet, programs: readonly Program[], keyed: boolean, draw: Draw) {
    this.#fleet = fleet;
    this.#draw = draw;
    this.#keyed = keyed;
    this.#versions = programs.map(({ version }) => version);
    this.#answerWithinMs = programs[0]?.answerWithinMs;
    this.#trouble = 2 + draw.below(9);
    for (const program of programs) {
      for (const ask of nodesWith(program, "ask")) this.#asks.set(keyOf(ask), ask);
    }
  }

  /** Sends and answers until the run has ended. */
  async converse(): Promise<Ending> {
    for (let move = 0; move < MAX_MOVES; move += 1) {
      const mayLeave = this.#answerWithinMs !== undefined && this.#question !== undefined;
      if (mayLeave && this.#draw.chance(12)) return { kind: "left" };
      const isFirst = this.#question === undefined;
      const replies = await this.#move();
      for (const reply of replies) this.#judge(reply);
      const differ = twoResults(replies, isFirst);
      if (differ !== undefined) throw new Violation(differ);
      const codes = replies.flatMap((reply) => (reply.kind === "error" ? [reply.code] : []));
      if (codes.includes("RUN_PARKED")) return { kind: "parked" };
      if (codes.includes("RUN_CANCELLED")) return { kind: "cancelled" };
      if (codes.includes("RUN_EXPIRED")) return { kind: "expired" };
      const complete = replies.find((reply) => reply.kind === "complete");
      if (complete !== undefined) return complete;
    }
    throw new Violation(`the run did not end within ${MAX_MOVES} moves`);
  }

  /** A first call again, with its key. */
  async callAgain(): Promise<Reply> {
    this.#question = undefined;
    return this.#one(this.#firstCall, "the first call again");
  }

  /** Every state again, with the person's answers. */
  async retryAll(): Promise<readonly Reply[]> {
    const replies: Reply[] = [];
    for (const question of this.history) {
      replies.push(await this.#one(this.#answered(question), `round ${question.round} again`));
    }
    return replies;
  }

  /** A retry of the newest question, for a place that does not know the run, or knows it as it was. */
  get newestRetry(): { readonly call: Call; readonly question: Question } | undefined {
    const question = this.history.at(-1);
    return question && { call: this.#answered(question), question };
  }

  // Moves ----------------------------------------------------------------------------------------------------------

  async #move(): Promise<readonly Reply[]> {
    const draw = this.#draw;
    if (this.#fleet.killsFirst && !this.#fleet.world.log.some(({ is }) => is === "crashed")) {
      return [await this.#killed()];
    }
    const hasEntries = this.#fleet.world.log.some(({ is }) => is === "done");
    if (this.#versions.length > 1 && hasEntries && !this.#deployed && draw.chance(40)) {
      return this.#deploy();
    }
    if (this.#trouble === 0 || draw.chance(12)) return [await this.#polite()];
    this.#trouble -= 1;
    const roll = draw.below(100);
    if (roll < 16 && this.#versions.length > 1) return this.#deploy();
    if (roll < (this.#answerWithinMs === undefined ? 20 : 32)) return this.#wait();
    if (roll < 27) return this.#contradict();
    if (roll < 36) return this.#late();
    if (roll < 50) return this.#parallel();
    if (roll < 57 && this.#keyed) {
      return [await this.#one(this.#firstCall, "the first call again", this.#fault(90))];
    }
    if (roll < 61) return this.#resume();
    if (roll < 68) return this.#cancel();
    const call = this.#troubledCall();
    return [
      await this.#one(call, `answers ${JSON.stringify(call.inputResponses)}`, this.#fault(95)),
    ];
  }

  async #polite(): Promise<Reply> {
    const question = this.#question;
    if (question === undefined) return this.#one(this.#firstCall, "a first call");
    if (this.#lookOnly) {
      this.#lookOnly = false;
      return this.#one(
        { requestState: question.requestState, inputResponses: undefined },
        "a look",
      );
    }
    return this.#one(this.#answered(question), `answers to round ${question.round}`);
  }

  /** What a polite client sends, to an instance that will not live to answer it. */
  #killed(): Promise<Reply> {
    const question = this.#question;
    const at = 1 + this.#draw.below(6);
    const fault: Fault = { does: "crash", at, when: this.#draw.pick(["before", "after"]) };
    const call = question === undefined ? this.#firstCall : this.#answered(question);
    return this.#one(call, "polite", fault);
  }

  #deploy(): readonly Reply[] {
    this.#deployed = true;
    this.#switchVersion();
    return [];
  }

  #switchVersion(): void {
    this.#version = this.#versions.find((version) => version !== this.#version) ?? this.#version;
    this.transcript.push(`version ${this.#version} is asked from now on`);
  }

  async #wait(): Promise<readonly Reply[]> {
    const tooLongMs = (this.#answerWithinMs ?? 0) + LEASE_MS * 2;
    const ms = this.#draw.pick([LEASE_MS / 2, tooLongMs, tooLongMs]);
    this.transcript.push(`waits ${ms} ms`);
    await this.#fleet.pass(ms);
    return [];
  }

  async #resume(): Promise<readonly Reply[]> {
    this.transcript.push("paused instances go on");
    await this.#fleet.resume();
    return [];
  }

  /** Ends the run that asked last; what it had done with an undo function is undone. */
  async #cancel(): Promise<readonly Reply[]> {
    const run = this.#question?.run;
    if (run === undefined) return [];
    const call = { ...this.#firstCall, cancels: run };
    await this.#one(call, `cancels ${run}`, this.#fault(40));
    return [];
  }

  /** Another answer to a question whose answer was taken: nothing may run. */
  async #contradict(): Promise<readonly Reply[]> {
    const record = this.#question && (await this.#fleet.peek(this.#question.run));
    if (record === undefined) return [];
    const { settled, brought, status } = record.head;
    // Taken, or brought by the attempt that has the run or died with it.
    const stands = (key: string): boolean =>
      Object.hasOwn(settled, key) ||
      // What nobody has taken is dropped with an interrupted attempt, and that may be before this arrives.
      (status === "running" && Object.hasOwn(brought, key) && !this.#somethingElseRuns());
    for (const question of [...this.history].reverse()) {
      if (question.run !== record.origin.runId) continue;
      const key = question.keys.find((one) => stands(one) && this.#asks.has(one));
      const ask = key === undefined ? undefined : this.#asks.get(key);
      // Under a reworded question the same key means another ask, and the record does not say which was settled.
      if (key === undefined || ask === undefined || this.#deployed) continue;
      const before = this.#executions();
      const inputResponses = { [key]: opposite(ask) };
      const call = { requestState: question.requestState, inputResponses };
      const [reply] = await this.#fleet.send([this.#sending(call)]);
      this.transcript.push(`contradicts ${key}: ${told(reply)}`);
      // The network, or whoever had it, lost it: that says nothing.
      if (reply?.kind === "lost") return [];
      if (reply?.kind !== "error" || reply.code !== "ANSWER_SETTLED") {
        throw new Violation(`a contradicting answer to "${key}" got ${told(reply)}`);
      }
      this.codes.push(reply.code);
      // A sweep may be going on with a run whose attempt died.
      const isAlone = status !== "running" && !this.#somethingElseRuns();
      if (isAlone && this.#executions() !== before) {
        throw new Violation(`a contradicting answer to "${key}" executed something`);
      }
      return [];
    }
    return [];
  }

  /** An older state with the answers that belong to it. */
  async #late(): Promise<readonly Reply[]> {
    if (this.history.length === 0) return [];
    const question = this.#draw.pick(this.history);
    return [
      await this.#one(
        this.#answered(question),
        `late answers to round ${question.round}`,
        this.#fault(50),
      ),
    ];
  }

  async #parallel(): Promise<readonly Reply[]> {
    const question = this.#question;
    if (question === undefined && !this.#keyed) return [];
    const count = 2 + this.#draw.below(2);
    const sendings: Sending[] = Array.from({ length: count }, (_, index) => ({
      ...this.#sending(question === undefined ? this.#firstCall : this.#answered(question)),
      fault: index === 0 ? this.#fault(75) : undefined,
    }));
    const replies = await this.#fleet.send(sendings);
    const fault = sendings[0]?.fault;
    this.transcript.push(`${count} at once${toldFault(fault)}: ${replies.map(told).join(" | ")}`);
    return replies;
  }

  #troubledCall(): Call {
    const question = this.#question;
    if (question === undefined) return this.#firstCall;
    const draw = this.#draw;
    const answers = new Map<string, JsonValue>();
    for (const key of question.keys) {
      const roll = draw.below(100);
      if (roll < 55) answers.set(key, this.#answerTo(key));
      else if (roll < 75) {
        this.#differed = true;
        answers.set(
          key,
          draw.pick<JsonValue>([
            {},
            17,
            null,
            { action: "maybe" },
            { action: "accept", content: {} },
          ]),
        );
      }
    }
    if (draw.chance(20))
      answers.set("nobody asked", { action: "accept", content: { confirm: true } });
    return {
      requestState: question.requestState,
      inputResponses: Object.fromEntries(answers),
    };
  }

  #fault(percent: number): Fault | undefined {
    const draw = this.#draw;
    if (!draw.chance(percent)) return undefined;
    const does = draw.pick(this.#fleet.faults);
    return {
      does,
      at: 1 + draw.below(draw.pick([3, 6, 12])),
      when: draw.pick(["before", "after"]),
    };
  }

  async #one(call: Call, what: string, fault?: Fault): Promise<Reply> {
    const [reply] = await this.#fleet.send([this.#sending(call, fault)]);
    if (reply === undefined) throw new Error("one request has one reply");
    this.transcript.push(`${what}${toldFault(fault)}: ${told(reply)}`);
    return reply;
  }

  #sending(call: Call, fault?: Fault): Sending {
    return { call, version: this.#version, fault, troubled: this.#trouble > 0 };
  }

  get #firstCall(): Call {
    return { requestState: undefined, inputResponses: undefined };
  }

  #answered(question: Question): Call {
    const answers = question.keys.map((key) => [key, this.#answerTo(key)] as const);
    return {
      requestState: question.requestState,
      inputResponses: Object.fromEntries(answers),
    };
  }

  #answerTo(key: string): JsonValue {
    const ask = this.#asks.get(key);
    if (ask === undefined) throw new Violation(`a question "${key}" that the program does not ask`);
    return ask.answer;
  }

  // What comes back ------------------------------------------------------------------------------------------------

  #judge(reply: Reply): void {
    switch (reply.kind) {
      case "lost":
      case "complete":
      case "cancelled":
        return;
      case "question":
        return this.#shown(reply);
      case "error":
        this.codes.push(reply.code);
        return this.#refused(reply.code, reply.data);
    }
  }

  #shown(reply: Extract<Reply, { kind: "question" }>): void {
    const { run, round } = readState(reply.requestState);
    const keys = Object.keys(reply.inputRequests);
    if (keys.length === 0) throw new Violation("a question without a question");
    const lives = livesBefore(this.#fleet.world.log, run, round);
    for (const key of keys) {
      const ask = this.#asks.get(key);
      const text = JSON.stringify(reply.inputRequests[key]);
      if (ask === undefined || !text.includes(`question ${ask.id}`)) {
        throw new Violation(`a question that the undisturbed run does not ask: ${key} ${text}`);
      }
      const asked = `${run} ${key} life ${lives}`;
      this.texts.set(asked, (this.texts.get(asked) ?? new Set()).add(text));
      if (!this.#deployed && (this.texts.get(asked)?.size ?? 0) > 1) {
        throw new Violation(
          `question "${key}" changed: ${[...(this.texts.get(asked) ?? [])].join(" / ")}`,
        );
      }
    }
    const question = { requestState: reply.requestState, keys, run, round };
    this.history.push(question);
    this.#question = question;
  }

  #refused(code: string, data: JsonObject): void {
    if (code === "ANSWER_SETTLED") this.#lookOnly = true;
    // Too late, and there was nothing to undo: a first call shows the question anew, or begins another run.
    if (code === "REQUEST_STATE_INVALID") this.#question = undefined;
    if (code === "JOURNAL_MISMATCH" && this.#deployed) this.#switchVersion();
    const { log } = this.#fleet.world;
    const did = { deployed: this.#deployed, differed: this.#differed };
    if (!isExplained(code, log, did)) {
      throw new Violation(`${code} for no reason: ${JSON.stringify(data)}`);
    }
  }

  #executions(): number {
    return this.#fleet.world.log.filter(({ is }) => is === "attempt" || is === "entered").length;
  }

  #somethingElseRuns(): boolean {
    return this.#fleet.world.log.some(
      ({ is }) => is === "gone" || is === "paused" || is === "storeFailed" || is === "network",
    );
  }
}
