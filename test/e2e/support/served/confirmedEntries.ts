/**
 * Counts how often handlers come past an accepted confirm, in a file that all processes share.
 */
import { appendFileSync } from "node:fs";
import type { Context, ServerDefinition, ToolDefinition } from "@reprise/runtime";

/** The same server; `file` gets a line each time a tool's `ctx.confirm` gives true. */
export function countingConfirmed(server: ServerDefinition, file: string): ServerDefinition {
  const { tools = [] } = server;
  return { ...server, tools: tools.map((each) => counting(each, file)) };
}

function counting(tool: ToolDefinition, file: string): ToolDefinition {
  return { ...tool, handler: (args, ctx) => tool.handler(args, counted(ctx, tool.name, file)) };
}

function counted(ctx: Context, name: string, file: string): Context {
  const confirm: Context["confirm"] = async (message, options) => {
    const yes = await ctx.confirm(message, options);
    // One short line by one write to a file opened for appending: lines of several processes never mix.
    if (yes) appendFileSync(file, `${name}\n`);
    return yes;
  };
  return new Proxy(ctx, {
    get(target, name) {
      if (name === "confirm") return confirm;
      const member: unknown = Reflect.get(target, name);
      // The context's methods need their own object behind `this`, not the proxy.
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
