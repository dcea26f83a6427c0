/**
 * The golden columns themselves are right: 2025-11-25 by the schemas of the official SDK of that era, which reads every
 * member and must drop none; all three legacy revisions by lists of fields written from their schema.ts.
 */
import {
  CallToolResultSchema,
  CompleteResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  GetPromptResultSchema,
  InitializeResultSchema,
  JSONRPCMessageSchema,
  ListRootsRequestSchema,
  PromptSchema,
  ReadResourceResultSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject, type LegacyRevision } from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { findingsOf } from "./fieldLists.ts";
import { columnsOf, type GoldenColumn, kinds } from "./goldenFiles.ts";

/** Enough of a zod schema to ask it. */
interface Judge {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: unknown } | { readonly success: false };
}

/** The official schema and the list of fields of a kind. */
const judges: Readonly<Record<string, { readonly official: Judge; readonly list: string }>> = {
  initialize: { official: InitializeResultSchema, list: "InitializeResult" },
  tools: { official: ToolSchema, list: "Tool" },
  prompts: { official: PromptSchema, list: "Prompt" },
  resources: { official: ResourceSchema, list: "Resource" },
  resourceTemplates: { official: ResourceTemplateSchema, list: "ResourceTemplate" },
  toolResults: { official: CallToolResultSchema, list: "CallToolResult" },
  promptResults: { official: GetPromptResultSchema, list: "GetPromptResult" },
  readResults: { official: ReadResourceResultSchema, list: "ReadResourceResult" },
  completions: { official: CompleteResultSchema, list: "CompleteResult" },
};

const askJudges: Readonly<Record<string, Judge>> = {
  "elicitation/create": ElicitRequestSchema,
  "sampling/createMessage": CreateMessageRequestSchema,
  "roots/list": ListRootsRequestSchema,
};

/**
 * Members that schema.ts has and the SDK's schemas drop: titles of prompt arguments (they extend BaseMetadata) and the
 * dialect of a form.
 */
function asSdkHasIt(value: JsonObject): unknown {
  const { arguments: args, params } = value;
  if (Array.isArray(args)) {
    return { ...value, arguments: args.map((arg: JsonObject) => ({ ...arg, title: undefined })) };
  }
  if (!isJsonObject(params) || !isJsonObject(params["requestedSchema"])) return value;
  const requestedSchema = { ...params["requestedSchema"], $schema: undefined };
  return { ...value, params: { ...params, requestedSchema } };
}

type LegacyColumn = GoldenColumn & { readonly revision: LegacyRevision };
const legacyColumns = (kind: string): LegacyColumn[] =>
  columnsOf(kind).filter((column): column is LegacyColumn => column.revision !== "2026-07-28");

function expectWhole(judge: Judge, value: JsonObject): void {
  const parsed = judge.safeParse(value);
  expect(parsed.success && parsed.data).toEqual(asSdkHasIt(value));
}

describe.each(Object.keys(judges))("%s", (kind) => {
  const judge = judges[kind];
  test.each(legacyColumns(kind).map((column) => [column.title, column.revision, column] as const))(
    "%s, on %s",
    (_title, revision, { expected }) => {
      expect(findingsOf(expected, judge?.list ?? "", revision)).toEqual([]);
      if (revision === "2025-11-25" && judge !== undefined) expectWhole(judge.official, expected);
    },
  );
});

describe("asks", () => {
  const sent = legacyColumns("asks").filter(({ expected }) => expected["refused"] === undefined);
  test.each(sent.map((column) => [column.title, column.revision, column] as const))(
    "%s, on %s",
    (_title, revision, { expected }) => {
      const method = expected["method"] as string;
      if (method !== "roots/list") {
        expect(findingsOf(expected["params"], method, revision)).toEqual([]);
      }
      if (revision !== "2025-11-25") return;
      const judge = askJudges[method];
      expect(judge).toBeDefined();
      if (judge !== undefined) expectWhole(judge, expected);
    },
  );
});

describe("errors and refused arguments", () => {
  const columns = [...legacyColumns("errors"), ...legacyColumns("arguments")];
  test.each(columns.map((column) => [column.title, column.revision, column] as const))(
    "%s, on %s, is a response",
    (_title, _revision, { expected }) => {
      const { status: _, ...rest } = expected;
      const message = { jsonrpc: "2.0", id: 7, ...rest };
      expect(JSONRPCMessageSchema.safeParse(message)).toMatchObject({ success: true });
    },
  );

  test("no code of 2026-07-28 alone and no -32042 is among them", () => {
    const codes = columns.map(
      ({ expected }) => (expected["error"] as JsonObject | undefined)?.["code"],
    );
    for (const code of [-32020, -32021, -32022, -32042]) expect(codes).not.toContain(code);
  });
});

test("every kind of golden file is judged", () => {
  const others = ["arguments", "asks", "capabilities", "errors"];
  expect([...Object.keys(judges), ...others].toSorted()).toEqual(kinds);
});

describe("the lists of fields", () => {
  const tool = columnsOf("tools").find((column) => column.revision === "2026-07-28")?.expected;
  test.each([
    ["2025-06-18", "Tool has icons, which 2025-06-18 has not"],
    ["2025-03-26", "Tool has outputSchema, which 2025-03-26 has not"],
  ] as const)("refuse on %s what that revision lacks", (revision, finding) => {
    expect(findingsOf(tool, "Tool", revision)).toContain(finding);
  });

  test("refuse what lacks a required field, at any depth", () => {
    const result = { content: [{ type: "resource", resource: { uri: "a:b" } }] };
    expect(findingsOf(result, "CallToolResult", "2025-06-18")).toContain(
      "CallToolResult.content.resource lacks text",
    );
    expect(findingsOf({}, "Prompt", "2025-03-26")).toEqual(["Prompt lacks name"]);
  });

  test("refuse an ask that the revision does not have", () => {
    expect(findingsOf({}, "elicitation/create", "2025-03-26")).toEqual([
      "elicitation/create: 2025-03-26 has no elicitation/create",
    ]);
  });
});
