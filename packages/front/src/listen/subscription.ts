/**
 * One open subscription: the stream that answers one subscriptions/listen.
 *
 * `Subscriptions` makes it, tells it what to say and drops it when `closed` was called. It decides nothing about filters.
 *
 * 1. The acknowledgement is the first message, the result the last (MCP 2026-07-28, "Subscriptions").
 * 2. What a slow reader has not taken is kept as a set: each message says only that something changed, so once is enough, and
 *    what is kept never exceeds what the client asked to hear of.
 * 3. A reader that takes nothing for `stallMs` is cut off.
 */
import type { FastifyReply } from "fastify";
import { beginEvents, keepAlive, messageEvent } from "../eventResponse.ts";
import type { Ticked } from "../wheel.ts";

/** How a subscription ended: what metrics call it. */
export type SubscriptionEnd = "ok" | "expired" | "disconnected" | "cut";

/** What a subscription needs besides its response. */
export interface SubscriptionSettings {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly heartbeatMs: number;
  /** How long a reader may take nothing. */
  readonly stallMs: number;
}

/** Its part in this stream: who it is for, and what becomes of it. */
export interface SubscriptionPart {
  /** Epoch milliseconds at which the caller's right to hear ends; undefined: it does not. */
  readonly expiresAt: number | undefined;
  /** The response that ends the stream in order. */
  readonly result: () => string;
  /** Called once, when it is over. */
  readonly closed: (end: SubscriptionEnd) => void;
}

/** An open stream. */
export class Subscription implements Ticked {
  readonly #raw: FastifyReply["raw"];
  readonly #settings: SubscriptionSettings;
  readonly #part: SubscriptionPart;
  /** Undefined while everything was taken. */
  #unsaid: Set<string> | undefined;
  #stalledAt = 0;
  #writtenAt: number;
  #isOver = false;

  /** Takes the response over; nothing is written before `begin`. */
  constructor(reply: FastifyReply, settings: SubscriptionSettings, part: SubscriptionPart) {
    this.#settings = settings;
    this.#part = part;
    this.#writtenAt = settings.monotonic();
    this.#raw = beginEvents(reply);
  }

  /** Writes the acknowledgement. */
  begin(acknowledgement: string): void {
    this.#raw.on("close", () => this.#end("disconnected"));
    this.#raw.on("drain", () => this.#drained());
    if (this.#raw.destroyed) this.#end("disconnected");
    else this.#write(messageEvent(acknowledgement));
  }

  /** Says that something changed: at once, or when the reader has taken what is before it. */
  say(notification: string): void {
    if (this.#isOver) return;
    if (this.#unsaid !== undefined) this.#unsaid.add(notification);
    else this.#write(messageEvent(notification));
  }

  tick(now: number): void {
    const { heartbeatMs, stallMs } = this.#settings;
    const { expiresAt } = this.#part;
    if (expiresAt !== undefined && this.#settings.now() >= expiresAt) {
      this.end("expired");
    } else if (this.#unsaid !== undefined) {
      if (now - this.#stalledAt >= stallMs) this.#cut();
    } else if (now - this.#writtenAt >= heartbeatMs) this.#write(keepAlive);
  }

  /** Ends it in order, with its result. */
  end(how: "ok" | "expired" = "ok"): void {
    if (this.#isOver) return;
    // Who reads nothing reads no result either, and would keep the server from closing.
    if (this.#unsaid !== undefined) return this.#cut();
    this.#end(how);
    this.#raw.end(messageEvent(this.#part.result()));
  }

  #write(text: string): void {
    this.#writtenAt = this.#settings.monotonic();
    if (this.#raw.write(text)) return;
    this.#unsaid ??= new Set();
    this.#stalledAt = this.#writtenAt;
  }

  #drained(): void {
    if (this.#isOver || this.#unsaid === undefined) return;
    const unsaid = this.#unsaid;
    this.#unsaid = undefined;
    if (unsaid.size > 0) this.#write([...unsaid].map(messageEvent).join(""));
  }

  #cut(): void {
    this.#end("cut");
    this.#raw.destroy();
  }

  #end(how: SubscriptionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unsaid = undefined;
    this.#part.closed(how);
  }
}
