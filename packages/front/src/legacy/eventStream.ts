/**
 * One open event stream to a client: what a call or a session writes its events to.
 *
 * It knows no JSON-RPC. Whoever holds it ends it; a client that goes away only closes it.
 *
 * 1. After the end nothing is written, and writing to a closed stream is no error.
 * 2. A client that reads too slowly is cut off instead of buffered for: what it missed it gets by its next GET.
 */
import type { FastifyReply } from "fastify";
import { beginEvents, keepAlive } from "../eventResponse.ts";
import type { FrontMetrics } from "../metrics.ts";

/** How much may wait for a slow client. */
const maxPendingBytes = 1024 * 1024;

/** Where events go. */
export interface EventSink {
  readonly isOpen: boolean;
  /** Monotonic time of the last thing written. */
  readonly writtenAt: number;
  /** Epoch milliseconds at which whoever holds it must end it: the caller's token is over then. Undefined: never. */
  readonly expiresAt: number | undefined;
  /** One event; `data` is text without line breaks. */
  write(id: string | undefined, data: string): void;
  /** A comment, so that neither client nor proxy takes silence for death. */
  comment(): void;
  /** Tells after how many milliseconds to come back. */
  retry(ms: number): void;
  end(): void;
}

/** A stream over an HTTP response. */
export class EventStream implements EventSink {
  writtenAt: number;
  readonly expiresAt: number | undefined;
  readonly #raw: FastifyReply["raw"];
  readonly #metrics: FrontMetrics;
  readonly #monotonic: () => number;
  #isOpen = true;
  #onClose: (() => void) | undefined;

  /** Takes the response over and sends its headers. */
  constructor(
    reply: FastifyReply,
    metrics: FrontMetrics,
    monotonic: () => number,
    expiresAt?: number,
  ) {
    const raw = beginEvents(reply);
    this.#raw = raw;
    this.#metrics = metrics;
    this.#monotonic = monotonic;
    this.writtenAt = monotonic();
    this.expiresAt = expiresAt;
    raw.on("close", this.#closed);
    // A stream that waits for its first event is open for the client too.
    raw.flushHeaders();
    metrics.streamsChanged(1);
    if (raw.destroyed) this.#closed();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Told once when the stream is over, whoever ended it: at once if it is already, for its client may go while it opens. */
  set onClose(listener: (() => void) | undefined) {
    if (this.#isOpen) this.#onClose = listener;
    else listener?.();
  }

  write(id: string | undefined, data: string): void {
    this.#send(`${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
  }

  comment(): void {
    this.#send(keepAlive);
  }

  retry(ms: number): void {
    this.#send(`retry: ${ms}\n\n`);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#raw.end();
    this.#closed();
  }

  #send(text: string): void {
    if (!this.#isOpen) return;
    if (this.#raw.writableLength > maxPendingBytes) {
      this.#raw.destroy();
      this.#closed();
      return;
    }
    this.#raw.write(text);
    this.writtenAt = this.#monotonic();
  }

  readonly #closed = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#metrics.streamsChanged(-1);
    const onClose = this.#onClose;
    this.#onClose = undefined;
    onClose?.();
  };
}
