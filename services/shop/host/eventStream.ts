/**
 * Cuts an event stream into its events as the bytes come (HTML standard, "Server-sent events").
 *
 * Used by the recorder to show what passes; the client reads the same bytes with a parser of its own, and decides by that one.
 */

/** One event with data. */
export interface StreamEvent {
  readonly data: string;
  /** With which a broken stream could be asked for again. */
  readonly id?: string;
}

/** Gives the events that a chunk completes. Comments and events without data are none. */
export class EventStreamSplitter {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #data: string[] = [];
  #id: string | undefined;

  take(chunk: Uint8Array): readonly StreamEvent[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const events: StreamEvent[] = [];
    for (;;) {
      // A CR at the very end may be half of a CRLF.
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (end === null) return events;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line === "") this.#finish(events);
      else this.#field(line);
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    if (name === "id") this.#id = value;
  }

  #finish(events: StreamEvent[]): void {
    const data = this.#data.join("\n");
    const id = this.#id;
    this.#data = [];
    this.#id = undefined;
    if (data !== "") events.push({ data, ...(id === undefined ? {} : { id }) });
  }
}
