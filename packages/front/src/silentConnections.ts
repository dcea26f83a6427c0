/**
 * Connections that were opened and never used: browsers and clients open them ahead of time.
 *
 * Node takes them neither for idle nor for busy, so a server with one of them would not stop before its client goes.
 */
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** A request that is on its way when the server stops is still read and answered. */
const graceMs = 500;

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
    done();
  });
}
