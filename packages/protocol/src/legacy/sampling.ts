/**
 * Sampling requests as a revision knows them.
 *
 * Before 2025-11-25 a message holds one block and there are no tools. Several blocks become several messages of the same
 * role, in order: nothing in those revisions wants roles to alternate, and the model reads the same text. Tools can't be
 * written otherwise and are refused.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { lowerBlock } from "./content.ts";
import { changedItems, keepKnown } from "./copies.ts";
import { lowerEntry } from "./descriptions.ts";
import type { RevisionRules } from "./loweringTable.ts";
import { lowerStructured } from "./results.ts";

/** The request's parameters, or why a client of the revision can't be asked. */
export type LoweredSampling =
  | { readonly kind: "sampling"; readonly params: JsonObject }
  | { readonly kind: "refused"; readonly why: string };

/** Parameters of `sampling/createMessage` of 2026-07-28, lowered. */
export function lowerSampling(params: JsonObject, rules: RevisionRules): LoweredSampling {
  const { messages, tools } = params;
  const list = Array.isArray(messages) ? (messages as readonly JsonValue[]) : [];
  if (!rules.has.samplingTools) {
    if (tools !== undefined || params["toolChoice"] !== undefined) {
      return { kind: "refused", why: "it gives the model tools" };
    }
    if (list.some((message) => blocksOf(message).some(isToolBlock))) {
      return { kind: "refused", why: "its messages hold tool calls or results of tools" };
    }
  }
  const lowered: JsonObject = {
    ...keepKnown(params, rules.members.samplingParams),
    messages: list.flatMap((message) => lowerMessage(message, rules)),
  };
  if (!Array.isArray(tools)) return { kind: "sampling", params: lowered };
  const entries = changedItems(tools, (item) =>
    isJsonObject(item) ? lowerEntry("tool", item, rules) : item,
  );
  return { kind: "sampling", params: { ...lowered, tools: entries } };
}

function blocksOf(message: JsonValue): readonly JsonValue[] {
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (Array.isArray(content)) return content;
  return content === undefined ? [] : [content];
}

function isToolBlock(block: JsonValue): boolean {
  return isJsonObject(block) && (block["type"] === "tool_use" || block["type"] === "tool_result");
}

function lowerMessage(message: JsonValue, rules: RevisionRules): readonly JsonValue[] {
  if (!isJsonObject(message)) return [message];
  const kept = keepKnown(message, rules.members.samplingMessage);
  const blocks = blocksOf(message).map((block) => lowerSampled(block, rules));
  const [only] = blocks;
  if (!Array.isArray(message["content"]))
    return only === undefined ? [kept] : [{ ...kept, content: only }];
  if (rules.has.samplingContentLists) return [{ ...kept, content: blocks }];
  return blocks.map((content) => ({ ...kept, content }));
}

function lowerSampled(block: JsonValue, rules: RevisionRules): JsonValue {
  if (!isJsonObject(block)) return block;
  if (block["type"] === "tool_use") return keepKnown(block, rules.members.toolUse);
  if (block["type"] !== "tool_result") return lowerBlock(block, rules);
  const kept = keepKnown(block, rules.members.toolResult);
  const { content } = kept;
  const lowered = Array.isArray(content)
    ? { ...kept, content: changedItems(content, (item) => lowerBlock(item, rules)) }
    : kept;
  return lowerStructured(lowered, rules);
}
