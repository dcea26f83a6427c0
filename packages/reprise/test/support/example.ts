import { defineServer, type ServedServer, serve, tool } from "reprise";
import * as z from "zod";

/** What happened, for whoever looks. */
export const sent: string[] = [];

const server = defineServer({
  name: "greetings",
  tools: [
    tool({
      name: "greet",
      description: "Send a greeting",
      input: z.object({ name: z.string() }),
      async handler({ name }, ctx) {
        if (!(await ctx.confirm(`Greet ${name}?`))) return "Nobody was greeted.";
        await ctx.step("send", ({ idempotencyKey }) => sent.push(`${name} ${idempotencyKey}`));
        return `Greeted ${name}.`;
      },
    }),
  ],
});

/** Serves it on a free port, with its records in `dataDir`. */
export const start = (dataDir: string): Promise<ServedServer> =>
  serve(server, { port: 0, dataDir });
