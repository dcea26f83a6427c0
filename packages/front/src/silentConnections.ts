/**
 * Connections without a request, which would keep a server from stopping until their clients go.
 *
 * Some were opened and never used: browsers and clients open them ahead of time, and Node takes them neither for idle nor for
 * busy. Others fall idle when their last response ends, after Node has looked for idle ones: it looks once.
 */
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** A request that is on its way when the server stops is still read and answered. */
const graceMs = 500;

/** How often idle connections are looked for while the server stops. */
const lookMs = 50;

/** Closes such connections when the instance stops. */
export function closeSilentConnections(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  let isOver = false;
  app.server.on("connection", (socket) => {
    if (isOver) {
      socket.destroy();
      return;
    }
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", ({ socket }) => {
    silent.delete(socket);
  });
  app.addHook("preClose", (done) => {
    setTimeout(() => {
      isOver = true;
      for (const socket of silent) socket.destroy();
    }, graceMs).unref();
    const looking = setInterval(() => app.server.closeIdleConnections(), lookMs).unref();
    app.server.once("close", () => clearInterval(looking));
    done();
  });
}
