/** What lowering leaves alone, and how it stands whatever handlers, authors and clients give it. */
import {
  CancelledNotificationSchema,
  ElicitationCompleteNotificationSchema,
  JSONRPCMessageSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { errorCodes, RepriseError } from "@reprise/errors";
import {
  askRequest,
  cancelledNotification,
  elicitationCompleteNotification,
  elicitFormRequest,
  elicitUrlRequest,
  type JsonObject,
  type JsonValue,
  legacyErrorResponse,
  legacyRevisions,
  liftAnswer,
  listChangedNotification,
  lowerAsk,
  lowerEntries,
  lowerResult,
  type Revision,
  resourceUpdatedNotification,
  rootsRequest,
  unsupportedLegacyVersion,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { columnsOf, kinds, producedFor } from "./goldenFiles.ts";

const all: readonly Revision[] = ["2026-07-28", ...legacyRevisions];

function deepFreeze(value: JsonValue): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member as JsonValue);
}

describe("lowering", () => {
  test("never changes what it is given: a recorded result is sent to clients of several revisions", () => {
    for (const column of kinds.flatMap(columnsOf)) {
      deepFreeze(column.input);
      expect(producedFor(column)).toEqual(column.expected);
    }
  });

  test.each(all)("copies nothing of a plain result on %s", (revision) => {
    const result: JsonObject = { content: [{ type: "text", text: "x".repeat(1000) }] };
    expect(lowerResult("tools/call", result, revision)).toBe(result);
    const read: JsonObject = { contents: [{ uri: "a:b", text: "x" }] };
    expect(lowerResult("resources/read", read, revision)).toBe(read);
  });

  test("on 2026-07-28 is the identity, for results, entries and asks alike", () => {
    const odd: JsonObject = { resultType: "complete", ttlMs: 1, content: 7, structuredContent: 0 };
    expect(lowerResult("tools/call", odd, "2026-07-28")).toBe(odd);
    const entries = [odd];
    expect(lowerEntries("tool", entries, "2026-07-28")).toBe(entries);
    const ask = elicitUrlRequest("Pay", "https://pay.example/1");
    expect(lowerAsk(ask, "2026-07-28")).toEqual({ kind: "ask", ask });
  });

  test("done twice is done once: what was lowered has nothing left to lower", () => {
    for (const revision of legacyRevisions) {
      for (const { input } of columnsOf("toolResults")) {
        const once = lowerResult("tools/call", input, revision);
        expect(lowerResult("tools/call", once, revision)).toBe(once);
      }
    }
  });

  test.each<JsonValue>([
    7,
    null,
    "text",
    [],
    [null, 7, "x", [], {}],
    [{ type: "constructor" }],
    [{ type: "toString", text: "x" }],
    [{ type: 7 }],
    [{ type: "text" }],
    [{ type: "resource", resource: null }],
    [{ type: "resource", resource: [] }],
    [{ type: "image", annotations: "none" }],
  ])("leaves content that no revision knows to the author: %j", (content) => {
    for (const revision of legacyRevisions) {
      expect(lowerResult("tools/call", { content }, revision)).toEqual({ content });
      expect(() => lowerResult("prompts/get", { messages: content }, revision)).not.toThrow();
      expect(() => lowerResult("resources/read", { contents: content }, revision)).not.toThrow();
    }
  });

  test("a link whose members are of the wrong types becomes text all the same", () => {
    const content = [{ type: "resource_link", uri: {}, name: 7, mimeType: [], description: null }];
    expect(lowerResult("tools/call", { content }, "2025-03-26")).toEqual({
      content: [{ type: "text", text: "Resource: " }],
    });
  });

  test("members named like those of prototypes are no known ones", () => {
    const entry: JsonObject = {
      name: "x",
      constructor: 1,
      toString: 2,
      inputSchema: { type: "object" },
    };
    expect(lowerEntries("tool", [entry], "2025-11-25")).toEqual([
      { name: "x", inputSchema: { type: "object" } },
    ]);
  });
});

describe("asks", () => {
  test.each(legacyRevisions)(
    "a field named like a member of a prototype is asked for on %s",
    (revision) => {
      const properties = { constructor: { type: "string" }, toString: { type: "boolean" } };
      const lowered = lowerAsk(elicitFormRequest("?", { type: "object", properties }), revision);
      if (revision === "2025-03-26") expect(lowered.kind).toBe("refused");
      else expect(lowered).toMatchObject({ ask: { params: { requestedSchema: { properties } } } });
    },
  );

  test.each<[string, JsonObject]>([
    ["nothing", {}],
    ["a list of properties", { type: "object", properties: [] }],
    ["a field that is text", { type: "object", properties: { a: "string" } }],
    ["a field of no type", { type: "object", properties: { a: {} } }],
    ["a nested form", { type: "object", properties: { a: { type: "object", properties: {} } } }],
    [
      "options that are numbers",
      { type: "object", properties: { a: { type: "string", enum: [1] } } },
    ],
    [
      "options that are no list",
      { type: "object", properties: { a: { type: "string", oneOf: {} } } },
    ],
    [
      "options without a value",
      { type: "object", properties: { a: { type: "string", oneOf: [{ title: "A" }] } } },
    ],
    [
      "items without options",
      { type: "object", properties: { a: { type: "array", items: { type: "string" } } } },
    ],
    ["no items", { type: "object", properties: { a: { type: "array" } } }],
  ])("a form with %s is refused instead of sent", (_title, schema) => {
    for (const revision of ["2025-11-25", "2025-06-18"] as const) {
      expect(lowerAsk(elicitFormRequest("?", schema), revision)).toMatchObject({
        kind: "refused",
        error: { code: -32602 },
      });
    }
  });

  test("an option without a title is called by its value", () => {
    const properties = { a: { type: "string", oneOf: [{ const: "x" }] } };
    expect(
      lowerAsk(elicitFormRequest("?", { type: "object", properties }), "2025-06-18"),
    ).toMatchObject({
      ask: {
        params: { requestedSchema: { properties: { a: { enum: ["x"], enumNames: ["x"] } } } },
      },
    });
  });

  test("a page without an id is a mistake of ours on 2025-11-25, where clients refuse it", () => {
    const ask = elicitUrlRequest("Pay", "https://pay.example/1");
    expect(() => lowerAsk(ask, "2025-11-25")).toThrow(TypeError);
    expect(lowerAsk(ask, "2025-06-18", "el-1").kind).toBe("refused");
  });

  test("messages of a completion that are none are left to the client to refuse", () => {
    for (const messages of [
      7,
      null,
      [7, null, {}],
      [{ role: "user" }],
      [{ role: "user", content: [] }],
    ]) {
      const ask = { method: "sampling/createMessage", params: { messages, maxTokens: 1 } } as const;
      for (const revision of legacyRevisions) {
        expect(lowerAsk(ask as never, revision)).toMatchObject({ kind: "ask" });
      }
    }
  });

  test.each(["a.b.1", 'quote"', 0])("go out as requests with the id %j", (id) => {
    expect(JSON.parse(askRequest(id, rootsRequest()))).toEqual({
      jsonrpc: "2.0",
      id,
      method: "roots/list",
    });
    const form = askRequest(id, elicitFormRequest("?", { type: "object", properties: {} }));
    expect(JSONRPCMessageSchema.safeParse(JSON.parse(form)).success).toBe(true);
    expect(form).not.toContain("\n");
  });
});

describe("answers", () => {
  const response = (result: JsonObject) => ({ kind: "response", id: "a", result }) as const;

  test("keep what the runtime reads, and nothing that would make two equal answers differ", () => {
    const noise = { _meta: { at: 1 }, task: {}, resultType: "complete" };
    expect(
      liftAnswer(
        "elicitation/create",
        response({ action: "accept", content: { a: ["x"] }, ...noise }),
      ),
    ).toEqual({ kind: "result", result: { action: "accept", content: { a: ["x"] } } });
    expect(liftAnswer("roots/list", response({ roots: [{ uri: "file:///a" }], ...noise }))).toEqual(
      {
        kind: "result",
        result: { roots: [{ uri: "file:///a" }] },
      },
    );
  });

  test.each([[{ type: "text", text: "Short." }], [[{ type: "text", text: "Short." }]]])(
    "of a model come as one block or as a list, as 2026-07-28 allows: %j",
    (content) => {
      const result = { role: "assistant", content, model: "m", stopReason: "endTurn" };
      expect(liftAnswer("sampling/createMessage", response(result as JsonObject))).toEqual({
        kind: "result",
        result,
      });
    },
  );

  test.each<JsonObject>([{}, { action: 7 }, { constructor: {} }, { content: null }])(
    "that make no sense are left to the runtime, which asks again: %j",
    (result) => {
      const lifted = liftAnswer("elicitation/create", response(result));
      expect(lifted.kind).toBe("result");
      expect(Object.getPrototypeOf(lifted.kind === "result" && lifted.result)).toBe(
        Object.prototype,
      );
    },
  );

  test("never take a member from a prototype", () => {
    const result = Object.create({ action: "accept" }) as JsonObject;
    expect(liftAnswer("elicitation/create", response(result))).toEqual({
      kind: "result",
      result: {},
    });
  });

  test("that are errors keep code and words, as many as a record can bear", () => {
    const error = { code: -1, message: "n".repeat(100_000) };
    const lifted = liftAnswer("sampling/createMessage", { kind: "response", id: "a", error });
    expect(lifted).toEqual({ kind: "error", error: { code: -1, message: "n".repeat(500) } });
  });
});

describe("errors", () => {
  test.each(errorCodes)("%s is a response of the era, without the codes of another", (code) => {
    for (const method of [undefined, "tools/call", "resources/read"]) {
      const reply = legacyErrorResponse(new RepriseError(code, "what happened"), 7, method);
      const body = JSON.parse(reply.body) as { error?: { code: number } };
      expect(JSONRPCMessageSchema.safeParse(body).success).toBe(true);
      expect([-32020, -32021, -32022, -32042]).not.toContain(body.error?.code);
      expect(reply.status).toBeGreaterThanOrEqual(200);
    }
  });

  test("without an id has none, also for a tool whose call could not be read", () => {
    for (const code of ["PARSE_ERROR", "MISSING_CAPABILITY"] as const) {
      const { body } = legacyErrorResponse(new RepriseError(code, "No."), undefined, "tools/call");
      const read = JSON.parse(body) as object;
      expect(read).not.toHaveProperty("id");
      expect(read).toHaveProperty("error");
    }
  });

  test("a version header that nobody serves is told what is, and quoted no further than it helps", () => {
    const error = unsupportedLegacyVersion("9".repeat(10_000));
    const reply = legacyErrorResponse(error, 1, "tools/list");
    expect(reply.status).toBe(400);
    expect(reply.body.length).toBeLessThan(500);
    expect(JSON.parse(reply.body)).toMatchObject({
      error: { code: -32602, data: { supported: [...legacyRevisions] } },
    });
  });

  test("causes stay here", () => {
    const cause = new Error("password=hunter2");
    const error = new RepriseError("STORE_UNAVAILABLE", "later", { cause });
    expect(legacyErrorResponse(error, 1, "tools/call").body).not.toContain("hunter2");
  });
});

describe("notifications", () => {
  test.each([
    [listChangedNotification("tools"), ToolListChangedNotificationSchema],
    [listChangedNotification("prompts"), PromptListChangedNotificationSchema],
    [listChangedNotification("resources"), ResourceListChangedNotificationSchema],
    [resourceUpdatedNotification("shop://report"), ResourceUpdatedNotificationSchema],
    [cancelledNotification("run.ask.1", "the call ended"), CancelledNotificationSchema],
    [elicitationCompleteNotification("el-1"), ElicitationCompleteNotificationSchema],
  ])("%s is one of the era, on one line", (text, schema) => {
    expect(text).not.toContain("\n");
    expect(schema.safeParse(JSON.parse(text)).success).toBe(true);
  });
});
