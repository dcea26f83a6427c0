/**
 * A call's events: written to the shared log first, then to the client's stream.
 *
 * The driver pushes; streams attach. Nothing here knows what a message means but whether it is the last.
 *
 * G1 One writer at a time, in the order of the pushes; an event goes to the client only with the number it has in the log.
 * G2 A stream that attaches gets everything after the event it names, then what comes, without a gap or a repeat.
 * G3 When the store can't be reached, events go to the open stream without an id. Without one they wait until the store is there again:
 *    the client reads on elsewhere, or is on its way back. A front that stops leaves them: whoever takes the call over has the run say
 *    them again.
 * G4 After the response, the end of a cancelled call or that of the hold on it, every stream is closed.
 * G5 What waits for a slow store is bounded: above `maxWaiting` notices (progress, log messages) are dropped and never
 *    anything else; questions are bounded by the caller's limits, and there is one response.
 */
import { type LegacyRevision, rulesOf } from "@reprise/protocol";
import { type Clock, pause, type SharedRecords } from "@reprise/runtime";
import { eventIdOf } from "./callId.ts";
import { callKey, type Gap } from "./callRecord.ts";
import type { EventSink } from "./eventStream.ts";
import type { LegacyConfig } from "./options.ts";

/** What an item of the log is: the stream's opening, a message, the response, the end without one. */
export type Mark = "opened" | "message" | "response" | "ended";

const letters: Readonly<Record<Mark, string>> = {
  opened: "o",
  message: "m",
  response: "r",
  ended: "e",
};
const marks = new Map(Object.entries(letters).map(([mark, letter]) => [letter, mark as Mark]));

/** Items kept: what a client that was away for a moment can have missed. */
const keptItems = 256;
/** Items read at once. */
const pageSize = 64;
/**
 * How much text may wait for the store before notices are dropped, in characters: half of what may wait for a slow client, so
 * that what comes at once when the store is there again cuts nobody off.
 */
const maxWaiting = 512 * 1024;
/** Between two tries to write what must not be lost, in milliseconds. */
const tryAgainMs = 1_000;
/** How long a log outlives its last item or extension. */
export const logLifeMs: number = 60 * 60 * 1000;

/** An item, read. */
export interface LoggedEvent {
  readonly number: number;
  readonly mark: Mark;
  readonly text: string;
}

/** What a reading came to. */
export interface Reading {
  /** Number of the newest item, 0 when there is no log. */
  readonly last: number;
  /** Undefined: nothing was missed. */
  readonly gap: Gap | undefined;
}

/** What whoever takes a call over has read from its log. */
export interface LoggedCall {
  /** The questions that are in it, with their events' numbers. */
  readonly sent: ReadonlyMap<string, number>;
  /** The last progress that was sent. */
  readonly progress: number | undefined;
}

interface PushedEvent {
  readonly mark: Mark;
  readonly text: string;
  readonly numbered: ((number: number | undefined) => void) | undefined;
}

type Step = PushedEvent | { readonly sink: EventSink; readonly after: number };

/** What logs need of the lane. */
export interface LogPorts {
  readonly shared: SharedRecords;
  readonly clock: Clock;
  readonly presence: { readonly isClosed: boolean };
  readonly failed: (error: unknown) => void;
}

/** Writes one call's events. */
export class CallLog {
  /** Told when something was written. */
  written: (() => void) | undefined;
  /** Told when a stream that attached has everything that is kept, and of what is not. */
  readOn: ((gap: Gap | undefined) => void) | undefined;
  /** Whether an event was neither written nor sent. */
  hasLost = false;
  readonly #callId: string;
  readonly #revision: LegacyRevision;
  readonly #ports: LogPorts;
  #sink: EventSink | undefined;
  #steps: Step[] = [];
  #pumping: Promise<void> | undefined;
  #held = true;
  #isClosed = false;
  #waiting = 0;
  #hasDropped = false;
  /** Number of the newest event that is known to be in the log. */
  #last: number | undefined;

  constructor(callId: string, revision: LegacyRevision, ports: LogPorts) {
    this.#callId = callId;
    this.#revision = revision;
    this.#ports = ports;
  }

  /** The stream that gets the events. */
  get sink(): EventSink | undefined {
    return this.#sink?.isOpen === true ? this.#sink : undefined;
  }

  /** Lets events out: the call's record is there. */
  release(): void {
    this.#held = false;
    this.#pump();
  }

  /** `numbered` is told the number that the event has in the log; undefined: the log could not be reached (G3). */
  push(mark: Mark, text = "", numbered?: (number: number | undefined) => void): void {
    this.#waiting += text.length;
    this.#steps.push({ mark, text, numbered });
    this.#pump();
  }

  /** Pushes a message that its client can do without (G5). */
  notice(text: string): void {
    if (this.#waiting + text.length <= maxWaiting) return this.push("message", text);
    if (this.#hasDropped) return;
    this.#hasDropped = true;
    const why = `${maxWaiting} characters of call ${this.#callId} wait for the store: progress and log messages are dropped`;
    this.#ports.failed(new Error(why));
  }

  /** Sends what comes to a stream from the start, without reading the log first. */
  begin(sink: EventSink): void {
    this.#sink = sink;
  }

  /** Sends everything after an event to a stream, in place of the one before. */
  attach(sink: EventSink, after: number): void {
    this.#steps.push({ sink, after });
    this.#pump();
  }

  /** Ends the stream; the events go on into the log. */
  detach(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
  }

  /** Ends the stream, and any that is about to attach: its call is no longer this front's. */
  close(): void {
    this.#isClosed = true;
    this.detach();
  }

  /** Resolves when everything that was pushed is written. */
  async flushed(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping;
  }

  /** Keeps the log alive for a call that has nothing to say. */
  extend(): void {
    this.#append([]).catch(this.#ports.failed);
  }

  #pump(): void {
    if (this.#held || this.#pumping !== undefined || this.#steps.length === 0) return;
    this.#pumping = this.#write().finally(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  async #write(): Promise<void> {
    const steps = this.#steps;
    this.#steps = [];
    let events: PushedEvent[] = [];
    for (const step of steps) {
      if ("mark" in step) {
        events.push(step);
        continue;
      }
      await this.#writeEvents(events);
      events = [];
      await this.#readOn(step.sink, step.after);
    }
    await this.#writeEvents(events);
  }

  async #writeEvents(events: readonly PushedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const first = await this.#stored(events.map(({ mark, text }) => `${letters[mark]}${text}`));
    if (first === undefined && this.sink === undefined) this.hasLost = true;
    events.forEach(({ mark, text, numbered }, place) => {
      const number = first === undefined ? undefined : first + place;
      this.#waiting -= text.length;
      numbered?.(number);
      if (this.#sink !== undefined) this.#send(this.#sink, number, mark, text);
    });
    this.written?.();
  }

  /** Writes items; the number of the first. Undefined: the store can't be reached, and there is a stream, or nobody to wait for (G3). */
  async #stored(items: readonly string[]): Promise<number | undefined> {
    const { clock, presence, failed } = this.#ports;
    let hasFailed = false;
    for (;;) {
      try {
        // The write before may have arrived, and only its reply been lost: nobody else writes here (G1).
        const newest = hasFailed ? await this.#newerThan(this.#last) : undefined;
        const last = newest ?? (await this.#append(items));
        this.#last = last;
        return last - items.length + 1;
      } catch (error) {
        if (!hasFailed) failed(error);
        hasFailed = true;
      }
      if (this.sink !== undefined || this.#isClosed || presence.isClosed) return undefined;
      await pause(clock, tryAgainMs);
    }
  }

  /** Number of the newest event, if there is one after that; undefined also where nothing is known. */
  async #newerThan(known: number | undefined): Promise<number | undefined> {
    if (known === undefined) return undefined;
    const { last } = await this.#ports.shared.read(callKey(this.#callId), known, 1);
    return last > known ? last : undefined;
  }

  #append(items: readonly string[]): Promise<number> {
    const { shared, clock } = this.#ports;
    const limits = { expiresAt: clock.now() + logLifeMs, keep: keptItems };
    return shared.append(callKey(this.#callId), items, limits);
  }

  async #readOn(sink: EventSink, after: number): Promise<void> {
    if (this.#sink !== sink) this.detach();
    primeAgain(sink, this.#callId, this.#revision, after);
    let gap: Gap | undefined;
    try {
      ({ gap } = await readEvents(this.#ports.shared, this.#callId, after, (event) => {
        this.#send(sink, event.number, event.mark, event.text);
      }));
    } catch (error) {
      this.#ports.failed(error);
      sink.end();
      return;
    }
    if (this.#isClosed) return sink.end();
    this.#sink = sink;
    this.readOn?.(gap);
  }

  #send(sink: EventSink, number: number | undefined, mark: Mark, text: string): void {
    sendEvent(sink, this.#callId, this.#revision, number, mark, text);
  }
}

/** Sends one event of a call, and closes the stream after the last. */
export function sendEvent(
  sink: EventSink,
  callId: string,
  revision: LegacyRevision,
  number: number | undefined,
  mark: Mark,
  text: string,
): void {
  const id = number === undefined ? undefined : eventIdOf(callId, number);
  if (mark === "opened") {
    // An event without data, so that the client can come back before there is any (MCP 2025-11-25, transports, "Sending
    // Messages to the Server"). Clients of older revisions would try to parse it.
    if (id !== undefined && rulesOf(revision).has.polledStreams) sink.write(id, "");
    return;
  }
  if (mark !== "ended") sink.write(id, text);
  if (mark !== "message") sink.end();
}

/** Whether a stream that has been open for so long is closed, for its client to come back (`legacy.pollAfterMs`). */
export function isPollDue(
  { pollAfterMs }: Pick<LegacyConfig, "pollAfterMs">,
  revision: LegacyRevision,
  openMs: number,
): boolean {
  return pollAfterMs !== undefined && openMs >= pollAfterMs && rulesOf(revision).has.polledStreams;
}

/**
 * Tells a stream that reads a call on the place that its client named, before anything else: clients remember ids for each
 * stream by itself, and one that ends before its first event would be gone on with from nowhere.
 */
export function primeAgain(
  sink: EventSink,
  callId: string,
  revision: LegacyRevision,
  after: number,
): void {
  if (rulesOf(revision).has.polledStreams) sink.write(eventIdOf(callId, after), "");
}

/** Reads a log from an event on. */
export async function readEvents(
  shared: SharedRecords,
  callId: string,
  after: number,
  visit: (event: LoggedEvent) => void,
): Promise<Reading> {
  let from = after;
  let gap: Gap | undefined;
  for (;;) {
    const part = await shared.read(callKey(callId), from, pageSize);
    // The log expired and was begun anew: the client knows a place that this one has not reached.
    if (from > part.last && part.last > 0 && from === after) {
      from = 0;
      continue;
    }
    for (const { number, text } of part.items) {
      if (number > from + 1) gap = { after: gap?.after ?? from, before: number };
      const mark = marks.get(text.charAt(0));
      if (mark !== undefined) visit({ number, mark, text: text.slice(1) });
      from = number;
    }
    if (part.items.length === 0 || from >= part.last) return { last: part.last, gap };
  }
}
