/**
 * What a server says of itself on a legacy revision: the answer to `initialize` and the entries of the lists.
 *
 * The front calls these once at start for each revision and keeps the text; no request pays for them.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { changed, changedItems, keepKnown } from "./copies.ts";
import { type RevisionRules, rulesOf } from "./loweringTable.ts";
import type { LegacyRevision, Revision } from "./revisions.ts";

/** A list's kind of entry. */
export type EntryKind = "tool" | "prompt" | "resource" | "resourceTemplate";

/** The server as the catalog has it, in the words of 2026-07-28. */
export interface ServerDescription {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

/** The result of `initialize`. */
export function initializeResult(server: ServerDescription, revision: LegacyRevision): JsonObject {
  const { members } = rulesOf(revision);
  const { info, capabilities, instructions } = server;
  return {
    protocolVersion: revision,
    capabilities: keepKnown(capabilities, members.serverCapabilities),
    serverInfo: keepKnown(info, members.implementation),
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** Entries of a list as a revision knows them, in the same order; none is left out. */
export function lowerEntries(
  kind: EntryKind,
  entries: readonly JsonObject[],
  revision: Revision,
): readonly JsonObject[] {
  if (revision === "2026-07-28") return entries;
  const rules = rulesOf(revision);
  return entries.map((entry) => lowerEntry(kind, entry, rules));
}

/** One entry. */
export function lowerEntry(kind: EntryKind, entry: JsonObject, rules: RevisionRules): JsonObject {
  const { members } = rules;
  const kept = keepKnown(entry, members[kind]);
  switch (kind) {
    case "tool":
      return lowerTool(kept, entry["title"], rules);
    case "prompt":
      return lowerPrompt(kept, members.promptArgument);
    default:
      return changed(kept, "annotations", (old) => keepKnown(old, members.annotations));
  }
}

function lowerTool(
  kept: JsonObject,
  title: JsonValue | undefined,
  { has, members }: RevisionRules,
): JsonObject {
  let tool = changed(kept, "annotations", (old) => keepKnown(old, members.toolAnnotations));
  if (!has.toolTitles && title !== undefined) {
    const annotations = tool["annotations"];
    tool = { ...tool, annotations: { title, ...(isJsonObject(annotations) ? annotations : {}) } };
  }
  const schema = tool["outputSchema"];
  if (schema === undefined || has.anyStructuredContent || isObjectSchema(schema)) return tool;
  // A schema of another type can't be published, and its results go out as text.
  const { outputSchema: _, ...rest } = tool;
  return rest;
}

function isObjectSchema(schema: JsonValue): boolean {
  return isJsonObject(schema) && schema["type"] === "object";
}

function lowerPrompt(prompt: JsonObject, names: ReadonlySet<string>): JsonObject {
  const args = prompt["arguments"];
  if (!Array.isArray(args)) return prompt;
  const lowered = changedItems(args, (arg) => (isJsonObject(arg) ? keepKnown(arg, names) : arg));
  return lowered === args ? prompt : { ...prompt, arguments: lowered };
}
