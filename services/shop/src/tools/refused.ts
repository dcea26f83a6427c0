/**
 * How a tool tells the model that it will not do something: a result, not an exception.
 */
import type { ToolResult } from "reprise";

/** A tool result that is an error, with words for whoever called. */
export function refused(reason: string): ToolResult {
  return { content: [{ type: "text", text: reason }], isError: true };
}
