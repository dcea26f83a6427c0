/**
 * Lets faults hit HTTP requests: hooks around every route but `/faults`, which must work when nothing else does.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Fault, Faults, Hit } from "./faults.ts";

/** Serves `/faults` and breaks the other routes accordingly. Gives what hits a request under way. */
export function breakRequests(
  app: FastifyInstance,
  faults: Faults,
): (request: FastifyRequest) => Hit | undefined {
  app.get("/faults", () => faults.list());
  app.post("/faults", ({ body }) => faults.add(body));
  app.delete("/faults", () => {
    faults.clear();
    return [];
  });

  const hits = new WeakMap<FastifyRequest, Hit>();
  app.addHook("preHandler", async (request, reply) => {
    if (request.url === "/faults") return;
    const hit = faults.take(request.method, request.url);
    hits.set(request, hit);
    for (const fault of hit.before) {
      if (reply.sent) return;
      await sufferBefore(fault, request, reply);
    }
  });
  app.addHook("onSend", async (request, reply, payload) => {
    let sent = payload;
    for (const fault of hits.get(request)?.after ?? []) {
      sent = (await sufferAfter(fault, request, reply)) ?? sent;
    }
    return sent;
  });
  return (request) => hits.get(request);
}

/** Happens before anything was done; a reply given here is the only one. */
async function sufferBefore(
  fault: Fault,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  switch (fault.kind) {
    case "delay":
      await wait(fault.ms);
      return;
    case "drop":
      reply.hijack();
      request.raw.socket.destroy();
      return;
    case "fail":
      await reply
        .code(fault.status)
        .send({ error: "an injected failure, before anything was done" });
      return;
    case "outage":
      await reply.code(503).send({ error: "out of order; nothing was done" });
      return;
    case "ignoreKeys":
      return;
  }
}

/** Happens when the work is done and on disk. Gives the body that replaces the true one. */
async function sufferAfter(
  fault: Fault,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | undefined> {
  if (fault.kind === "delay") await wait(fault.ms);
  if (fault.kind === "drop") request.raw.socket.destroy();
  if (fault.kind !== "fail") return undefined;
  reply.code(fault.status);
  return JSON.stringify({ error: "an injected failure, after the work was done" });
}
