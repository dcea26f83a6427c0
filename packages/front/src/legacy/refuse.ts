/**
 * What clients of the handshake era get from a server with `legacy: "none"`: the refusal that names what is served.
 */
import { type LegacyMessage, legacyRefusal } from "@reprise/protocol";
import type { FastifyReply } from "fastify";
import { Exchange } from "../exchange.ts";
import type { FrontMetrics } from "../metrics.ts";

/** Refuses a legacy message. */
export function refuseLegacy(
  legacy: LegacyMessage,
  reply: FastifyReply,
  metrics: FrontMetrics,
): void {
  if (legacy.message.kind === "notification") {
    // Nobody waits for an answer to a notification; its request was refused already.
    reply.code(202).send();
    return;
  }
  new Exchange(reply, legacy.message.id, "legacy", metrics).error(legacyRefusal(legacy));
}
