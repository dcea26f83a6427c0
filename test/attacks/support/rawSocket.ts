/**
 * HTTP by hand: bytes on a socket, for what no HTTP client would send, and what came back until the server closed.
 */
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** One response off the wire. */
export interface WireResponse {
  readonly status: number;
  /** Head and body as they came. */
  readonly text: string;
  readonly body: string;
}

/** A connection that a test writes to as it likes; destroyed with the test. */
export class RawSocket {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #text = "";
  #news: () => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (data: Buffer) => {
      this.#text += data.toString("latin1");
      this.#news();
    });
    // A server that closes while more is written resets the connection.
    this.#socket.on("error", () => undefined);
    this.#closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    onTestFinished(() => {
      this.#socket.destroy();
    });
  }

  write(bytes: string | Buffer): this {
    this.#socket.write(bytes);
    return this;
  }

  /** The first response, once it is complete or the connection closed; undefined when it closed without one. */
  async response(): Promise<WireResponse | undefined> {
    let isClosed = false;
    void this.#closed.then(() => {
      isClosed = true;
      this.#news();
    });
    for (;;) {
      const read = readResponse(this.#text);
      if (read !== undefined || isClosed) return read;
      await new Promise<void>((resolve) => {
        this.#news = resolve;
      });
    }
  }

  /** Ends once the server has closed the connection; everything that it sent. */
  async closed(): Promise<string> {
    await this.#closed;
    return this.#text;
  }
}

function readResponse(text: string): WireResponse | undefined {
  // "100 Continue" is only a word on the way.
  const from = text.startsWith("HTTP/1.1 100") ? text.indexOf("\r\n\r\n") + 4 : 0;
  const whole = text.slice(from);
  const end = whole.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = whole.slice(0, end);
  const body = whole.slice(end + 4);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  const isWhole =
    length === undefined ? /\r\n0\r\n\r\n$|^0\r\n\r\n$/.test(body) : body.length >= Number(length);
  if (!isWhole) return undefined;
  return { status: Number(head.slice(9, 12)), text: whole, body };
}

/** What a request by hand is made of; all but `body` are lines of the head. */
export interface HandWritten {
  readonly target?: string;
  readonly host?: string;
  /** Whole lines, without line breaks. */
  readonly lines?: readonly string[];
  readonly body: string | Buffer;
  /** Default: a Content-Length that is true. */
  readonly framing?: string;
}

/** The bytes of a POST. */
export function handWritten({
  target = "/mcp",
  host = "127.0.0.1",
  lines = [],
  body,
  framing,
}: HandWritten): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `POST ${target} HTTP/1.1`,
    `Host: ${host}`,
    "Accept: application/json, text/event-stream",
    ...lines,
    framing ?? `Content-Length: ${bytes.length}`,
    "",
    "",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}
