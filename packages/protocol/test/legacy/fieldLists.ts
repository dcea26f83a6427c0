/**
 * The fields of each legacy revision, listed by hand from its schema.ts, as judge of the golden files and of what the
 * shop's tools send. Independent of the lowering table on purpose: each revision stands here whole.
 *
 * A list has one word a field: `!` marks a required one, `:Type` one with a list of its own, `[]` an array of them.
 * `...` allows others: results, and JSON Schemas of tools. A union is told apart by the members that the named types
 * require, all of which also check the value of `type`.
 */
import { isJsonObject, type JsonValue, type LegacyRevision } from "@reprise/protocol";

type Lists = Readonly<Record<string, string | readonly string[]>>;

const oldest: Lists = {
  InitializeResult:
    "protocolVersion! capabilities!:ServerCapabilities serverInfo!:Implementation instructions ...",
  ServerCapabilities:
    "experimental logging completions prompts:ListChanged resources:Subscribe tools:ListChanged",
  ListChanged: "listChanged",
  Subscribe: "subscribe listChanged",
  Implementation: "name! version!",
  Tool: "name! description inputSchema!:ObjectSchema annotations:ToolAnnotations",
  ObjectSchema: "type=object! properties required ...",
  ToolAnnotations: "title readOnlyHint destructiveHint idempotentHint openWorldHint",
  Prompt: "name! description arguments:PromptArgument[]",
  PromptArgument: "name! description required",
  Resource: "uri! name! description mimeType annotations:Annotations size",
  ResourceTemplate: "uriTemplate! name! description mimeType annotations:Annotations",
  Annotations: "audience priority",
  TextResource: "uri! mimeType text!",
  BlobResource: "uri! mimeType blob!",
  ResourceContents: ["TextResource", "BlobResource"],
  Text: "type=text! text! annotations:Annotations",
  Image: "type=image! data! mimeType! annotations:Annotations",
  Audio: "type=audio! data! mimeType! annotations:Annotations",
  Embedded: "type=resource! resource!:ResourceContents annotations:Annotations",
  Content: ["Text", "Image", "Audio", "Embedded"],
  CallToolResult: "content!:Content[] isError _meta ...",
  GetPromptResult: "description messages!:PromptMessage[] _meta ...",
  PromptMessage: "role! content!:Content",
  ReadResourceResult: "contents!:ResourceContents[] _meta ...",
  CompleteResult: "completion!:Completion _meta ...",
  Completion: "values! total hasMore",
  "sampling/createMessage":
    "messages!:SamplingMessage[] modelPreferences systemPrompt includeContext temperature maxTokens! stopSequences metadata",
  SamplingMessage: "role! content!:Sampled",
  Sampled: ["Text", "Image", "Audio"],
};

const middle: Lists = {
  InitializeResult:
    "protocolVersion! capabilities!:ServerCapabilities serverInfo!:Implementation instructions ...",
  ServerCapabilities:
    "experimental logging completions prompts:ListChanged resources:Subscribe tools:ListChanged",
  ListChanged: "listChanged",
  Subscribe: "subscribe listChanged",
  Implementation: "name! title version!",
  Tool: "name! title description inputSchema!:ObjectSchema outputSchema:ObjectSchema annotations:ToolAnnotations _meta",
  ObjectSchema: "type=object! properties required ...",
  ToolAnnotations: "title readOnlyHint destructiveHint idempotentHint openWorldHint",
  Prompt: "name! title description arguments:PromptArgument[] _meta",
  PromptArgument: "name! title description required",
  Resource: "uri! name! title description mimeType annotations:Annotations size _meta",
  ResourceTemplate: "uriTemplate! name! title description mimeType annotations:Annotations _meta",
  Annotations: "audience priority lastModified",
  TextResource: "uri! mimeType text! _meta",
  BlobResource: "uri! mimeType blob! _meta",
  ResourceContents: ["TextResource", "BlobResource"],
  Text: "type=text! text! annotations:Annotations _meta",
  Image: "type=image! data! mimeType! annotations:Annotations _meta",
  Audio: "type=audio! data! mimeType! annotations:Annotations _meta",
  Embedded: "type=resource! resource!:ResourceContents annotations:Annotations _meta",
  Link: "type=resource_link! uri! name! title description mimeType annotations:Annotations size _meta",
  Content: ["Text", "Image", "Audio", "Embedded", "Link"],
  CallToolResult: "content!:Content[] structuredContent:AnyObject isError _meta ...",
  AnyObject: "...",
  GetPromptResult: "description messages!:PromptMessage[] _meta ...",
  PromptMessage: "role! content!:Content",
  ReadResourceResult: "contents!:ResourceContents[] _meta ...",
  CompleteResult: "completion!:Completion _meta ...",
  Completion: "values! total hasMore",
  "sampling/createMessage":
    "messages!:SamplingMessage[] modelPreferences systemPrompt includeContext temperature maxTokens! stopSequences metadata",
  SamplingMessage: "role! content!:Sampled",
  Sampled: ["Text", "Image", "Audio"],
  "elicitation/create": "message! requestedSchema!:Form",
  Form: "type=object! properties!:Field{} required",
  Field: ["Choice", "StringField", "NumberField", "IntegerField", "BooleanField"],
  StringField: "type=string! title description minLength maxLength format",
  NumberField: "type=number! title description minimum maximum",
  IntegerField: "type=integer! title description minimum maximum",
  BooleanField: "type=boolean! title description default",
  Choice: "type=string! title description enum! enumNames",
};

const newest: Lists = {
  InitializeResult:
    "protocolVersion! capabilities!:ServerCapabilities serverInfo!:Implementation instructions ...",
  ServerCapabilities:
    "experimental logging completions prompts:ListChanged resources:Subscribe tools:ListChanged tasks",
  ListChanged: "listChanged",
  Subscribe: "subscribe listChanged",
  Implementation: "name! title version! description websiteUrl icons:Icon[]",
  Icon: "src! mimeType sizes theme",
  Tool: "name! title description inputSchema!:ObjectSchema execution outputSchema:ObjectSchema annotations:ToolAnnotations icons:Icon[] _meta",
  ObjectSchema: "$schema type=object! properties required ...",
  ToolAnnotations: "title readOnlyHint destructiveHint idempotentHint openWorldHint",
  Prompt: "name! title description arguments:PromptArgument[] icons:Icon[] _meta",
  PromptArgument: "name! title description required",
  Resource: "uri! name! title description mimeType annotations:Annotations size icons:Icon[] _meta",
  ResourceTemplate:
    "uriTemplate! name! title description mimeType annotations:Annotations icons:Icon[] _meta",
  Annotations: "audience priority lastModified",
  TextResource: "uri! mimeType text! _meta",
  BlobResource: "uri! mimeType blob! _meta",
  ResourceContents: ["TextResource", "BlobResource"],
  Text: "type=text! text! annotations:Annotations _meta",
  Image: "type=image! data! mimeType! annotations:Annotations _meta",
  Audio: "type=audio! data! mimeType! annotations:Annotations _meta",
  Embedded: "type=resource! resource!:ResourceContents annotations:Annotations _meta",
  Link: "type=resource_link! uri! name! title description mimeType annotations:Annotations size icons:Icon[] _meta",
  Content: ["Text", "Image", "Audio", "Embedded", "Link"],
  CallToolResult: "content!:Content[] structuredContent:AnyObject isError _meta ...",
  AnyObject: "...",
  GetPromptResult: "description messages!:PromptMessage[] _meta ...",
  PromptMessage: "role! content!:Content",
  ReadResourceResult: "contents!:ResourceContents[] _meta ...",
  CompleteResult: "completion!:Completion _meta ...",
  Completion: "values! total hasMore",
  "sampling/createMessage":
    "messages!:SamplingMessage[] modelPreferences systemPrompt includeContext temperature maxTokens! stopSequences metadata tools:Tool[] toolChoice",
  SamplingMessage: "role! content!:Sampled[?] _meta",
  Sampled: ["Text", "Image", "Audio", "ToolUse", "ToolAnswer"],
  ToolUse: "type=tool_use! id! name! input! _meta",
  ToolAnswer:
    "type=tool_result! toolUseId! content!:Content[] structuredContent:AnyObject isError _meta",
  "elicitation/create": ["FormAsk", "PageAsk"],
  FormAsk: "mode=form! message! requestedSchema!:Form",
  PageAsk: "mode=url! message! elicitationId! url!",
  Form: "$schema type=object! properties!:Field{} required",
  Field: [
    "Choice",
    "TitledChoice",
    "Choices",
    "StringField",
    "NumberField",
    "IntegerField",
    "BooleanField",
  ],
  StringField: "type=string! title description minLength maxLength format default",
  NumberField: "type=number! title description minimum maximum default",
  IntegerField: "type=integer! title description minimum maximum default",
  BooleanField: "type=boolean! title description default",
  Choice: "type=string! title description enum! enumNames default",
  TitledChoice: "type=string! title description oneOf!:Option[] default",
  Option: "const! title!",
  Choices: "type=array! title description minItems maxItems items!:Items default",
  Items: ["PlainItems", "TitledItems"],
  PlainItems: "type=string! enum!",
  TitledItems: "anyOf!:Option[]",
};

const listsOf: Readonly<Record<LegacyRevision, Lists>> = {
  "2025-03-26": oldest,
  "2025-06-18": middle,
  "2025-11-25": newest,
};

const word = /^([$\w]+)(?:=(\w+))?(!)?(?::(\w+)(\[\?\]|\[\]|\{\})?)?$/;

/** What is wrong with `value` as a `type` of `revision`; empty when nothing is. */
export function findingsOf(
  value: JsonValue | undefined,
  type: string,
  revision: LegacyRevision,
  at = type,
): readonly string[] {
  const list = listsOf[revision][type];
  if (list === undefined) return [`${at}: ${revision} has no ${type}`];
  if (typeof list !== "string") {
    const tried = list.map((member) => findingsOf(value, member, revision, at));
    return tried.some((findings) => findings.length === 0) ? [] : tried.flat();
  }
  if (!isJsonObject(value)) return [`${at} is no object`];
  const names = new Set<string>();
  const findings = list.split(" ").flatMap((field) => {
    const [, name = "", literal, required, inner, many] = word.exec(field) ?? [];
    if (name === "") return [];
    names.add(name);
    const member = value[name];
    if (member === undefined) return required === "!" ? [`${at} lacks ${name}`] : [];
    if (literal !== undefined && member !== literal) return [`${at}.${name} is not ${literal}`];
    if (inner === undefined) return [];
    return partsOf(member, many).flatMap((part) =>
      findingsOf(part, inner, revision, `${at}.${name}`),
    );
  });
  if (list.endsWith("...")) return findings;
  const foreign = Object.keys(value).filter((name) => !names.has(name));
  return [...findings, ...foreign.map((name) => `${at} has ${name}, which ${revision} has not`)];
}

/** The values that the inner type describes; an undefined one is a finding there. */
function partsOf(member: JsonValue, many: string | undefined): readonly (JsonValue | undefined)[] {
  if (many === "{}") return isJsonObject(member) ? Object.values(member) : [undefined];
  if (many === undefined || (many === "[?]" && !Array.isArray(member))) return [member];
  return Array.isArray(member) ? member : [undefined];
}
