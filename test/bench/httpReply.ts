/**
 * Reads HTTP/1.1 replies from raw chunks, one at a time: enough for the servers that the bench loads.
 *
 * Used by loadClient.ts instead of an HTTP client, whose own cost per request is above that of the fastest
 * server measured. Knows `content-length` and chunked bodies; anything else is an error, never a guess.
 */

/** A whole reply. */
export interface HttpReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

/** Collects the chunks of one connection. */
export class HttpReplyReader {
  #pending: Buffer = Buffer.alloc(0);

  /** Adds a chunk; gives the reply once it is whole. */
  push(chunk: Buffer): HttpReply | undefined {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const headLength = this.#pending.indexOf(headEnd);
    if (headLength < 0) return undefined;
    const head = this.#pending.toString("latin1", 0, headLength);
    const bodyStart = headLength + headEnd.length;
    const body = isChunked(head)
      ? readChunks(this.#pending, bodyStart)
      : readLength(this.#pending, bodyStart, contentLength(head));
    if (body === undefined) return undefined;
    // A closed loop sends one request at a time: bytes behind its reply mean that the framing was misread.
    if (body.end !== this.#pending.length) throw new Error("bytes after the end of a reply");
    this.#pending = Buffer.alloc(0);
    return { status: statusOf(head), contentType: headerOf(head, "content-type"), body: body.text };
  }
}

interface Body {
  readonly text: string;
  readonly end: number;
}

function readLength(bytes: Buffer, start: number, length: number): Body | undefined {
  const end = start + length;
  return bytes.length < end ? undefined : { text: bytes.toString("utf8", start, end), end };
}

function readChunks(bytes: Buffer, start: number): Body | undefined {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const sizeEnd = bytes.indexOf(lineEnd, at);
    if (sizeEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, sizeEnd), 16);
    if (!Number.isInteger(size)) throw new Error("a chunk without a size");
    const dataStart = sizeEnd + lineEnd.length;
    const next = dataStart + size + lineEnd.length;
    if (bytes.length < next) return undefined;
    if (size === 0) return { text: Buffer.concat(parts).toString("utf8"), end: next };
    parts.push(bytes.subarray(dataStart, dataStart + size));
    at = next;
  }
}

function statusOf(head: string): number {
  const status = Number(head.slice(9, 12));
  if (!head.startsWith("HTTP/1.1 ") || !Number.isInteger(status)) throw new Error("no status line");
  return status;
}

function isChunked(head: string): boolean {
  return headerOf(head, "transfer-encoding").toLowerCase() === "chunked";
}

function contentLength(head: string): number {
  const length = Number(headerOf(head, "content-length") || Number.NaN);
  if (!Number.isInteger(length)) throw new Error("a reply with neither length nor chunks");
  return length;
}

function headerOf(head: string, name: string): string {
  const match = new RegExp(`\\r\\n${name}:[ \\t]*([^\\r\\n]*)`, "i").exec(head);
  return match?.[1]?.trim() ?? "";
}
