/**
 * `/healthz`, `/readyz` and `/metrics`: for those who run the process.
 *
 * The probes skip the Host check, because orchestrators probe by address; they tell nothing but a word. Reasons go
 * to the log.
 */
import type { Runtime } from "@reprise/runtime";
import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { FrontMetrics } from "./metrics.ts";

/** Adds the routes. `check` guards what tells more than a word. */
export function serveOperations(
  app: FastifyInstance,
  runtime: Runtime,
  metrics: FrontMetrics,
  check: onRequestHookHandler,
): void {
  app.get("/healthz", (_request, reply) => {
    reply.send({ status: "ok" });
  });
  app.get("/readyz", async (request, reply) => {
    const health = await runtime.health();
    if (health.ok) return reply.send({ status: "ready" });
    request.log.warn({ reason: health.reason }, "not ready");
    return reply.code(503).send({ status: "unavailable" });
  });
  app.get("/metrics", { onRequest: check }, (_request, reply) => {
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(metrics.render());
  });
}
