/**
 * A server that asks before it takes, as a program: `taker/main.ts DATA_DIR`, or `none` for no store.
 *
 * Says its URL as the first line, and in its results which process did the taking. Ends on SIGTERM. Leases and joins
 * last longer than a client's patience, so that a joiner whom nobody wakes is one who fails.
 */
import process from "node:process";
import { defineServer, serve, tool } from "reprise";
import * as z from "zod";

const [where = "none"] = process.argv.slice(2);

const served = await serve(
  defineServer({
    name: "taker",
    tools: [
      tool({
        name: "take",
        description: "Takes an item after a yes",
        input: z.object({ item: z.string() }),
        async handler({ item }, ctx) {
          if (!(await ctx.confirm(`Take ${item}?`))) return "Left.";
          const by = await ctx.step("take", () => process.pid);
          return `Taken by ${by}.`;
        },
      }),
    ],
  }),
  {
    port: 0,
    leaseMs: 120_000,
    joinTimeoutMs: 20_000,
    ...(where === "none" ? { store: "none" } : { dataDir: where }),
  },
);
process.once("SIGTERM", () => void served.close());
process.stdout.write(`${served.url}\n`);
