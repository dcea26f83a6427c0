/**
 * Content blocks as a revision knows them.
 *
 * Called for results of tools and prompts, and for sampling. A block whose type no revision has is the author's own and
 * left alone, as on the modern revision. Nothing is copied where nothing changes.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { changed, keepKnown } from "./copies.ts";
import type { RevisionRules, WireKind } from "./loweringTable.ts";

const kindOfBlock: ReadonlyMap<JsonValue | undefined, WireKind> = new Map([
  ["text", "text"],
  ["image", "media"],
  ["audio", "media"],
  ["resource", "embeddedResource"],
  ["resource_link", "resourceLink"],
]);

/** One block of content. */
export function lowerBlock(block: JsonValue, rules: RevisionRules): JsonValue {
  if (!isJsonObject(block)) return block;
  const kind = kindOfBlock.get(block["type"]);
  if (kind === undefined) return block;
  const { members } = rules;
  const written = kind === "resourceLink" && !rules.has.resourceLinks ? linkAsText(block) : block;
  const kept = keepKnown(written, members[written === block ? kind : "text"]);
  const noted = changed(kept, "annotations", (old) => keepKnown(old, members.annotations));
  return changed(noted, "resource", (old) => keepKnown(old, members.resourceContents));
}

/** Contents of a resource. */
export function lowerContents(contents: JsonValue, { members }: RevisionRules): JsonValue {
  return isJsonObject(contents) ? keepKnown(contents, members.resourceContents) : contents;
}

/**
 * A link as text. Not as an embedded resource: that has contents, which a link leaves where they are, and an empty
 * one would say that the resource is empty.
 */
function linkAsText(link: JsonObject): JsonObject {
  const { uri, name, title, description, mimeType, annotations } = link;
  const type = textOf(mimeType) === undefined ? "" : ` (${textOf(mimeType)})`;
  const about = textOf(description) === undefined ? "" : `\n${textOf(description)}`;
  return {
    type: "text",
    text: `${textOf(title) ?? textOf(name) ?? "Resource"}${type}: ${textOf(uri) ?? ""}${about}`,
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
