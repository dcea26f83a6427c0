/**
 * Restate's side of the suite `peers`: the handlers, served to a Restate server. Arguments: the data directory (unused).
 *
 * Announces `http://127.0.0.1:PORT?questions=PORT`: the endpoint, and where it tells the questions of `ask`, a line each.
 * The id of an awakeable is told in a `ctx.run`, as Restate's documentation has it.
 */
import { createServer } from "node:http2";
import { createServer as createSocketServer } from "node:net";
import "./withResolvers.mjs";
import * as restate from "@restatedev/restate-sdk";
import { announce, listen } from "./announce.mjs";

const stepResult = "0123456789abcdef".repeat(16);
const asking = new Set();

function stepping(count) {
  return async (ctx) => {
    for (let index = 0; index < count; index += 1) {
      await ctx.run(`step ${index}`, () => stepResult);
    }
    return `${count} steps`;
  };
}

const service = restate.service({
  name: "bench",
  handlers: {
    steps0: stepping(0),
    steps1: stepping(1),
    steps5: stepping(5),
    async ask(ctx, { key }) {
      const { id, promise } = ctx.awakeable();
      await ctx.run("ask", () => {
        for (const socket of asking) socket.write(`${key} ${id}\n`);
      });
      return (await promise) === true ? "Refunded." : "Kept.";
    },
  },
});

const questions = createSocketServer((socket) => {
  socket.setNoDelay(true);
  asking.add(socket);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => asking.delete(socket));
});
// Its lines of every call's begin and end would be measured too.
const logger = () => undefined;
const endpoint = createServer(restate.createEndpointHandler({ services: [service], logger }));
const questionsPort = await listen(questions);
const port = await listen(endpoint);
announce(`http://127.0.0.1:${port}?questions=${questionsPort}`, () => {
  endpoint.close();
  questions.close();
});
