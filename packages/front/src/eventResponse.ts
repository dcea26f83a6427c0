/**
 * A response as an event stream: its head, and the text of its events.
 *
 * Shared by whoever streams: a request's notifications, subscriptions, calls and sessions of the handshake era.
 */
import type { FastifyReply } from "fastify";

/**
 * Takes the response over from fastify and sends the head of an event stream. Such a stream may be open for days: the request's
 * headers, a session id and a token among them, are let go.
 */
export function beginEvents(reply: FastifyReply): FastifyReply["raw"] {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    // nginx would hold events back until its buffer is full.
    "x-accel-buffering": "no",
  });
  raw.req.headers = {};
  raw.req.rawHeaders = [];
  return raw;
}

/** One event. JSON text has no line breaks, so one data line is the whole event. */
export function messageEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

/** A comment: neither client nor proxy takes the silence for death. */
export const keepAlive = ":\n\n";
