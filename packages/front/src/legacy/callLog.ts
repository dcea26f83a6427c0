/**
 * A call's events: written to the shared log first, then to the client's stream.
 *
 * The driver pushes; streams attach. Nothing here knows what a message means but whether it is the last.
 *
 * G1 One writer at a time, in the order of the pushes; an event goes to the client only with the number it has in the log.
 * G2 A stream that attaches gets everything after the event it names, then what comes, without a gap or a repeat.
 * G3 When the store can't be reached, events go out without an id: the open stream is then all there is.
 * G4 After the response, or the end of a cancelled call, the stream is closed.
 */
import { type LegacyRevision, rulesOf } from "@reprise/protocol";
import type { SharedRecords } from "@reprise/runtime";
import { eventIdOf } from "./callId.ts";
import { callKey } from "./callRecord.ts";
import type { EventSink } from "./eventStream.ts";

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
/** How long a log outlives its last item or extension. */
export const logLifeMs: number = 60 * 60 * 1000;

/** An item, read. */
export interface LoggedEvent {
  readonly number: number;
  readonly mark: Mark;
  readonly text: string;
}

type Step =
  | { readonly mark: Mark; readonly text: string }
  | { readonly sink: EventSink; readonly after: number };

/** What logs need of the lane. */
export interface LogPorts {
  readonly shared: SharedRecords;
  readonly clock: { now(): number };
  readonly failed: (error: unknown) => void;
}

/** Writes one call's events. */
export class CallLog {
  /** Told when something was written. */
  written: (() => void) | undefined;
  readonly #callId: string;
  readonly #revision: LegacyRevision;
  readonly #ports: LogPorts;
  #sink: EventSink | undefined;
  #steps: Step[] = [];
  #pumping: Promise<void> | undefined;
  #held = true;

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

  push(mark: Mark, text = ""): void {
    this.#steps.push({ mark, text });
    this.#pump();
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
    let events: { readonly mark: Mark; readonly text: string }[] = [];
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

  async #writeEvents(events: readonly { mark: Mark; text: string }[]): Promise<void> {
    if (events.length === 0) return;
    let first: number | undefined;
    try {
      const last = await this.#append(events.map(({ mark, text }) => `${letters[mark]}${text}`));
      first = last - events.length + 1;
    } catch (error) {
      this.#ports.failed(error);
    }
    events.forEach(({ mark, text }, place) => {
      const number = first === undefined ? undefined : first + place;
      if (this.#sink !== undefined) this.#send(this.#sink, number, mark, text);
    });
    this.written?.();
  }

  #append(items: readonly string[]): Promise<number> {
    const { shared, clock } = this.#ports;
    const limits = { expiresAt: clock.now() + logLifeMs, keep: keptItems };
    return shared.append(callKey(this.#callId), items, limits);
  }

  async #readOn(sink: EventSink, after: number): Promise<void> {
    if (this.#sink !== sink) this.detach();
    try {
      await readEvents(this.#ports.shared, this.#callId, after, (event) => {
        this.#send(sink, event.number, event.mark, event.text);
      });
    } catch (error) {
      this.#ports.failed(error);
      sink.end();
      return;
    }
    this.#sink = sink;
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

/** Reads a log from an event on. Returns the number of the newest item, 0 when there is no log. */
export async function readEvents(
  shared: SharedRecords,
  callId: string,
  after: number,
  visit: (event: LoggedEvent) => void,
): Promise<number> {
  let from = after;
  for (;;) {
    const part = await shared.read(callKey(callId), from, pageSize);
    // The log expired and was begun anew: the client knows a place that this one has not reached.
    if (from > part.last && part.last > 0 && from === after) {
      from = 0;
      continue;
    }
    for (const { number, text } of part.items) {
      const mark = marks.get(text.charAt(0));
      if (mark !== undefined) visit({ number, mark, text: text.slice(1) });
      from = number;
    }
    if (part.items.length === 0 || from >= part.last) return part.last;
  }
}
