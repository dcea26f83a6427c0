/**
 * `/healthz`, `/readyz` and `/metrics`: for those who run the process.
 *
 * The probes skip the Host check, because orchestrators probe by address; they tell nothing but a word. Reasons go
 * to the log. Metrics tell how many requests of which method ended how, and need a token where one is configured.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { Runtime } from "@reprise/runtime";
import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { FrontMetrics } from "./metrics.ts";

/** Adds the routes. `check` guards what tells more than a word; of `tokens`, if there are any, metrics need one; `more` is joined to them. */
export function serveOperations(
  app: FastifyInstance,
  runtime: Runtime,
  metrics: FrontMetrics,
  check: onRequestHookHandler,
  tokens: readonly string[],
  more: (() => Promise<string>) | undefined,
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
  const admits = tokenRule(tokens);
  app.get("/metrics", { onRequest: check }, async (request, reply) => {
    if (!admits(request.headers.authorization)) {
      return reply.code(401).header("www-authenticate", "Bearer").send({ status: "unauthorized" });
    }
    const joined = await more?.().catch((error: unknown) => {
      request.log.warn({ err: error }, "a part of the metrics can't be told");
    });
    const text = `${metrics.render()}${joined ?? ""}`;
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  });
}

function tokenRule(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0) return () => true;
  // Digests have one length, so that comparing them tells nothing.
  const digests = tokens.map(digestOf);
  return (authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return false;
    const given = digestOf(token);
    return digests.map((known) => timingSafeEqual(known, given)).includes(true);
  };
}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
