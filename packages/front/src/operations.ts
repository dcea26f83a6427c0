/**
 * `/healthz`, `/readyz` and `/metrics`: for those who run the process.
 *
 * The probes skip the Host check, because orchestrators probe by address; they tell nothing but a word. Reasons go
 * to the log. Metrics tell names of tools, counts and durations, and need a token where one is configured.
 *
 * 1. However many ask at once, what they are told is looked up once: a stranger can't make a front flood its store or its log.
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
  const isReady = oneAtATime(async () => {
    const { ok, reason } = await runtime.health();
    if (!ok) app.log.warn({ reason }, "not ready");
    return ok;
  });
  app.get("/readyz", async (_request, reply) => {
    if (await isReady()) return reply.send({ status: "ready" });
    return reply.code(503).send({ status: "unavailable" });
  });
  const joined = oneAtATime(async () => {
    try {
      return (await more?.()) ?? "";
    } catch (error) {
      app.log.warn({ err: error }, "a part of the metrics can't be told");
      return "";
    }
  });
  const admits = tokenRule(tokens);
  app.get("/metrics", { onRequest: check }, async (request, reply) => {
    if (!admits(request.headers.authorization)) {
      return reply.code(401).header("www-authenticate", "Bearer").send({ status: "unauthorized" });
    }
    const text = `${metrics.render()}${await joined()}`;
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  });
}

/** Who asks while an answer is being made gets that one. */
function oneAtATime<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= make().finally(() => {
      running = undefined;
    });
    return running;
  };
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
