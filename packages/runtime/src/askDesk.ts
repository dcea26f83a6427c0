/**
 * The questions of one attempt: which answer belongs to which, what is sent, and what is refused.
 *
 * Q1 An answer is used only for the exact question that it was given to (docs/design.md 3.5).
 * Q2 A question whose capability the client did not declare ends the attempt before anything of that round is sent (8.3).
 * Q3 A question that changes twice in a row under one key, without a deploy, is an error: the person would be asked for ever.
 * Q4 A page that is not completed is asked for again under the same digest, at most MAX_UNFINISHED times.
 */
import { RepriseError } from "@reprise/errors";
import type { AnswerTaken } from "@reprise/journal";
import { missingCapabilities } from "@reprise/protocol";
import { type Ask, type AskedPage, isDeclined, stillWaiting } from "./asks.ts";
import type { AttemptStart } from "./attemptStart.ts";
import { askDigest } from "./digest.ts";
import type { Elicitations, PageData } from "./elicitations.ts";
import type { BroughtAnswer, PendingAsk } from "./runRecord.ts";

/** What the desk tells the attempt. */
export interface AskDeskEvents {
  /** The client can't be asked this: the attempt ends. */
  lacks(error: RepriseError): void;
  /** The first question passed the capability check. */
  readonly checked: (() => void) | undefined;
  /** What the page of a URL ask said. */
  readonly completed: Elicitations["completed"];
  /** An answer was taken now. @param askedAt when its question was first sent, where that is known */
  took(ask: Ask<unknown>, entry: AnswerTaken, askedAt: number | undefined): void;
  now(): number;
}

/** How many times a URL ask that was accepted and not completed is asked again. */
const MAX_UNFINISHED = 5;

/** One attempt's desk. */
export class AskDesk {
  #start: AttemptStart;
  readonly #events: AskDeskEvents;
  /** Keys of URL asks that were accepted in this attempt, and whose pages are not completed. */
  #unfinished: Set<string> | undefined;
  #refusalTaken = false;
  #hasAsked = false;

  constructor(start: AttemptStart, events: AskDeskEvents) {
    this.#start = start;
    this.#events = events;
  }

  /** The next round of a handler that rested. */
  goOn(start: AttemptStart): void {
    this.#start = start;
    this.#hasAsked = false;
    this.#unfinished = undefined;
  }

  /** Whether the handler received a refusal: a declined, cancelled or negative answer. */
  get refusalTaken(): boolean {
    return this.#refusalTaken;
  }

  /** The answer that the request brought for this very question. */
  answerTo(ask: Ask<unknown>): BroughtAnswer | undefined {
    const pending = this.#pendingOf(ask.key);
    const brought = Object.hasOwn(this.#start.brought, ask.key)
      ? this.#start.brought[ask.key]
      : undefined;
    if (pending !== undefined) return pending.question === ask.question ? brought : undefined;
    if (brought !== undefined) return brought.question === ask.question ? brought : undefined;
    // A yes that nobody was asked for must not count (docs/design.md 3.8).
    if (ask.kind === "confirm" || ask.kind === "elicitUrl") return undefined;
    return Object.hasOwn(this.#start.unasked, ask.key) ? this.#start.unasked[ask.key] : undefined;
  }

  /** The question will be sent. Returns the error that the handler gets instead, if there is one. */
  open(ask: Ask<unknown>): RepriseError | undefined {
    const unstable = this.#instabilityOf(ask);
    if (unstable !== undefined) return unstable;
    const required = missingCapabilities(ask.wire, this.#start.capabilities);
    if (required !== undefined) {
      const message = "the client did not declare a capability that this question needs";
      this.#events.lacks(
        new RepriseError("MISSING_CAPABILITY", message, {
          data: { requiredCapabilities: required },
        }),
      );
    } else if (!this.#hasAsked) {
      this.#hasAsked = true;
      this.#events.checked?.();
    }
    return undefined;
  }

  /** Digest of key and question. */
  askedAs(ask: Ask<unknown>): string {
    return askDigest(ask.key, ask.question);
  }

  /** An answer is taken now. */
  took(ask: Ask<unknown>, entry: AnswerTaken): void {
    const pending = this.#pendingOf(ask.key);
    this.#events.took(ask, entry, pending?.askedAt);
  }

  /** An answer was taken, now or on an earlier attempt. */
  taken(ask: Ask<unknown>, { answer, error }: Pick<AnswerTaken, "answer" | "error">): void {
    const refuses = error === undefined ? ask.refused(answer) : isDeclined(ask, error);
    if (refuses) this.#refusalTaken = true;
  }

  /** What the page said; undefined when it is not completed after its `waitMs`, or `signal` aborts. Never rejects. */
  pageOf({ id, waitMs }: AskedPage, signal: AbortSignal): Promise<PageData | undefined> {
    return this.#events.completed(id, waitMs, signal);
  }

  /** A page was not completed in time: true when its question is to be asked again (Q4). */
  isToBeAskedAgain(ask: Ask<unknown>): boolean {
    if (this.#unfinishedOf(ask) >= MAX_UNFINISHED) return false;
    this.#unfinished ??= new Set();
    this.#unfinished.add(ask.key);
    return true;
  }

  /** The question as it is recorded while it is open. */
  pendingAsk(ask: Ask<unknown>): PendingAsk {
    const { key, question, page, text, kind } = ask;
    const unfinished = this.#unfinishedOf(ask) + (this.#unfinished?.has(key) === true ? 1 : 0);
    return {
      key,
      question,
      asked: this.askedAs(ask),
      wire: unfinished === 0 ? ask.wire : stillWaiting(ask.wire),
      text,
      changes: this.#changesOf(ask),
      unfinished,
      kind,
      askedAt: this.#askedAtOf(ask),
      ...(page && { elicitation: { id: page.id, completable: page.completable } }),
    };
  }

  /** In earlier rounds, of this very question. */
  #unfinishedOf(ask: Ask<unknown>): number {
    const before = this.#pendingOf(ask.key);
    // A sealed state leaves out what is 0.
    return before?.question === ask.question ? (before.unfinished ?? 0) : 0;
  }

  /** Asked again, a question is as old as it was. */
  #askedAtOf(ask: Ask<unknown>): number {
    const before = this.#pendingOf(ask.key);
    const isSame = before?.question === ask.question;
    return (isSame ? before.askedAt : undefined) ?? this.#events.now();
  }

  #pendingOf(key: string): PendingAsk | undefined {
    return this.#start.pending.find((ask) => ask.key === key);
  }

  /** How many times in a row the question has changed, this time included; the same question again ends the row. */
  #changesOf(ask: Ask<unknown>): number {
    const before = this.#pendingOf(ask.key);
    if (before === undefined || before.question === ask.question) return 0;
    return this.#start.version === this.#start.recordedVersion ? before.changes + 1 : 0;
  }

  #instabilityOf(ask: Ask<unknown>): RepriseError | undefined {
    const before = this.#pendingOf(ask.key);
    if (before === undefined || this.#changesOf(ask) < 2) return undefined;
    const was = JSON.stringify(before.text);
    const is = JSON.stringify(ask.text);
    return new RepriseError(
      "ASK_UNSTABLE",
      `the question "${ask.key}" changed twice in a row: it was ${was} and is now ${is}; ask the same question on every attempt, or give each its own key`,
      { data: { key: ask.key, before: before.text, now: ask.text } },
    );
  }
}
