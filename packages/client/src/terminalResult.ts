/**
 * Results and errors, as a terminal shows them.
 *
 * Called by the terminal commands. Pure. What servers wrote is neutralised; `json` gives the result for programs, in which the
 * control characters are escaped as well, since the reader of a pipe may be a terminal in the end.
 */
import {
  type GetPromptResult,
  ProtocolError,
  type ReadResourceResult,
  SdkError,
} from "@modelcontextprotocol/client";
import { isRepriseError } from "@reprise/errors";
import type { AnyResult } from "./hostClient.ts";
import { printableLine, printableText } from "./printable.ts";

/** The result as text. */
export function shownResult(result: AnyResult): string {
  if (isRead(result)) return result.contents.map(shownResource).join("\n");
  if (isPrompt(result)) {
    return result.messages
      .map(({ role, content }) => `${printableLine(role)}: ${shownBlock(content)}`)
      .join("\n");
  }
  const lines = result.content.map(shownBlock);
  // A tool with structured content should repeat it as text (tools, "Structured Content"); if it did not, show it all the same.
  if (lines.length === 0 && result.structuredContent !== undefined) {
    lines.push(resultJson(result.structuredContent));
  }
  return lines.join("\n");
}

/** Any JSON value, indented, all characters that could act on a terminal escaped. */
export function resultJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? "null";
  return json.replace(/[^\P{C}\n]/gu, (character) => {
    let escaped = "";
    for (let index = 0; index < character.length; index += 1) {
      escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }
    return escaped;
  });
}

/** What went wrong, in one or two lines: a code where there is one, and what to do. */
export function shownError(error: unknown): string {
  if (isRepriseError(error)) {
    return `${error.code}: ${onOneLine(error.message)}\n  ${error.spec.remedy}`;
  }
  if (error instanceof ProtocolError) {
    const data = error.data === undefined ? "" : ` ${printableLine(JSON.stringify(error.data))}`;
    return `The server refused (${error.code}): ${printableLine(error.message)}${data}`;
  }
  if (error instanceof SdkError) return `${error.code}: ${onOneLine(error.message)}`;
  return onOneLine(error instanceof Error ? error.message : String(error));
}

/** The official client puts a validator's report, pretty-printed, into its messages. */
function onOneLine(message: string): string {
  return printableLine(message.replaceAll(/\s+/g, " ").trim());
}

// The wire types are open (any further member), so `in` alone tells nothing apart.
const isRead = (result: AnyResult): result is ReadResourceResult =>
  Array.isArray(result["contents"]);
const isPrompt = (result: AnyResult): result is GetPromptResult =>
  Array.isArray(result["messages"]);

type Block = Extract<AnyResult, { readonly content: unknown }>["content"][number];

function shownBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return printableText(block.text);
    case "resource":
      return shownResource(block.resource);
    case "resource_link":
      return printableLine(`${block.name}: ${block.uri}`);
    default:
      return `(${block.type}, ${printableLine(block.mimeType)}, ${block.data.length} characters of base64)`;
  }
}

function shownResource(resource: {
  readonly uri: string;
  readonly text?: string | undefined;
  readonly blob?: string | undefined;
}): string {
  if (resource.text !== undefined) return printableText(resource.text);
  return `(${printableLine(resource.uri)}, ${resource.blob?.length ?? 0} characters of base64)`;
}
