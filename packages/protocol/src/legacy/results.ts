/**
 * Results as a revision knows them.
 *
 * The front calls `lowerResult` for each result that goes to a legacy client. What only 2026-07-28 has (result types,
 * cache hints, the protocol's own `_meta`) never gets out. Members that the protocol does not know are the author's and
 * stay: a result may have any.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { lowerBlock, lowerContents } from "./content.ts";
import { changed, changedItems, keepKnown } from "./copies.ts";
import { type RevisionRules, rulesOf } from "./loweringTable.ts";
import type { Revision } from "./revisions.ts";

/** A request whose result is lowered. Lists and `initialize` are built at start: descriptions.ts. */
export type ResultMethod = "tools/call" | "prompts/get" | "resources/read" | "completion/complete";

const modernMembers = ["resultType", "ttlMs", "cacheScope"] as const;
const protocolPrefix = "io.modelcontextprotocol/";

/** A result of 2026-07-28, lowered. The same object where there is nothing to change. */
export function lowerResult(
  method: ResultMethod,
  result: JsonObject,
  revision: Revision,
): JsonObject {
  if (revision === "2026-07-28") return result;
  const rules = rulesOf(revision);
  const plain = withoutModernMembers(result);
  switch (method) {
    case "tools/call":
      return lowerStructured(
        lowerList(plain, "content", (block) => lowerBlock(block, rules)),
        rules,
      );
    case "prompts/get":
      return lowerList(plain, "messages", (message) => lowerPromptMessage(message, rules));
    case "resources/read":
      return lowerList(plain, "contents", (contents) => lowerContents(contents, rules));
    case "completion/complete":
      return plain;
  }
}

/**
 * Structured content where the revision has it in that shape; elsewhere it is left out and its JSON stands in a text
 * block, as 2025-06-18 (tools, "Structured Content") wants for clients that do not know it. Also for results of tools
 * that stand in a sampling request.
 */
export function lowerStructured(result: JsonObject, { has }: RevisionRules): JsonObject {
  const { structuredContent, ...rest } = result;
  if (structuredContent === undefined) return result;
  const isSent =
    has.structuredContent && (has.anyStructuredContent || isJsonObject(structuredContent));
  if (isSent) return result;
  const content = Array.isArray(rest["content"]) ? (rest["content"] as readonly JsonValue[]) : [];
  if (content.some((block) => isTextOf(block, structuredContent))) return rest;
  const text = JSON.stringify(structuredContent);
  return { ...rest, content: [...content, { type: "text", text }] };
}

/** Whether a block is the JSON of `value`, however it is spaced. */
function isTextOf(block: JsonValue, value: JsonValue): boolean {
  const text = isJsonObject(block) && block["type"] === "text" ? block["text"] : undefined;
  if (typeof text !== "string") return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    // Prose.
    return false;
  }
}

function lowerPromptMessage(message: JsonValue, rules: RevisionRules): JsonValue {
  if (!isJsonObject(message)) return message;
  const kept = keepKnown(message, rules.members.promptMessage);
  return changed(kept, "content", (content) => lowerBlock(content, rules));
}

function lowerList(
  result: JsonObject,
  member: string,
  change: (item: JsonValue) => JsonValue,
): JsonObject {
  const items = result[member];
  if (!Array.isArray(items)) return result;
  const lowered = changedItems(items, change);
  return lowered === items ? result : { ...result, [member]: lowered };
}

function withoutModernMembers(result: JsonObject): JsonObject {
  const { _meta } = result;
  const hasOwnMeta =
    isJsonObject(_meta) && Object.keys(_meta).some((key) => key.startsWith(protocolPrefix));
  if (!hasOwnMeta && modernMembers.every((member) => result[member] === undefined)) return result;
  const rest = Object.entries(result).filter(
    ([member]) => member !== "_meta" && !(modernMembers as readonly string[]).includes(member),
  );
  const meta = isJsonObject(_meta)
    ? Object.entries(_meta).filter(([key]) => !key.startsWith(protocolPrefix))
    : [];
  return Object.fromEntries([
    ...rest,
    ...(meta.length === 0 ? [] : [["_meta", Object.fromEntries(meta)] as const]),
  ]);
}
