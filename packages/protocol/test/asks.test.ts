import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/core";
import {
  type AskWire,
  elicitFormRequest,
  elicitUrlRequest,
  missingCapabilities,
  missingNeeds,
  rootsRequest,
  sampleRequest,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const form = elicitFormRequest("Delete build/?", {
  type: "object",
  properties: { confirm: { type: "boolean" } },
  required: ["confirm"],
});
const url = elicitUrlRequest("Sign in", "https://pay.example/1");
const sample = sampleRequest({ messages: [], maxTokens: 10 });

describe("asks on the wire", () => {
  test("a confirm is byte for byte the JSON of the seed page", () => {
    expect(JSON.stringify(form)).toBe(
      '{"method":"elicitation/create","params":{"mode":"form","message":"Delete build/?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}}}',
    );
  });

  test("a URL ask carries no elicitationId, which revision 2026-07-28 removed", () => {
    expect(url).toEqual({
      method: "elicitation/create",
      params: { mode: "url", message: "Sign in", url: "https://pay.example/1" },
    });
  });

  test("the official schemas accept all of them", () => {
    expect(ElicitRequestSchema.safeParse(form).success).toBe(true);
    expect(CreateMessageRequestSchema.safeParse(sample).success).toBe(true);
    expect(ListRootsRequestSchema.safeParse(rootsRequest()).success).toBe(true);
  });
});

describe("capabilities that asks need", () => {
  const cases: [string, AskWire, object, object | undefined][] = [
    ["a form with elicitation {}", form, { elicitation: {} }, undefined],
    ["a form with form mode", form, { elicitation: { form: {} } }, undefined],
    [
      "a form with URL mode only",
      form,
      { elicitation: { url: {} } },
      { elicitation: { form: {} } },
    ],
    ["a form without elicitation", form, {}, { elicitation: { form: {} } }],
    [
      "a form with form: false",
      form,
      { elicitation: { form: false } },
      { elicitation: { form: {} } },
    ],
    ["a URL with elicitation {}", url, { elicitation: {} }, { elicitation: { url: {} } }],
    ["a URL with URL mode", url, { elicitation: { url: {} } }, undefined],
    ["a URL with form mode only", url, { elicitation: { form: {} } }, { elicitation: { url: {} } }],
    ["sampling with sampling", sample, { sampling: {} }, undefined],
    ["sampling without", sample, { elicitation: {} }, { sampling: {} }],
    [
      "sampling with tools where tools are not declared",
      sampleRequest({ messages: [], maxTokens: 1, tools: [] }),
      { sampling: {} },
      { sampling: { tools: {} } },
    ],
    [
      "sampling with a tool choice where tools are declared",
      sampleRequest({ messages: [], maxTokens: 1, toolChoice: { mode: "auto" } }),
      { sampling: { tools: {} } },
      undefined,
    ],
    [
      "sampling with this server's context where context is not declared",
      sampleRequest({ messages: [], maxTokens: 1, includeContext: "thisServer" }),
      { sampling: {} },
      { sampling: { context: {} } },
    ],
    [
      "sampling with no context",
      sampleRequest({ messages: [], maxTokens: 1, includeContext: "none" }),
      { sampling: {} },
      undefined,
    ],
    ["roots with roots", rootsRequest(), { roots: {} }, undefined],
    ["roots without", rootsRequest(), { roots: true }, { roots: {} }],
  ];
  test.each(cases)("%s", (_title, ask, capabilities, missing) => {
    expect(missingCapabilities(ask, capabilities as Record<string, never>)).toEqual(missing);
  });

  test("needs name all that is missing at once, modes included", () => {
    const needs = {
      elicitation: { form: true, url: true },
      sampling: { tools: true },
      roots: true,
    };
    expect(missingNeeds(needs, { elicitation: {} })).toEqual({
      elicitation: { url: {} },
      sampling: { tools: {} },
      roots: {},
    });
  });

  test("needs that are met, absent or false are no obstacle", () => {
    expect(missingNeeds(undefined, {})).toBeUndefined();
    expect(missingNeeds({ elicitation: false, sampling: false, roots: false }, {})).toBeUndefined();
    expect(missingNeeds({ elicitation: true }, { elicitation: {} })).toBeUndefined();
  });
});
