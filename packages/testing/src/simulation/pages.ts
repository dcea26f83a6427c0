/**
 * The web pages of a case's URL asks: the person who completes them before, while or after the client says that they are done,
 * strangers who try, and the judgement of what handlers were given.
 *
 * Called by the client around each of its moves.
 *
 * U1 A completion by another person is refused, whatever became of the page.
 * U2 The first completion stands: a later one is told so.
 * U3 A handler is told that a page is not completed only behind 6 accepts. One that comes with an older state counts as well
 *    (docs/design.md 3.6), and so does one that a network doubled.
 * U4 An accept waits no longer than the ask says, and what a store's call and a paused process take; where a changed handler was
 *    deployed, once more for each read it may no longer ask for where it was recorded (docs/design.md 3.2: `replayStallMs`).
 */
import type { JsonObject } from "@reprise/journal";
import type { Call, Completes, Reply } from "./calls.ts";
import { type AskNode, nodesWith, type Program } from "./program.ts";
import type { Draw } from "./random.ts";
import { Violation } from "./violation.ts";
import type { Happening } from "./world.ts";

/** Sends one completion and gives its reply. */
export type Visit = (completes: Completes) => Promise<Reply>;

/** Behind so many accepts in vain a person completes the page before the next one: doubled, they are not enough to give up. */
const MOST_IN_VAIN = 2;
/** Asked for the first time, and 5 times again. */
const LEAST_ACCEPTS = 6;
const MOST_TRIES = 30;
/** A look each second, the calls of the store, and the wait of a process for its lease. */
const SLACK_MS = 15_000;
/** The engine's default `replayStallMs`: then a read that nobody asks for is passed over. */
const STALL_MS = 30_000;
const owner = "anonymous";
const stranger = "mallory";

interface Page {
  readonly ask: AskNode;
  readonly id: string;
  readonly run: string;
  /** How often an accept was sent. */
  accepts: number;
  isCompleted: boolean;
}

/** The pages of one conversation. */
export class Pages {
  readonly #draw: Draw;
  readonly #pages = new Map<string, Page>();
  readonly #mostStallsMs: number;
  #judged = 0;

  /** @param programs the handler, and those that are deployed in its place */
  constructor(draw: Draw, programs: readonly Program[]) {
    const [first, ...changed] = programs;
    const reads = first === undefined || changed.length === 0 ? [] : nodesWith(first, "read");
    this.#draw = draw;
    this.#mostStallsMs = reads.length * STALL_MS;
  }

  /** How many are completed, as their person knows. */
  get completed(): number {
    return [...this.#pages.values()].filter(({ isCompleted }) => isCompleted).length;
  }

  /** A question was shown. */
  shown(ask: AskNode, run: string, request: JsonObject | undefined): void {
    const id = idIn(request);
    if (id === undefined || this.#pages.has(id)) return;
    this.#pages.set(id, { ask, id, run, accepts: 0, isCompleted: false });
  }

  /**
   * What is done at pages before a question is answered.
   * @param isLast whether the person must be through with them now
   */
  async before(
    run: string,
    keys: ReadonlySet<string>,
    visit: Visit,
    isLast = false,
  ): Promise<void> {
    for (const page of this.#asked(run, keys)) {
      if (this.#draw.chance(15)) await this.#tryAsStranger(page, visit);
      if (page.ask.page !== "completes") continue;
      if (page.isCompleted) {
        if (this.#draw.chance(10)) await this.#completeAgain(page, visit);
      } else if (isLast || page.accepts >= MOST_IN_VAIN) await this.#insist(page, visit);
      else if (this.#draw.chance(35)) this.#took(page, await visit(completionOf(page)));
    }
  }

  /** Completions that go at the same time as the answers. */
  beside(run: string, keys: ReadonlySet<string>): readonly Completes[] {
    return this.#asked(run, keys)
      .filter(({ ask, isCompleted }) => ask.page === "completes" && !isCompleted)
      .filter(() => this.#draw.chance(30))
      .map(completionOf);
  }

  /** What a completion that went beside answers came to. */
  tookBeside({ id }: Completes, reply: Reply): void {
    const page = this.#pages.get(id);
    if (page !== undefined) this.#took(page, reply);
  }

  /** A request with answers is on its way. */
  answers(run: string, { inputResponses }: Call): void {
    if (typeof inputResponses !== "object" || inputResponses === null) return;
    for (const page of this.#asked(run, new Set(Object.keys(inputResponses)))) {
      if (page.ask.value !== "no") page.accepts += 1;
    }
  }

  /** @throws Violation for U3 and U4 */
  judge(log: readonly Happening[]): void {
    for (; this.#judged < log.length; this.#judged += 1) {
      const one = log[this.#judged];
      if (one?.is !== "gotPage") continue;
      const page = [...this.#pages.values()].find(
        ({ run, ask }) => run === one.run && ask.id === one.ask,
      );
      const { accepts = 0, ask } = page ?? {};
      const doubled = log.filter(({ is }) => is === "network").length;
      if (!one.completed && accepts + doubled < LEAST_ACCEPTS) {
        throw new Violation(`page ${one.ask} was given up after ${accepts} accepts`);
      }
      const mostMs = (ask?.waitMs ?? 0) + one.stoodStillMs + SLACK_MS + this.#mostStallsMs;
      if (one.tookMs > mostMs) {
        throw new Violation(`page ${one.ask} was waited for ${one.tookMs} ms`);
      }
    }
  }

  #asked(run: string, keys: ReadonlySet<string>): readonly Page[] {
    return [...this.#pages.values()].filter(
      (page) => page.run === run && keys.has(page.ask.key ?? page.ask.kind),
    );
  }

  async #tryAsStranger(page: Page, visit: Visit): Promise<void> {
    const reply = await visit({ ...completionOf(page), person: stranger });
    if (reply.kind === "completed" && reply.how !== "refused") {
      throw new Violation(`page ${page.ask.id} was completed by somebody else: ${reply.how}`);
    }
  }

  async #completeAgain(page: Page, visit: Visit): Promise<void> {
    const reply = await visit({ ...completionOf(page), data: "something else" });
    if (reply.kind === "completed" && reply.how !== "again") {
      throw new Violation(`page ${page.ask.id} is completed, and a later completion: ${reply.how}`);
    }
  }

  async #insist(page: Page, visit: Visit): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES && !page.isCompleted; tries += 1) {
      this.#took(page, await visit(completionOf(page)));
    }
    if (!page.isCompleted) throw new Violation(`page ${page.ask.id} can't be completed`);
  }

  #took(page: Page, reply: Reply): void {
    if (reply.kind !== "completed") return;
    if (reply.how === "refused") {
      throw new Violation(`page ${page.ask.id} is asked for, and its completion was refused`);
    }
    page.isCompleted = true;
  }
}

function completionOf({ id, ask }: Page): Completes {
  return { id, person: owner, data: ask.id };
}

/** Of a page that can be completed: its address ends in the id. */
function idIn(request: JsonObject | undefined): string | undefined {
  const { url } = (request?.["params"] ?? {}) as { readonly url?: string };
  return url === undefined ? undefined : new URL(url).pathname.split("/")[2];
}
