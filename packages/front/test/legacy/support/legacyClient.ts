/**
 * A client of the handshake era, message by message: a test decides which instance gets what.
 */
import type { JsonObject, JsonValue } from "@reprise/protocol";
import { onTestFinished } from "vitest";

/** One event of a stream. */
export interface Event {
  readonly id: string | undefined;
  readonly retry: string | undefined;
  readonly data: string;
  /** `data` as JSON; undefined where it is empty. */
  readonly message: Message | undefined;
}

export interface Message {
  readonly id?: JsonValue;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

/** What a request got. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  /** Of a JSON response. */
  readonly json: Message;
  /** Of a stream. */
  readonly stream: EventReader | undefined;
}

export interface Session {
  readonly id: string;
  readonly revision: string;
  send(url: string, body: unknown, headers?: Record<string, string>): Promise<Got>;
  /** A request; ids count up unless given. */
  request(url: string, method: string, params?: unknown, id?: string | number): Promise<Got>;
  answer(url: string, id: JsonValue | undefined, result: unknown): Promise<number>;
  listen(url: string, lastEventId?: string, headers?: Record<string, string>): Promise<Got>;
  end(url: string): Promise<number>;
}

const accept = { form: {}, url: {} };

/** The id of an ask. */
export function askIdOf({ id }: Message): string {
  if (typeof id !== "string") throw new Error(`an ask without a text as id: ${JSON.stringify(id)}`);
  return id;
}

/** Initializes at an instance. */
export async function initialize(
  url: string,
  revision = "2025-11-25",
  capabilities: unknown = { elicitation: accept, sampling: {}, roots: {} },
): Promise<Session> {
  const body = {
    ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
    params: {
      protocolVersion: revision,
      capabilities,
      clientInfo: { name: "test-client", version: "1.0.0" },
    },
  };
  const got = await post(url, body, {});
  const id = got.headers.get("mcp-session-id") ?? "";
  return sessionOf(id, revision);
}

/** A session by its id, also one that is none. */
export function sessionOf(id: string, revision = "2025-11-25"): Session {
  let count = 0;
  const own = (headers: Record<string, string> = {}): Record<string, string> => ({
    "mcp-session-id": id,
    ...(revision === "2025-03-26" ? {} : { "mcp-protocol-version": revision }),
    ...headers,
  });
  const send: Session["send"] = (url, body, headers) => post(url, body, own(headers));
  return {
    id,
    revision,
    send,
    request: (url, method, params, requestId) =>
      send(url, {
        ...{ jsonrpc: "2.0", id: requestId ?? ++count, method },
        ...(params === undefined ? {} : { params }),
      }),
    answer: async (url, askId, result) =>
      (await send(url, { jsonrpc: "2.0", id: askId, result })).status,
    listen: async (url, lastEventId, more) => {
      const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      const headers = own({ accept: "text/event-stream", ...last, ...more });
      return gotOf(await fetch(url, { headers, signal: endOfTest() }));
    },
    end: async (url) => (await fetch(url, { method: "DELETE", headers: own() })).status,
  };
}

export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Got> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: endOfTest(),
  });
  return gotOf(response);
}

function endOfTest(): AbortSignal {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  return controller.signal;
}

async function gotOf(response: Response): Promise<Got> {
  const { status, headers } = response;
  if (headers.get("content-type") === "text/event-stream" && response.body !== null) {
    return { status, headers, json: {}, stream: new EventReader(response.body) };
  }
  const text = await response.text();
  return {
    status,
    headers,
    json: text === "" ? {} : (JSON.parse(text) as Message),
    stream: undefined,
  };
}

/** Reads a stream event by event. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next event; comments are left out. Undefined: the stream has ended, or was cut. */
  async next(): Promise<Event | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (block.startsWith(":")) continue;
        return eventOf(block);
      }
      const { done, value } = await this.#reader
        .read()
        .catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next message, past events without one. */
  async message(): Promise<Message> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error("the stream has ended");
      if (event.message !== undefined) return event.message;
    }
  }

  /** All events up to the end. */
  async events(): Promise<readonly Event[]> {
    const events: Event[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      events.push(event);
    }
    return events;
  }

  /** All messages up to the end. */
  async rest(): Promise<readonly Message[]> {
    const events = await this.events();
    return events.flatMap(({ message }) => (message === undefined ? [] : [message]));
  }

  /** The client goes away. */
  async leave(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): Event {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
  const data = field("data") ?? "";
  return {
    ...{ id: field("id"), retry: field("retry"), data },
    message: data === "" ? undefined : (JSON.parse(data) as Message),
  };
}

/** The stream of a response that must be one. */
export function streamOf({ stream, status, json }: Got): EventReader {
  if (stream === undefined) throw new Error(`no stream but ${status} ${JSON.stringify(json)}`);
  return stream;
}
