/**
 * A tool's result as the page shows it: its texts, and its structured content. Pure.
 */
import type { CallResult } from "./state.ts";

/** Reads what the client gave; content that is no text is named and not shown. */
export function callResult(result: unknown): CallResult {
  const { content, isError, structuredContent } = result as {
    readonly content?: unknown;
    readonly isError?: unknown;
    readonly structuredContent?: unknown;
  };
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return {
    isError: isError === true,
    texts: blocks.map(textOf),
    structured: structuredContent,
  };
}

/** The words of a content block, or what stands there in their place. */
export function textOf(block: unknown): string {
  if (Array.isArray(block)) return block.map(textOf).join("\n");
  if (typeof block !== "object" || block === null) return String(block);
  if ("text" in block && typeof block.text === "string") return block.text;
  return `(${"type" in block ? String(block.type) : "unknown"}, not shown)`;
}
