/**
 * The server measured, on the public API and the embedded store. The first argument is its data directory.
 */
import { defineServer, serve, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import {
  confirmedText,
  confirmOnceTool,
  confirmRepeatableTool,
  echoTool,
  question,
  serverName,
  serverVersion,
  stepCounts,
  stepResult,
  stepsText,
  stepsTool,
} from "../workload.ts";
import { announce } from "./serverProcess.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new RangeError("the first argument must be the data directory");

const echo = tool({
  name: echoTool,
  description: "Echoes",
  input: z.object({ text: z.string() }),
  handler: ({ text }) => text,
});

function confirming(name: string, effects: "once" | "repeatable"): ToolDefinition {
  return tool({
    name,
    description: "Asks and ends",
    effects,
    input: z.object({ orderId: z.string() }),
    async handler(_args, ctx) {
      return (await ctx.confirm(question)) ? confirmedText : "Kept.";
    },
  });
}

function stepping(count: number): ToolDefinition {
  return tool({
    name: stepsTool(count),
    description: `Records ${count} steps`,
    async handler(_args, ctx) {
      for (let index = 0; index < count; index += 1) {
        await ctx.step(`step ${index}`, () => stepResult);
      }
      return stepsText(count);
    },
  });
}

const server = defineServer({
  name: serverName,
  version: serverVersion,
  tools: [
    echo,
    confirming(confirmRepeatableTool, "repeatable"),
    confirming(confirmOnceTool, "once"),
    ...stepCounts.map(stepping),
  ],
});

announce(await serve(server, { port: 0, dataDir }));
