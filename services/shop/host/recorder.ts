/**
 * A fetch that tells of everything that passes, message by message, as it passes.
 *
 * Given to the client as its `fetch`; calls the browser's. It changes nothing: bodies reach the client as they came, streams chunk by
 * chunk. Invariants:
 *
 * 1. A **message** is one JSON-RPC object: a request's body, a JSON response, or the data of one event of a stream. Only these are
 *    counted; a response without a message (202) and a request without one (GET, DELETE) are shown as what they are.
 * 2. A message belongs to the opening of the connection or to calls, by its method; a response belongs where its request does.
 */
import { EventStreamSplitter } from "./eventStream.ts";

/** A JSON-RPC object. */
export type Message = Readonly<Record<string, unknown>>;

/** What passed. */
export interface Passed {
  readonly direction: "sent" | "received";
  readonly part: "opening" | "call";
  /** The HTTP exchange that it was part of. Unlike any other, over reloads too: a kept call has some of another page. */
  readonly exchange: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `POST /mcp`, `200 application/json`, `event 3 of the stream`. */
  readonly line: string;
  /** Headers that say something about the protocol, as name and value. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent where none passed. */
  readonly message?: Message;
  /** What passed in place of a message: a body that is no JSON, or why there is no answer. */
  readonly text?: string;
}

/** The fetch of browsers, as far as it is used. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const openingMethods: ReadonlySet<unknown> = new Set([
  "server/discover",
  "initialize",
  "notifications/initialized",
  "logging/setLevel",
  "tools/list",
  "ping",
]);

const shownHeader = /^(mcp-|last-event-id$|retry-after$|x-accel-buffering$|www-authenticate$)/;

/** A fetch around `inner` that tells `tell`. */
export function recordingFetch(
  inner: Fetch,
  tell: (passed: Passed) => void,
  now: () => number = Date.now,
  newExchange: () => string = () => crypto.randomUUID(),
): Fetch {
  return async (input, init = {}) => {
    const exchange = newExchange();
    const url = new URL(input instanceof Request ? input.url : String(input));
    const method = init.method ?? "GET";
    const sent = messagesIn(typeof init.body === "string" ? init.body : "");
    const isOpening =
      sent.length === 0 || sent.some(({ method: name }) => openingMethods.has(name));
    const part = isOpening ? "opening" : "call";
    const tellOf = (
      direction: Passed["direction"],
      rest: Omit<Passed, "at" | "direction" | "exchange" | "part"> & {
        readonly part?: Passed["part"];
      },
    ): void => tell({ direction, part, exchange, at: now(), ...rest });
    const line = `${method} ${url.pathname}`;
    const headers = shown(new Headers(init.headers));
    if (sent.length === 0) tellOf("sent", { line, headers });
    for (const message of sent) tellOf("sent", { line, headers, message });

    let response: Response;
    try {
      response = await inner(input, init);
    } catch (error) {
      const left = init.signal?.aborted === true;
      const text = left ? "closed by this side" : `no answer: ${String(error)}`;
      tellOf("received", { line: "nothing", headers: [], text });
      throw error;
    }
    return await heard(response, tellOf);
  };
}

type Tell = (
  direction: "received",
  rest: Pick<Passed, "line" | "headers"> & Partial<Pick<Passed, "message" | "text" | "part">>,
) => void;

async function heard(response: Response, tellOf: Tell): Promise<Response> {
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const line = `${response.status} ${type}`.trim();
  const headers = shown(response.headers);
  if (type === "text/event-stream" && response.body !== null) {
    return withBody(response, watched(response.body, line, headers, tellOf));
  }
  const text = await response.text();
  const messages = messagesIn(text);
  if (messages.length === 0)
    tellOf("received", { line, headers, ...(text === "" ? {} : { text }) });
  for (const message of messages) tellOf("received", { line, headers, message });
  return withBody(response, text === "" ? null : text);
}

function watched(
  body: ReadableStream<Uint8Array>,
  line: string,
  headers: Passed["headers"],
  tellOf: Tell,
): ReadableStream<Uint8Array> {
  const splitter = new EventStreamSplitter();
  let events = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const { data } of splitter.take(chunk)) {
          events += 1;
          const place = `${line}, event ${events}`;
          const [message] = messagesIn(data);
          const about = { line: place, headers: events === 1 ? headers : [] };
          if (message === undefined) tellOf("received", { ...about, text: data });
          // On the session's own stream (handshake era) a question is still a call's.
          else
            tellOf("received", {
              ...about,
              message,
              ...("method" in message ? { part: "call" as const } : {}),
            });
        }
        controller.enqueue(chunk);
      },
    }),
  );
}

/** The same response with a body that can still be read. */
function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array> | string | null,
): Response {
  return new Response(body, { status, statusText, headers });
}

function shown(headers: Headers): Passed["headers"] {
  return [...headers].filter(([name]) => shownHeader.test(name));
}

/** The JSON-RPC objects of a body; none when it holds something else. A batch (2025-03-26) holds several. */
function messagesIn(text: string): readonly Message[] {
  try {
    const value: unknown = JSON.parse(text);
    const all: readonly unknown[] = Array.isArray(value) ? value : [value];
    return all.every(isMessage) ? all : [];
  } catch {
    return [];
  }
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "jsonrpc" in value;
}
