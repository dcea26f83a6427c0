/** Parameters that only the handshake era has, friendly and hostile. */
import {
  clientCapabilities,
  elicitFormRequest,
  elicitUrlRequest,
  type JsonObject,
  type LegacyRevision,
  logLevels,
  missingCapabilities,
  readCancelled,
  readInitialize,
  readProgressToken,
  readSetLevel,
  readSubscription,
  sampleRequest,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const refused = expect.objectContaining({ code: "INVALID_PARAMS" });

describe("initialize", () => {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { roots: { listChanged: true } },
    clientInfo: { name: "host", version: "1.0.0", title: "Host", icons: [] },
  };

  test("gives what the client asks for, can do and is", () => {
    expect(readInitialize(params)).toEqual({
      requested: "2025-11-25",
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: "host", version: "1.0.0" },
    });
  });

  test.each<[string, object | undefined]>([
    ["no parameters", undefined],
    ["no version", { ...params, protocolVersion: undefined }],
    ["a number as version", { ...params, protocolVersion: 20251125 }],
    ["no capabilities", { ...params, capabilities: undefined }],
    ["a list of capabilities", { ...params, capabilities: [] }],
    ["no clientInfo", { ...params, clientInfo: undefined }],
    ["a client without a name", { ...params, clientInfo: { version: "1" } }],
    ["a client whose version is a number", { ...params, clientInfo: { name: "x", version: 1 } }],
  ])("with %s is refused", (_title, wrong) => {
    expect(() => readInitialize(wrong as JsonObject | undefined)).toThrow(refused);
  });

  test("keeps so little that a session id stays small, whatever the client sends", () => {
    const hostile: JsonObject = {
      protocolVersion: "2025-11-25",
      capabilities: {
        elicitation: { form: { x: "x".repeat(10_000) }, url: {}, constructor: {} },
        sampling: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, {}])),
        experimental: { x: "x".repeat(100_000) },
      },
      clientInfo: { name: "n".repeat(100_000), version: "v".repeat(100_000) },
    };
    const read = readInitialize(hostile);
    const kept = {
      info: read.clientInfo,
      capabilities: clientCapabilities(read.capabilities, "2025-11-25"),
    };
    expect(JSON.stringify(kept).length).toBeLessThan(400);
  });
});

describe("what asks a client takes", () => {
  const form = elicitFormRequest("Yes?", { type: "object", properties: {} });
  const url = elicitUrlRequest("Pay", "https://pay.example/1");
  const context = sampleRequest({ messages: [], maxTokens: 1, includeContext: "thisServer" });
  const tools = sampleRequest({ messages: [], maxTokens: 1, tools: [] });

  test.each<[string, typeof form, JsonObject, LegacyRevision, JsonObject | undefined]>([
    ["forms with elicitation {}", form, { elicitation: {} }, "2025-11-25", undefined],
    ["forms with elicitation {}", form, { elicitation: {} }, "2025-06-18", undefined],
    ["no forms", form, { elicitation: {} }, "2025-03-26", { elicitation: { form: {} } }],
    [
      "no forms where only pages are declared",
      form,
      { elicitation: { url: {} } },
      "2025-11-25",
      { elicitation: { form: {} } },
    ],
    [
      "no forms where they are declared false",
      form,
      { elicitation: { form: false } },
      "2025-11-25",
      { elicitation: { form: {} } },
    ],
    ["pages", url, { elicitation: { url: {} } }, "2025-11-25", undefined],
    [
      "no pages with elicitation {}",
      url,
      { elicitation: {} },
      "2025-11-25",
      { elicitation: { url: {} } },
    ],
    [
      "no pages, though declared",
      url,
      { elicitation: { url: {} } },
      "2025-06-18",
      { elicitation: { url: {} } },
    ],
    ["context without a word on it", context, { sampling: {} }, "2025-06-18", undefined],
    [
      "no context without a word on it",
      context,
      { sampling: {} },
      "2025-11-25",
      { sampling: { context: {} } },
    ],
    [
      "no tools, though declared",
      tools,
      { sampling: { tools: {} } },
      "2025-06-18",
      { sampling: { tools: {} } },
    ],
    ["tools", tools, { sampling: { tools: {} } }, "2025-11-25", undefined],
    [
      "nothing that its prototype declares",
      form,
      Object.create({ elicitation: {} }) as JsonObject,
      "2025-03-26",
      { elicitation: { form: {} } },
    ],
  ])("%s (%#)", (_title, ask, declared, revision, missing) => {
    expect(missingCapabilities(ask, clientCapabilities(declared, revision))).toEqual(missing);
  });
});

describe("cancellation", () => {
  test("names a request, and why", () => {
    expect(readCancelled({ requestId: 0, reason: "changed my mind" })).toEqual({
      requestId: 0,
      reason: "changed my mind",
    });
    expect(readCancelled({ requestId: "" })).toEqual({ requestId: "", reason: undefined });
  });

  test.each<[string, object | undefined]>([
    ["nothing", undefined],
    ["no id", {}],
    ["a null id", { requestId: null }],
    ["a float", { requestId: 1.5 }],
    ["an object", { requestId: {} }],
  ])("with %s is ignored, not refused", (_title, params) => {
    expect(readCancelled(params as JsonObject | undefined)).toBeUndefined();
  });

  test("keeps of a reason what a log can bear", () => {
    expect(readCancelled({ requestId: 1, reason: "x".repeat(100_000) })?.reason).toHaveLength(500);
    expect(readCancelled({ requestId: 1, reason: 7 })?.reason).toBeUndefined();
  });
});

describe("levels, subscriptions and progress", () => {
  test.each(logLevels)("%s is a level", (level) => {
    expect(readSetLevel({ level })).toBe(level);
  });

  test.each<unknown>([undefined, "INFO", "verbose", 3, ["info"], "constructor"])(
    "%j is none",
    (level) => {
      expect(() => readSetLevel({ level } as JsonObject)).toThrow(refused);
    },
  );

  test("a subscription names a URI of bounded length", () => {
    expect(readSubscription({ uri: "shop://report" })).toBe("shop://report");
    for (const uri of [undefined, "", 7, {}, `x:${"x".repeat(2048)}`]) {
      expect(() => readSubscription({ uri } as JsonObject)).toThrow(refused);
    }
    expect(() => readSubscription(undefined)).toThrow(refused);
  });

  test("a progress token is a string or an integer, or not there", () => {
    expect(readProgressToken(undefined)).toBeUndefined();
    expect(readProgressToken({ _meta: {} })).toBeUndefined();
    expect(readProgressToken({ _meta: { progressToken: 0 } })).toBe(0);
    expect(readProgressToken({ _meta: { progressToken: "t" } })).toBe("t");
    for (const _meta of [null, [], "x", { progressToken: 1.5 }, { progressToken: null }]) {
      expect(() => readProgressToken({ _meta } as unknown as JsonObject)).toThrow(refused);
    }
  });
});
