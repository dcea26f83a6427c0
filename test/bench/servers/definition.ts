/**
 * The tools that Reprise's servers are measured with, the same on every store and in every process.
 */
import { performance } from "node:perf_hooks";
import { defineServer, type ServerDefinition, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import {
  confirmedText,
  confirmOnceTool,
  confirmRepeatableTool,
  echoTool,
  keyArgument,
  keyedConfirmTool,
  keyedStepsTool,
  longRunSteps,
  longRunTool,
  longRunWindow,
  question,
  redisStepCounts,
  serverName,
  serverVersion,
  stepCounts,
  stepResult,
  stepsText,
  stepsTool,
} from "../workload.ts";

const echo = tool({
  name: echoTool,
  description: "Echoes",
  effects: "repeatable",
  input: z.object({ text: z.string() }),
  handler: ({ text }) => text,
});

function confirming(name: string, effects: "once" | "repeatable", keyed = false): ToolDefinition {
  return tool({
    name,
    description: "Asks and ends",
    effects,
    input: z.object({ [keyArgument]: z.string() }),
    ...(keyed ? { idempotency: byArgument } : {}),
    async handler(_args, ctx) {
      return (await ctx.confirm(question)) ? confirmedText : "Kept.";
    },
  });
}

const byArgument = {
  key: (args: Readonly<Record<string, unknown>>) => String(args[keyArgument]),
  scope: "tool",
} as const;

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

function steppingKeyed(count: number): ToolDefinition {
  return tool({
    name: keyedStepsTool(count),
    description: `Records ${count} steps under a key`,
    input: z.object({ [keyArgument]: z.string() }),
    idempotency: byArgument,
    async handler(_args, ctx) {
      for (let index = 0; index < count; index += 1) {
        await ctx.step(`step ${index}`, () => stepResult);
      }
      return stepsText(count);
    },
  });
}

/** Answers with the median times of early and late steps: `{"earlyMs": 0.1, "lateMs": 0.1}`. */
const longRun = tool({
  name: longRunTool,
  description: `Records ${longRunSteps} steps`,
  async handler(_args, ctx) {
    const timesMs = new Float64Array(longRunSteps);
    for (let index = 0; index < longRunSteps; index += 1) {
      const startedMs = performance.now();
      await ctx.step(`step ${index}`, () => stepResult);
      timesMs[index] = performance.now() - startedMs;
    }
    const median = (from: number): number =>
      timesMs.slice(from, from + longRunWindow).sort()[longRunWindow / 2] ?? Number.NaN;
    return JSON.stringify({ earlyMs: median(9), lateMs: median(longRunSteps - longRunWindow) });
  },
});

/** What is served. */
export const benchServer: ServerDefinition = defineServer({
  name: serverName,
  version: serverVersion,
  tools: [
    echo,
    confirming(confirmRepeatableTool, "repeatable"),
    confirming(confirmOnceTool, "once"),
    confirming(keyedConfirmTool, "once", true),
    ...[...new Set([...stepCounts, ...redisStepCounts])].map(stepping),
    ...stepCounts.map(steppingKeyed),
    longRun,
  ],
});
