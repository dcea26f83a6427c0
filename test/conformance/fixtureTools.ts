/**
 * The fixture's tools that ask nothing, with the names and behaviours that the conformance suite looks for.
 *
 * The first one takes no arguments: the suite's header scenario calls whatever tool is listed first with `{}`.
 * All are left at `effects: "once"`, so that the suite measures the durable path.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ContentBlock, type ToolDefinition, tool } from "reprise";
import { pngBase64, wavBase64 } from "./fixtureMedia.ts";

const progressPauseMs = 50;

const simpleText = tool({
  name: "test_simple_text",
  description: "Returns one text item",
  handler: () => "A simple text.",
});

const image = tool({
  name: "test_image_content",
  description: "Returns an image",
  handler: (): ContentBlock => ({ type: "image", data: pngBase64, mimeType: "image/png" }),
});

const audio = tool({
  name: "test_audio_content",
  description: "Returns a sound",
  handler: (): ContentBlock => ({ type: "audio", data: wavBase64, mimeType: "audio/wav" }),
});

const embeddedResource = tool({
  name: "test_embedded_resource",
  description: "Returns a resource inside the result",
  handler: (): ContentBlock => ({
    type: "resource",
    resource: { uri: "test://embedded", mimeType: "text/plain", text: "An embedded resource." },
  }),
});

const multipleContentTypes = tool({
  name: "test_multiple_content_types",
  description: "Returns a text, an image and a resource",
  handler: (): ContentBlock[] => [
    { type: "text", text: "Three kinds of content:" },
    { type: "image", data: pngBase64, mimeType: "image/png" },
    {
      type: "resource",
      resource: { uri: "test://mixed", mimeType: "application/json", text: '{"mixed":true}' },
    },
  ],
});

const errorHandling = tool({
  name: "test_error_handling",
  description: "Throws",
  handler: () => {
    throw new Error("This tool throws on purpose");
  },
});

const progress = tool({
  name: "test_tool_with_progress",
  description: "Reports progress three times",
  async handler(_args, ctx) {
    for (const done of [0, 50, 100]) {
      ctx.progress(done, 100, `${done} of 100`);
      await delay(progressPauseMs);
    }
    return "Progress was reported.";
  },
});

const logging = tool({
  name: "test_logging_tool",
  description: "Logs when the request asked for it",
  handler(_args, ctx) {
    ctx.log("info", "test_logging_tool ran");
    return "Logged.";
  },
});

const streamingElicitation = tool({
  name: "test_streaming_elicitation",
  description: "Ends at once; its stream must carry no request of the server",
  handler: () => "No request was sent.",
});

const headerEcho = tool({
  name: "test_x_mcp_header",
  description: "Echoes the region that also travels as a header",
  input: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
  },
  handler: ({ region }) => `Region: ${typeof region === "string" ? region : "none"}`,
});

/** Published verbatim: the suite compares the JSON Schema 2020-12 keywords one by one. */
const schema2020 = tool({
  name: "json_schema_2020_12_tool",
  description: "Has an input schema with the keywords of JSON Schema 2020-12",
  input: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; the object is never awaited.
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  handler: () => "The arguments fit the schema.",
});

/** In the order of tools/list. */
export const plainTools: readonly ToolDefinition[] = [
  simpleText,
  image,
  audio,
  embeddedResource,
  multipleContentTypes,
  errorHandling,
  progress,
  logging,
  streamingElicitation,
  headerEcho,
  schema2020,
];
