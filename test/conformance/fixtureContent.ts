/**
 * The fixture's prompts and resources, with the names, URIs and texts that the conformance suite looks for.
 */
import {
  type PromptDefinition,
  prompt,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
  resource,
  resourceTemplate,
} from "reprise";
import * as z from "zod";
import { pngBase64 } from "./fixtureMedia.ts";

/** In the order of prompts/list. */
export const prompts: readonly PromptDefinition[] = [
  prompt({
    name: "test_simple_prompt",
    description: "One message without arguments",
    handler: () => "A simple prompt.",
  }),
  prompt({
    name: "test_prompt_comes_and_goes",
    description: "Is switched off and on",
    handler: () => "Here.",
  }),
  prompt({
    name: "test_prompt_with_arguments",
    description: "Shows its two arguments",
    input: z.object({ arg1: z.string(), arg2: z.string() }),
    complete: {
      arg1: (value) => ["paris", "park", "party"].filter((each) => each.startsWith(value)),
    },
    handler: ({ arg1, arg2 }) => `The arguments are '${arg1}' and '${arg2}'.`,
  }),
  prompt({
    name: "test_prompt_with_embedded_resource",
    description: "Carries a resource in its message",
    input: z.object({ resourceUri: z.string() }),
    handler: ({ resourceUri }) => [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "An embedded resource." },
        },
      },
      { role: "user", content: { type: "text", text: "Use the resource above." } },
    ],
  }),
  prompt({
    name: "test_prompt_with_image",
    description: "Carries an image in its message",
    handler: () => [
      { role: "user", content: { type: "image", data: pngBase64, mimeType: "image/png" } },
      { role: "user", content: { type: "text", text: "Describe the image above." } },
    ],
  }),
  prompt({
    name: "test_input_required_result_prompt",
    description: "Asks for its context",
    async handler(_args, ctx) {
      const reply = await ctx.elicit(
        "What context should the prompt use?",
        z.object({ context: z.string() }),
        { key: "user_context" },
      );
      return reply.action === "accept" ? `Context: ${reply.content.context}` : "No context.";
    },
  }),
];

/** In the order of resources/list. */
export const resources: readonly ResourceDefinition[] = [
  resource({
    uri: "test://static-text",
    name: "static text",
    description: "A text that never changes",
    mimeType: "text/plain",
    handler: () => "The content of the static text resource.",
  }),
  resource({
    uri: "test://static-binary",
    name: "static binary",
    description: "An image that never changes",
    mimeType: "image/png",
    handler: () => Buffer.from(pngBase64, "base64"),
  }),
  resource({
    uri: "test://watched-resource",
    name: "watched resource",
    description: "A text that clients of older revisions subscribe to",
    mimeType: "text/plain",
    handler: () => "The content of the watched resource.",
  }),
];

/** In the order of resources/templates/list. */
export const resourceTemplates: readonly ResourceTemplateDefinition[] = [
  resourceTemplate({
    uriTemplate: "test://template/{id}/data",
    name: "data by id",
    description: "JSON that names the id",
    mimeType: "application/json",
    handler: ({ id }) => JSON.stringify({ id, data: `Data of ${id}` }),
  }),
];
