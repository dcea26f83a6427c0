/**
 * The smallest tool that asks first. Its handler runs twice: once up to the question, and once more, from its
 * first line, with the answer.
 */
import { CallerError, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import type { Scratch } from "../scratch.ts";

/** `delete_folder {path}`: deletes a folder of the scratch area after a yes. */
export function deleteFolder(scratch: Scratch): ToolDefinition {
  return tool({
    name: "delete_folder",
    description: "Delete a folder of the shop's scratch area",
    input: z.object({ path: z.string().describe("For example build/") }),
    annotations: { destructiveHint: true, idempotentHint: true },
    async handler({ path }, ctx) {
      // A read, so that a later attempt sees the folder as it was, also when it is gone by then.
      const folder = await ctx.read("find folder", () => scratch.find(path));
      if (!folder.ok) throw new CallerError(folder.reason);
      if (!(await ctx.confirm(`Delete ${folder.name}?`))) return `Kept ${folder.name}`;
      await ctx.step("delete", () => scratch.delete(folder.name));
      return `Deleted ${folder.name}`;
    },
  });
}
