/**
 * The seam for the handshake era (MCP 2025-11-25 and older): all of its messages come through here, and nothing
 * else of the front knows them. A modern-only server refuses them and names what it serves.
 */
import { type LegacyMessage, legacyRefusal } from "@reprise/protocol";
import type { FastifyReply } from "fastify";
import type { Exchange } from "./exchange.ts";

/** Answers a legacy message. */
export function answerLegacy(legacy: LegacyMessage, exchange: Exchange, reply: FastifyReply): void {
  if (legacy.message.kind === "notification") {
    // Nobody waits for an answer to a notification; its request was refused already.
    reply.code(202).send();
    return;
  }
  exchange.error(legacyRefusal(legacy));
}
