/**
 * The notifications of one request, and the decision between one JSON object and an event stream.
 *
 * Made by the exchange for a request that opted in to progress or logs, handed to the runtime as its
 * NotificationSink. It never decides what the response is.
 *
 * 1. Nothing is sent before the stream is committed: by the first ask's passed check, by `commitAfterMs`, or by a
 *    successful response. Until then an error with an HTTP status of its own goes out as plain JSON.
 * 2. Notifications keep their order and precede the response; after the response nothing is sent.
 * 3. Progress values sent increase strictly, heartbeats included (MCP 2026-07-28, Progress).
 * 4. What a slow client has not read is bounded by `maxPendingBytes`; above it notifications are dropped, never
 *    the response.
 */

import type { JsonValue } from "@reprise/protocol";
import { logNotification, progressNotification } from "@reprise/protocol";
import type { LogLevel, NotificationSink } from "@reprise/runtime";
import type { FastifyReply } from "fastify";
import { beginEvents, keepAlive, messageEvent } from "./eventResponse.ts";
import type { FrontMetrics } from "./metrics.ts";

const maxPendingBytes = 1024 * 1024;

/** What a stream needs to know. */
export interface StreamSettings {
  readonly commitAfterMs: number;
  readonly heartbeatMs: number;
  readonly metrics: FrontMetrics;
}

type Phase = "held" | "committed" | "open" | "ended";

/** One request's way to notify. */
export class NotificationStream implements NotificationSink {
  readonly progress?: NonNullable<NotificationSink["progress"]>;
  readonly log?: NonNullable<NotificationSink["log"]>;
  readonly asksChecked: () => void;

  readonly #reply: FastifyReply;
  readonly #settings: StreamSettings;
  readonly #progressToken: string | number | undefined;
  readonly #startedAt = performance.now();
  #phase: Phase = "held";
  #held = "";
  #commitTimer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #sentProgress: number | undefined;
  #total: number | undefined;

  constructor(
    reply: FastifyReply,
    progressToken: string | number | undefined,
    logs: boolean,
    settings: StreamSettings,
  ) {
    this.#reply = reply;
    this.#settings = settings;
    this.#progressToken = progressToken;
    this.asksChecked = () => this.#commit();
    if (progressToken !== undefined) {
      this.progress = (value, total, message) => this.#sendProgress(value, total, message);
      this.#armHeartbeat();
    }
    if (logs) {
      this.log = (level: LogLevel, data: JsonValue, logger: string | undefined) =>
        this.#push(logNotification(level, data, logger));
    }
  }

  /**
   * Ends the stream with the response. False: nothing was sent and the response is to go out as plain JSON,
   * because it is an error with an HTTP status of its own, or because there was nothing to notify.
   */
  end(status: number, body: string): boolean {
    const wasOpen = this.#phase === "open";
    const streams = wasOpen || (status === 200 && this.#held !== "");
    if (streams && !wasOpen) this.#open();
    this.close();
    if (!streams) return false;
    this.#reply.raw.end(`${this.#held}${messageEvent(body)}`);
    this.#held = "";
    return true;
  }

  /** Ends it without a response: the client is gone. */
  close(): void {
    if (this.#phase === "open") this.#settings.metrics.streamsChanged(-1);
    this.#phase = "ended";
    clearTimeout(this.#commitTimer);
    clearTimeout(this.#heartbeat);
  }

  #sendProgress(value: number, total: number | undefined, message: string | undefined): void {
    const progressToken = this.#progressToken;
    if (progressToken === undefined || !Number.isFinite(value)) return;
    const last = this.#sentProgress;
    // A heartbeat may have used up the handler's value; it then follows by the smallest visible amount.
    const progress = last === undefined || value > last ? value : justAbove(last);
    this.#sentProgress = progress;
    this.#total = total;
    this.#push(progressNotification(progressToken, progress, total, message));
  }

  /**
   * Silence is what makes clients and proxies give up. Comments keep proxies and sockets alive, but clients
   * extend a call's timeout only on progress, and progress must increase: so the last value grows by a billionth,
   * which no display shows and which the handler's next value exceeds.
   */
  #beat(): void {
    const progressToken = this.#progressToken;
    if (progressToken !== undefined) {
      const last = this.#sentProgress;
      const progress = last === undefined ? 0 : justAbove(last);
      this.#sentProgress = progress;
      const total = this.#total !== undefined && progress > this.#total ? undefined : this.#total;
      this.#push(progressNotification(progressToken, progress, total, undefined));
      this.#commit();
    } else if (this.#phase === "open") {
      this.#write(keepAlive);
    }
    this.#armHeartbeat();
  }

  #push(notification: string): void {
    if (this.#phase === "ended") return;
    if (this.#phase === "held") {
      if (this.#held.length > maxPendingBytes) this.#settings.metrics.notificationDropped();
      else this.#held += messageEvent(notification);
      this.#commitSoon();
      return;
    }
    if (this.#phase === "committed") this.#open();
    this.#write(messageEvent(notification));
  }

  #commitSoon(): void {
    if (this.#commitTimer !== undefined) return;
    const elapsed = performance.now() - this.#startedAt;
    const wait = Math.max(0, this.#settings.commitAfterMs - elapsed);
    this.#commitTimer = setTimeout(() => this.#commit(), wait);
  }

  #commit(): void {
    if (this.#phase !== "held") return;
    clearTimeout(this.#commitTimer);
    this.#phase = "committed";
    if (this.#held === "") return;
    this.#open();
    const held = this.#held;
    this.#held = "";
    this.#write(held);
  }

  #open(): void {
    this.#phase = "open";
    this.#settings.metrics.streamsChanged(1);
    beginEvents(this.#reply);
    if (this.#heartbeat === undefined) this.#armHeartbeat();
  }

  #write(text: string): void {
    const raw = this.#reply.raw;
    if (raw.destroyed) return;
    if (raw.writableLength > maxPendingBytes) {
      this.#settings.metrics.notificationDropped();
      return;
    }
    raw.write(text);
    this.#heartbeat?.refresh();
  }

  #armHeartbeat(): void {
    clearTimeout(this.#heartbeat);
    this.#heartbeat = setTimeout(() => this.#beat(), this.#settings.heartbeatMs);
    // Alone, a heartbeat is no reason for a process to stay.
    this.#heartbeat.unref();
  }
}

function justAbove(value: number): number {
  return value + Math.max(1, Math.abs(value)) * 1e-9;
}
