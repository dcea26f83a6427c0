import {
  prompt,
  resource,
  resourceTemplate,
  type ServerDefinition,
  type ToolDefinition,
  tool,
} from "@reprise/runtime";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { startHarness } from "./support/harness.ts";

const description = "d";
const handler = (): string => "x";
const catalogOf = (server: Partial<ServerDefinition>) => startHarness(server).runtime.catalog;
const one = (options: Partial<ToolDefinition>) =>
  catalogOf({ tools: [{ name: "t", description, handler, ...options }] }).tools[0];

describe("once or repeatable", () => {
  // promise P4.1.1, P4.1.2, P4.1.3
  test.each([
    ["a tool", {}, "once", "default for tools"],
    ["a read-only tool", { annotations: { readOnlyHint: true } }, "repeatable", "readOnlyHint"],
    ["an idempotent tool", { annotations: { idempotentHint: true } }, "once", "default for tools"],
    [
      "a read-only tool with a key",
      { annotations: { readOnlyHint: true }, idempotency: { key: () => "k" } },
      "once",
      "it has an idempotency key",
    ],
    ["a declared tool", { effects: "repeatable" }, "repeatable", "declared"],
    [
      "a read-only tool that declares once",
      { annotations: { readOnlyHint: true }, effects: "once" },
      "once",
      "declared",
    ],
  ] as readonly (readonly [string, Partial<ToolDefinition>, string, string])[])(
    "%s with %j is %s: %s",
    (_name, options, effects, effectsReason) => {
      expect(one(options)?.handler).toMatchObject({ effects, effectsReason });
    },
  );

  // promise P4.1.1
  test("prompts and resources are repeatable by default", () => {
    const catalog = catalogOf({
      prompts: [prompt({ name: "p", description, handler })],
      resources: [resource({ uri: "a://b", name: "r", handler })],
      resourceTemplates: [resourceTemplate({ uriTemplate: "a://b/{id}", name: "rt", handler })],
    });
    const all = [...catalog.prompts, ...catalog.resources, ...catalog.resourceTemplates];
    expect(all.map((entry) => entry.handler.effects)).toEqual([
      "repeatable",
      "repeatable",
      "repeatable",
    ]);
  });
});

describe("definitions that can't be used", () => {
  const dup = tool({ name: "t", description, handler });
  test.each([
    ["two tools of one name", { tools: [dup, dup] }, '"t"'],
    [
      "a name with a blank",
      { tools: [tool({ name: "my tool", description, handler })] },
      "my tool",
    ],
    [
      "a name that is too long",
      { tools: [tool({ name: "x".repeat(129), description, handler })] },
      "x",
    ],
    [
      "a key on a repeatable tool",
      {
        tools: [
          tool({
            name: "t",
            description,
            handler,
            effects: "repeatable",
            idempotency: { key: () => "k" },
          }),
        ],
      },
      "repeatable",
    ],
    [
      "arguments that are no object",
      { tools: [tool({ name: "t", description, handler, input: { type: "string" } })] },
      '"t"',
    ],
    [
      "a broken JSON Schema",
      {
        tools: [tool({ name: "t", description, handler, input: { type: "object", required: 5 } })],
      },
      '"t"',
    ],
    [
      "an external $ref",
      {
        tools: [
          tool({
            name: "t",
            description,
            handler,
            input: { type: "object", properties: { a: { $ref: "https://a.example/s.json" } } },
          }),
        ],
      },
      '"t"',
    ],
    [
      "a resource without an absolute URI",
      { resources: [resource({ uri: "/x", name: "r", handler })] },
      "/x",
    ],
  ] as readonly (readonly [string, Partial<ServerDefinition>, string])[])(
    "%s is DEFINITION_INVALID at start and named",
    (_name, server, named) => {
      expect(() => catalogOf(server)).toThrow(
        expect.objectContaining({
          code: "DEFINITION_INVALID",
          message: expect.stringContaining(named) as string,
        }) as Error,
      );
    },
  );

  test("a schema that can't become JSON Schema says what to install", () => {
    const foreign = {
      "~standard": { version: 1, vendor: "oldlib", validate: (value: unknown) => ({ value }) },
    } as const;
    expect(() => one({ input: foreign })).toThrow(
      expect.objectContaining({
        code: "SCHEMA_UNSUPPORTED",
        message: expect.stringMatching(/oldlib.*install/) as string,
      }) as Error,
    );
  });
});

describe("arguments", () => {
  test("a Standard Schema gives its defaults and transformations to the handler", async () => {
    const entry = one({
      input: z.object({ n: z.number().default(3), s: z.string().transform((text) => text.length) }),
    });
    expect(await entry?.handler.checkArgs({ s: "four" })).toEqual({
      ok: true,
      args: { n: 3, s: 4 },
    });
  });

  test("what is wrong with them is one line that names the argument", async () => {
    const entry = one({ input: z.object({ at: z.object({ n: z.number() }) }) });
    expect(await entry?.handler.checkArgs({ at: { n: "x" } })).toEqual({
      ok: false,
      message: expect.stringMatching(/^at\.n: /) as string,
    });
  });

  test("plain JSON Schema is published as it is, and judges them", async () => {
    const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const entry = one({ input });
    expect(entry?.wire).toMatchObject({ name: "t", inputSchema: input });
    expect(await entry?.handler.checkArgs({ n: 1.5 })).toMatchObject({ ok: false });
    expect(await entry?.handler.checkArgs({ n: 1 })).toEqual({ ok: true, args: { n: 1 } });
  });

  test("a tool without input takes none", async () => {
    expect(await one({})?.handler.checkArgs(undefined)).toMatchObject({ ok: true });
    expect(await one({})?.handler.checkArgs({ extra: 1 })).toMatchObject({ ok: false });
  });
});

test("a union of objects is published as an object, as the protocol wants it", async () => {
  const input = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("id"), id: z.string() }),
    z.object({ kind: z.literal("all") }),
  ]);
  const found = one({ input });
  expect(found?.wire["inputSchema"]).toMatchObject({ type: "object", oneOf: expect.any(Array) });
  expect(await found?.handler.checkArgs({ kind: "all" })).toMatchObject({ ok: true });
  expect(await found?.handler.checkArgs({ kind: "id" })).toMatchObject({ ok: false });
  expect(() => one({ input: z.union([z.object({}), z.string()]) })).toThrow(
    /must describe an object/,
  );
});

test("a format that nobody knows is an annotation, and nothing is written to the console", () => {
  const warn = vi.spyOn(console, "warn");
  one({ input: { type: "object", properties: { a: { type: "string", format: "odd" } } } });
  expect(warn).not.toHaveBeenCalled();
});

describe("arguments that a model must mend", () => {
  test.each([
    [{ other: 1 }, '"other"'],
    [{ kind: "c" }, '"a", "b"'],
  ])("%j against plain JSON Schema is refused with %s in the words", async (args, words) => {
    const input = {
      type: "object",
      properties: { kind: { enum: ["a", "b"] } },
      additionalProperties: false,
    } as const;
    expect(await one({ input })?.handler.checkArgs(args)).toMatchObject({
      ok: false,
      message: expect.stringContaining(words),
    });
  });
});

describe("header annotations", () => {
  const annotated = { type: "string", "x-mcp-header": "Region" } as const;

  test.each([
    ["items", { list: { type: "array", items: annotated } }],
    ["anyOf", { place: { anyOf: [annotated] } }],
    [
      "items' properties",
      { list: { items: { type: "object", properties: { place: annotated } } } },
    ],
  ])(
    "one below %s is an error at start, because clients would drop the tool",
    (_at, properties) => {
      expect(() => one({ input: { type: "object", properties } })).toThrow(
        expect.objectContaining({ code: "DEFINITION_INVALID" }),
      );
    },
  );

  test("a property or a default of that name is none", () => {
    const properties = {
      "x-mcp-header": { type: "string" },
      region: { ...annotated, default: { "x-mcp-header": "" } },
    };
    expect(one({ input: { type: "object", properties } })?.handler.headerParams).toHaveLength(1);
  });
});

describe("looking things up", () => {
  const catalog = catalogOf({
    tools: [tool({ name: "t", description, handler })],
    resources: [resource({ uri: "a://users/me", name: "me", handler })],
    resourceTemplates: [
      resourceTemplate({
        uriTemplate: "a://users/{id}",
        name: "user",
        handler,
        complete: { id: () => ["ann"] },
      }),
    ],
  });

  test.each(["__proto__", "constructor", "T", ""])("no tool is called %j", (name) => {
    expect(catalog.findTool(name)).toBeUndefined();
  });

  test("a fixed resource comes before a template, which gives its variables", () => {
    expect(catalog.findResource("a://users/me")?.handler.kind).toBe("resource");
    expect(catalog.findResource("a://users/ann")).toMatchObject({
      args: { id: "ann", uri: "a://users/ann" },
    });
    expect(catalog.findResource("a://nobody/ann")).toBeUndefined();
  });

  test.each([
    ["a://x", {}],
    ["a://x?", {}],
    ["a://x?to=%26", { to: "&" }],
    ["a://x?to=2&from=1", { from: "1", to: "2" }],
    ["a://x?from=a=b", { from: "a=b" }],
    ["a://x?from=1&from=2", undefined],
    ["a://x?other=1", undefined],
    ["a://x?from=%zz", undefined],
    ["a://y?from=1", undefined],
  ])("a query template takes its names in any order and number: %s", (uri, args) => {
    const uriTemplate = "a://x{?from,to}";
    const found = catalogOf({
      resourceTemplates: [resourceTemplate({ uriTemplate, name: "q", handler })],
    }).findResource(uri);
    expect(found?.args).toEqual(args === undefined ? undefined : { ...args, uri });
  });

  test("completions are found by template and argument only", () => {
    const ref = { type: "ref/resource", uri: "a://users/{id}" } as const;
    expect(catalog.findCompletion(ref, "id")).toBeTypeOf("function");
    expect(catalog.findCompletion(ref, "constructor")).toBeUndefined();
    expect(
      catalog.findCompletion({ type: "ref/prompt", name: "a://users/{id}" }, "id"),
    ).toBeUndefined();
  });
});

test("the scopes of a tool that is switched off stay the server's", async () => {
  const open = tool({ name: "open", description, handler });
  const admin = tool({ name: "admin", description, scopes: ["write", "admin"], handler });
  const read = resource({ uri: "a://b", name: "r", scopes: ["read", "write"], handler });
  const { runtime } = startHarness({ tools: [open, admin], resources: [read] });
  await runtime.tools.disable("admin");
  expect(runtime.catalog.findTool("admin")).toBeUndefined();
  expect(runtime.catalog.scopes).toEqual(["admin", "read", "write"]);
});
