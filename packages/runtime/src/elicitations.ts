/**
 * URL asks that a web page finishes (docs/design.md 2): the record in which the page and the waiting run meet.
 *
 * The lanes open it before the question leaves, the author's page completes it through `server.elicitations`, the ask waits for
 * it. It knows ids and persons, and nothing of runs.
 *
 * E1 The record is there before the client has the question, and lives as long as the question may be answered.
 * E2 The first completion stands; a later one changes nothing and is told so.
 * E3 An id that is unknown or over, and another person's, are one refusal: who asks learns nothing of ids.
 * E4 Who waits hears at once, or after `LOOK_AGAIN_MS` when the notice was lost.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonValue } from "@reprise/journal";
import type { Changes } from "./changes.ts";
import { type Clock, pause } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { PendingAsk } from "./runRecord.ts";
import type { SharedRecord, SharedRecords } from "./sharedRecords.ts";

/** What the page said when it was done. */
export interface PageData {
  readonly data?: JsonValue;
}

/** Who completes a URL ask, and with what. */
export interface Completion {
  /**
   * The person whom the page knows: `ctx.caller.person` of the one who was asked. With bearer tokens that is
   * `JSON.stringify([issuer, subject])`; `"anonymous"` without auth.
   */
  readonly principal: string;
  /** What the handler gets as `data`: JSON of at most 16 KB. Nothing secret: it is recorded with the run. */
  readonly data?: JsonValue;
}

/** What the author's web page calls when the person is done with it. */
export interface ElicitationCompleter {
  /**
   * Completes the URL ask of this id. The first completion counts: true for that one, false for every later one.
   * @throws RepriseError ELICITATION_REFUSED for an id that is unknown or over, or another person's; STORE_UNAVAILABLE.
   *   TypeError or RangeError naming the option
   */
  complete(id: string, completion: Completion): Promise<boolean>;
}

interface Opened {
  readonly person: string;
  readonly expiresAt: number;
  readonly page?: PageData;
}

const KIND = "elicitation";
const MAX_DATA_BYTES = 16 * 1024;
const LOOK_AGAIN_MS = 1_000;
/** So many conflicts in a row are an overload. */
const MAX_TRIES = 16;
const ids = /^[A-Za-z0-9_-]{22,64}$/;

/** The URL asks of one runtime. */
export class Elicitations implements ElicitationCompleter {
  readonly #shared: SharedRecords;
  readonly #changes: Changes;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(shared: SharedRecords, changes: Changes, clock: Clock, log: Logger) {
    this.#shared = shared;
    this.#changes = changes;
    this.#clock = clock;
    this.#log = log;
  }

  /** Makes the records of questions that are about to be sent, or lets them live longer (E1). */
  async open(pending: readonly PendingAsk[], person: string, expiresAt: number): Promise<void> {
    await Promise.all(
      pending.map(async ({ elicitation }) => {
        if (elicitation?.completable === true) await this.#open(elicitation.id, person, expiresAt);
      }),
    );
  }

  async complete(id: string, completion: Completion): Promise<boolean> {
    const { principal } = completion;
    if (typeof principal !== "string" || principal === "") {
      throw new TypeError("principal must be the person's text, as ctx.caller.person has it");
    }
    const page = pageDataOf(completion);
    const isFirst = await this.#change(id, (opened) => {
      if (opened?.person !== principal) {
        const cause = opened === undefined ? "unknown or over" : "another person's";
        const event = "elicitation_refused";
        this.#log.warn({ event, cause, principal }, "the completion of a URL ask was refused");
        throw new RepriseError("ELICITATION_REFUSED", "no open URL ask of yours has this id");
      }
      return opened.page === undefined ? { ...opened, page } : undefined;
    });
    if (isFirst) await this.#changes.hint({ kind: "elicitationCompleted", id });
    return isFirst;
  }

  /** What the page said; undefined when it is not done after `waitMs`, or `signal` aborts. */
  async completed(id: string, waitMs: number, signal: AbortSignal): Promise<PageData | undefined> {
    const until = this.#clock.monotonic() + waitMs;
    for (;;) {
      const told = new AbortController();
      const wake = (): void => told.abort();
      const stopListening = this.#changes.onChange((change) => {
        if (change.kind === "elicitationCompleted" && change.id === id) wake();
      });
      signal.addEventListener("abort", wake);
      try {
        const page = await this.#page(id);
        const left = until - this.#clock.monotonic();
        if (page !== undefined || left <= 0 || signal.aborted) return page;
        await pause(this.#clock, Math.min(left, LOOK_AGAIN_MS), told.signal);
      } finally {
        stopListening();
        signal.removeEventListener("abort", wake);
      }
    }
  }

  /** A store that is away is no reason to give up: the person would be asked for nothing. */
  async #page(id: string): Promise<PageData | undefined> {
    try {
      return openedOf(await this.#shared.get({ kind: KIND, id }))?.page;
    } catch (error) {
      this.#log.warn({ err: error }, "whether a URL ask is completed could not be looked up");
      return undefined;
    }
  }

  async #open(id: string, person: string, expiresAt: number): Promise<void> {
    await this.#change(id, (opened) => {
      if (opened === undefined) return { person, expiresAt };
      return opened.expiresAt < expiresAt ? { ...opened, expiresAt } : undefined;
    });
  }

  /** False when there was nothing to change. */
  async #change(
    id: string,
    decide: (opened: Opened | undefined) => Opened | undefined,
  ): Promise<boolean> {
    // What no id can be leads to nothing.
    const key = typeof id === "string" && ids.test(id) ? { kind: KIND, id } : undefined;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = key && (await this.#shared.get(key));
      const next = decide(openedOf(record));
      if (next === undefined || key === undefined) return false;
      const value = { ...next } as unknown as JsonValue;
      const revision = await this.#shared.put(key, value, record?.revision, next.expiresAt);
      if (revision !== undefined) return true;
    }
    throw new RepriseError("STORE_UNAVAILABLE", "a URL ask changed too often at the same time", {
      data: { retryAfterMs: 1000 },
    });
  }
}

function openedOf(record: SharedRecord | undefined): Opened | undefined {
  if (record === undefined || !isJsonObject(record.value)) return undefined;
  const { person, expiresAt, page } = record.value;
  if (typeof person !== "string" || typeof expiresAt !== "number") return undefined;
  return isJsonObject(page) ? { person, expiresAt, page } : { person, expiresAt };
}

function pageDataOf({ data }: Completion): PageData {
  if (data === undefined) return {};
  const text: string | undefined = JSON.stringify(data);
  if (text === undefined) throw new TypeError("data must be JSON");
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_DATA_BYTES) {
    throw new RangeError(`data has ${bytes} bytes as JSON; give at most ${MAX_DATA_BYTES}`);
  }
  return { data: JSON.parse(text) as JsonValue };
}
