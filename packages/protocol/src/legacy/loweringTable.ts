/**
 * The lowering table: what each served revision of MCP knows.
 *
 * Everything else in this folder asks this table and never compares revisions. It is written after the changelogs and
 * schema.ts of the four revisions; where a page and the schema differ, the schema counts, as the pages themselves say.
 * Text, image and audio content, tool annotations and the `completions` capability are in all four and have no row.
 */
import type { Revision } from "./revisions.ts";

const columns = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
type Row = readonly [boolean, boolean, boolean, boolean];

const yes = true;
const no = false;

/** A row of the table. */
export type Feature =
  | "batches"
  | "versionHeader"
  | "polledStreams"
  | "structuredContent"
  | "anyStructuredContent"
  | "resourceLinks"
  | "toolTitles"
  | "elicitation"
  | "elicitationModes"
  | "elicitationIds"
  | "titledChoices"
  | "multipleChoices"
  | "samplingTools"
  | "samplingContentLists"
  | "samplingContextNeeded"
  | "argumentErrorsShown";

// biome-ignore format: a table
const features: Readonly<Record<Feature, Row>> = {
  //                      03-26 06-18 11-25 07-28
  // The transport.
  batches:               [yes,  no,   no,   no ], // JSON-RPC arrays
  versionHeader:         [no,   yes,  yes,  yes], // clients must send MCP-Protocol-Version
  polledStreams:         [no,   no,   yes,  no ], // an empty first event with an id; the server may close, after `retry:`
  // Results.
  structuredContent:     [no,   yes,  yes,  yes], // and output schemas
  anyStructuredContent:  [no,   no,   no,   yes], // not only objects
  resourceLinks:         [no,   yes,  yes,  yes],
  toolTitles:            [no,   yes,  yes,  yes], // before, a tool's title stood among its annotations
  // Asks.
  elicitation:           [no,   yes,  yes,  yes],
  elicitationModes:      [no,   no,   yes,  yes], // the member `mode`, and URL mode
  elicitationIds:        [no,   no,   yes,  no ], // required of URL mode there
  titledChoices:         [no,   no,   yes,  yes], // oneOf of const and title; before, enum with enumNames
  multipleChoices:       [no,   no,   yes,  yes],
  samplingTools:         [no,   no,   yes,  yes], // tools, toolChoice, tool_use and tool_result content
  samplingContentLists:  [no,   no,   yes,  yes], // several blocks in one message
  samplingContextNeeded: [no,   no,   yes,  yes], // includeContext only where sampling.context is declared
  // Errors.
  argumentErrorsShown:   [no,   no,   yes,  yes], // wrong tool arguments are a result with isError
};

/** A kind of object with a row in the second table. */
export type WireKind =
  | "implementation"
  | "serverCapabilities"
  | "tool"
  | "toolAnnotations"
  | "prompt"
  | "promptArgument"
  | "resource"
  | "resourceTemplate"
  | "resourceContents"
  | "annotations"
  | "text"
  | "media"
  | "embeddedResource"
  | "resourceLink"
  | "promptMessage"
  | "formSchema"
  | "stringField"
  | "numberField"
  | "booleanField"
  | "choiceField"
  | "choicesField"
  | "samplingParams"
  | "samplingMessage"
  | "toolUse"
  | "toolResult";

/**
 * The members of each object on the wire: those from 2025-03-26 on, those that 2025-06-18 added, those that 2025-11-25
 * added. Others are left out on legacy revisions. JSON Schemas of tools are the author's text and never cut.
 */
// biome-ignore format: a table
const members: Readonly<Record<WireKind, readonly [string, string, string]>> = {
  //                   2025-03-26                                         2025-06-18                     2025-11-25
  implementation:     ["name version",                                    "title",                       "icons description websiteUrl"],
  serverCapabilities: ["experimental logging completions prompts resources tools", "",                   ""],
  tool:               ["name description inputSchema annotations",        "title outputSchema _meta",    "icons execution"],
  toolAnnotations:    ["title readOnlyHint destructiveHint idempotentHint openWorldHint", "",            ""],
  prompt:             ["name description arguments",                      "title _meta",                 "icons"],
  promptArgument:     ["name description required",                       "title",                       ""],
  resource:           ["uri name description mimeType annotations size",  "title _meta",                 "icons"],
  resourceTemplate:   ["uriTemplate name description mimeType annotations", "title _meta",               "icons"],
  resourceContents:   ["uri mimeType text blob",                          "_meta",                       ""],
  annotations:        ["audience priority",                               "lastModified",                ""],
  text:               ["type text annotations",                           "_meta",                       ""],
  media:              ["type data mimeType annotations",                  "_meta",                       ""],
  embeddedResource:   ["type resource annotations",                       "_meta",                       ""],
  resourceLink:       ["", "type uri name title description mimeType annotations size _meta",            "icons"],
  promptMessage:      ["role content",                                    "",                            ""],
  formSchema:         ["", "type properties required",                                                   "$schema"],
  stringField:        ["", "type title description minLength maxLength format",                          "default"],
  numberField:        ["", "type title description minimum maximum",                                     "default"],
  booleanField:       ["", "type title description default",                                             ""],
  choiceField:        ["", "type title description enum enumNames",                                      "oneOf default"],
  choicesField:       ["", "",                                            "type title description minItems maxItems items default"],
  samplingParams:     ["messages modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata", "", "tools toolChoice"],
  samplingMessage:    ["role content",                                    "",                            "_meta"],
  toolUse:            ["", "",                                            "type id name input _meta"],
  toolResult:         ["", "",                                            "type toolUseId content structuredContent isError _meta"],
};

/** One column of both tables. */
export interface RevisionRules {
  readonly revision: Revision;
  readonly has: Readonly<Record<Feature, boolean>>;
  readonly members: Readonly<Record<WireKind, ReadonlySet<string>>>;
}

function column(revision: Revision): RevisionRules {
  const at = columns.indexOf(revision);
  const known = (additions: readonly string[]): ReadonlySet<string> =>
    new Set(
      additions
        .slice(0, at + 1)
        .join(" ")
        .split(" "),
    );
  const map = <K extends string, V, W>(rows: Readonly<Record<K, V>>, read: (row: V) => W) =>
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [name, read(row as V)]),
    ) as Readonly<Record<K, W>>;
  return {
    revision,
    has: map(features, (row) => row[at] === true),
    members: map(members, known),
  };
}

const rules = new Map(columns.map((revision) => [revision, column(revision)]));

/** The column of a revision; the same object on every call. */
export function rulesOf(revision: Revision): RevisionRules {
  const found = rules.get(revision);
  if (found === undefined)
    throw new RangeError(`"${revision}" is no revision of the lowering table`);
  return found;
}
