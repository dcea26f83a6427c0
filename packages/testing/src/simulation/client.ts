/**
 * A client that answers a program's questions, with everything that clients and networks do wrong, and the judge of each reply.
 *
 * It begins with a budget of trouble; when that is spent it only does what a polite client would, and then the run must come
 * to its end within a few requests.
 */
import type { JsonObject } from "@reprise/journal";
import { Answers } from "./answers.ts";
import type { Call, Fault, Reply } from "./calls.ts";
import { isExplained } from "./explained.ts";
import type { Fleet, Sending } from "./fleet.ts";
import { Pages, type Visit } from "./pages.ts";
import type { Program } from "./program.ts";
import { type Question, Questions } from "./questions.ts";
import type { Draw } from "./random.ts";
import { opposite, told, toldFault, twoResults } from "./replies.ts";
import { Violation } from "./violation.ts";

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
const nothing = { requestState: undefined, inputResponses: undefined };
const LEASE_MS = 10_000;

/** One client and its run. */
export class Client {
  /** What it did and got, for a person. */
  readonly transcript: string[] = [];
  readonly codes: string[] = [];
  readonly pages: Pages;
  readonly #questions: Questions;
  readonly #fleet: Fleet;
  readonly #draw: Draw;
  readonly #keyed: boolean;
  readonly #answers: Answers;
  readonly #isRepeatable: boolean;
  readonly #firstCall: Call;
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
    this.pages = new Pages(draw, programs);
    this.#answers = new Answers(programs);
    this.#questions = new Questions(fleet, this.#answers, this.pages);
    this.#isRepeatable = programs[0]?.repeatable === true;
    const unasked = this.#isRepeatable && draw.chance(40) ? this.#answers.unasked() : undefined;
    this.#firstCall = { requestState: undefined, inputResponses: unasked };
  }

  /** Every question that was shown, in order. */
  get history(): readonly Question[] {
    return this.#questions.history;
  }

  /** Sends and answers until the run has ended. */
  async converse(): Promise<Ending> {
    for (let move = 0; move < MAX_MOVES; move += 1) {
      const mayLeave = this.#answerWithinMs !== undefined && this.#question !== undefined;
      if (mayLeave && this.#draw.chance(12)) return { kind: "left" };
      const isFirst = this.#question === undefined;
      await this.#visitPages();
      const replies = await this.#move();
      for (const reply of replies) this.#judge(reply);
      this.pages.judge(this.#fleet.world.log);
      // Of what may repeat each attempt reads for itself.
      const differ = this.#isRepeatable ? undefined : twoResults(replies, isFirst);
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
      replies.push(await this.#one(this.#answers.to(question), `round ${question.round} again`));
    }
    return replies;
  }

  /** A retry of the newest question, for a place that does not know the run, or knows it as it was. */
  get newestRetry(): { readonly call: Call; readonly question: Question } | undefined {
    const question = this.history.at(-1);
    return question && { call: this.#answers.to(question), question };
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
    if (roll < 68 && !this.#isRepeatable) return this.#cancel();
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
    return this.#one(
      this.#answers.to(question),
      `answers to round ${question.round}`,
      undefined,
      true,
    );
  }

  /** The person goes to the pages that the newest question leads to, or does not yet. */
  async #visitPages(isLast = false): Promise<void> {
    const question = this.#question;
    if (question === undefined) return;
    const visit: Visit = (completes) =>
      this.#one({ ...nothing, completes }, `${completes.person} completes a page`, this.#fault(20));
    await this.pages.before(question.run, new Set(question.keys), visit, isLast);
  }

  /** What a polite client sends, to an instance that will not live to answer it. */
  #killed(): Promise<Reply> {
    const question = this.#question;
    const at = 1 + this.#draw.below(6);
    const fault: Fault = { does: "crash", at, when: this.#draw.pick(["before", "after"]) };
    const call = question === undefined ? this.#firstCall : this.#answers.to(question);
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
    if (this.#isRepeatable) return this.#contradictSealed();
    const record = this.#question && (await this.#fleet.peek(this.#question.run));
    if (record === undefined) return [];
    const { settled, brought, status } = record.head;
    // Taken, or brought by the attempt that has the run or died with it.
    const stands = (key: string): boolean =>
      Object.hasOwn(settled, key) ||
      // What nobody has taken is dropped with an interrupted attempt, and that may be before this arrives; as is the accept of
      // a page that is not completed, with any attempt.
      (status === "running" &&
        Object.hasOwn(brought, key) &&
        this.#answers.ask(key)?.kind !== "elicitUrl" &&
        !this.#somethingElseRuns());
    for (const question of [...this.history].reverse()) {
      if (question.run !== record.origin.runId) continue;
      const key = question.keys.find(stands);
      const ask = key === undefined ? undefined : this.#answers.ask(key);
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

  /** The newest state with other answers to what is sealed in it: they change nothing. */
  async #contradictSealed(): Promise<readonly Reply[]> {
    const question = this.#question;
    const sealed = question && this.#fleet.stateIn?.(question.requestState);
    if (question === undefined || sealed === undefined || this.#deployed) return [];
    const call = this.#answers.contradictingSealed(question, sealed);
    const what = `contradicts what is sealed: ${JSON.stringify(call.inputResponses)}`;
    return [await this.#one(call, what, this.#fault(40))];
  }

  /** An older state with the answers that belong to it. */
  async #late(): Promise<readonly Reply[]> {
    if (this.history.length === 0) return [];
    const question = this.#draw.pick(this.history);
    return [
      await this.#one(
        this.#answers.to(question),
        `late answers to round ${question.round}`,
        this.#fault(50),
      ),
    ];
  }

  async #parallel(): Promise<readonly Reply[]> {
    const question = this.#question;
    if (question === undefined && !this.#keyed) return [];
    await this.#visitPages(true);
    const count = 2 + this.#draw.below(2);
    const sendings: Sending[] = Array.from({ length: count }, (_, index) => ({
      ...this.#sending(question === undefined ? this.#firstCall : this.#answers.to(question)),
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
    const { call, differed } = this.#answers.troubled(question, this.#draw);
    this.#differed ||= differed;
    return call;
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

  /** @param beside whether pages may be completed at the same time */
  async #one(call: Call, what: string, fault?: Fault, beside = false): Promise<Reply> {
    const question = this.#questionOf(call);
    const visits =
      beside && question !== undefined
        ? this.pages.beside(question.run, new Set(question.keys))
        : [];
    const sendings = [call, ...visits.map((completes) => ({ ...nothing, completes }))];
    const [reply, ...visited] = await this.#fleet.send(
      sendings.map((one, place) => this.#sending(one, place === 0 ? fault : undefined)),
    );
    if (reply === undefined) throw new Error("one request has one reply");
    visits.forEach((completes, place) => {
      this.transcript.push(`a page is completed meanwhile: ${told(visited[place])}`);
      this.pages.tookBeside(completes, visited[place] ?? { kind: "lost" });
    });
    this.transcript.push(`${what}${toldFault(fault)}: ${told(reply)}`);
    return reply;
  }

  #questionOf({ requestState }: Call): Question | undefined {
    return this.history.find((one) => one.requestState === requestState);
  }

  #sending(call: Call, fault?: Fault): Sending {
    const question = this.#questionOf(call);
    if (question !== undefined) this.pages.answers(question.run, call);
    return { call, version: this.#version, fault, troubled: this.#trouble > 0 };
  }

  // What comes back ------------------------------------------------------------------------------------------------

  #judge(reply: Reply): void {
    switch (reply.kind) {
      case "lost":
      case "complete":
      case "cancelled":
      case "completed":
        return;
      case "question":
        this.#question = this.#questions.shown(reply, this.#deployed || this.#isRepeatable);
        return;
      case "error":
        this.codes.push(reply.code);
        return this.#refused(reply.code, reply.data);
    }
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
