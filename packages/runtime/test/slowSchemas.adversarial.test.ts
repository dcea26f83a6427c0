/**
 * Schemas that can take for ever over a short input: they are served, told of at start, and no input holds the process.
 *
 * Titles say "at once" for what ends within a few deadlines of 250 ms; without the deadline each of these would take hours.
 */
import type { JsonObject } from "@reprise/journal";
import {
  type Logger,
  resourceTemplate,
  type ServerDefinition,
  silentLogger,
  tool,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { startHarness } from "./support/harness.ts";

const description = "d";
const handler = (): string => "x";

function start(server: Partial<ServerDefinition>) {
  const warnings: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => {
      if (Object.entries(fields).some(([, value]) => value === "schema_may_be_slow"))
        warnings.push(message);
    },
  };
  const { runtime } = startHarness(server, { logger });
  return { catalog: runtime.catalog, warnings };
}

function toolOf(input: NonNullable<Parameters<typeof tool>[0]["input"]>) {
  const { catalog, warnings } = start({
    tools: [tool({ name: "t", description, input, handler })],
  });
  const found = catalog.findTool("t");
  if (found === undefined) throw new Error("the tool is not served");
  return { check: found.checkArgs, warnings };
}

/** What a check says, and that it said it soon. */
async function atOnce(work: () => unknown): Promise<unknown> {
  const begun = performance.now();
  const outcome = await work();
  // Wide enough for a busy machine: the work itself would take longer than the test may.
  expect(performance.now() - begun).toBeLessThan(5_000);
  return outcome;
}

const textSchema = (more: object) => ({
  type: "object",
  properties: { text: { type: "string", ...more } },
});
const refused = { ok: false, message: expect.stringContaining("takes more than 250 ms") };

describe("patterns that backtrack", () => {
  const bombs = [
    ["^(a+)+$", `${"a".repeat(60)}!`],
    ["^(a|a)*$", `${"a".repeat(60)}!`],
    ["^([a-z0-9]+)*$", `${"a".repeat(60)}!`],
    ["(x+x+)+y", "x".repeat(60)],
    ["^(([^/]+)(/|))+#$", "a".repeat(60)],
    ["^(\\w+\\s?)*$", `${"a".repeat(60)}!`],
    ["^(?=(b+)+c)b", "b".repeat(60)],
  ] as const;

  test.each(bombs)(
    "%s is told of at start, and its bomb refused at once",
    async (pattern, bomb) => {
      const { check, warnings } = toolOf(textSchema({ pattern }));
      expect(warnings).toEqual([expect.stringContaining(JSON.stringify(pattern))]);
      expect(await atOnce(() => check({ text: bomb }))).toMatchObject(refused);
    },
  );

  test.each(bombs)("%s in a zod schema as well", async (pattern, bomb) => {
    const { check, warnings } = toolOf(z.object({ text: z.string().regex(new RegExp(pattern)) }));
    expect(warnings).toHaveLength(1);
    expect(await atOnce(() => check({ text: bomb }))).toMatchObject(refused);
  });

  test("as a member's name count as well", async () => {
    const { check, warnings } = toolOf({
      type: "object",
      patternProperties: { "^(a+)+$": { type: "string" } },
    });
    expect(warnings).toHaveLength(1);
    expect(await atOnce(() => check({ [`${"a".repeat(60)}!`]: 1 }))).toMatchObject(refused);
  });

  test("that are only polynomial are no reason for a warning, and a long bomb is refused at once", async () => {
    const { check, warnings } = toolOf(textSchema({ pattern: "^ *a* *a* *a*$" }));
    expect(warnings).toEqual([]);
    expect(await atOnce(() => check({ text: `${" ".repeat(50_000)}!` }))).toMatchObject(refused);
  });

  test("go on working: what fits is let through, what does not is told as always", async () => {
    const { check } = toolOf(textSchema({ pattern: "^(a+)+$" }));
    expect(await check({ text: "a".repeat(60) })).toMatchObject({ ok: true });
    expect(await check({ text: "b" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("must match pattern"),
    });
  });

  test.each([
    "^[a-z]+(-[a-z]+)*$",
    "^[^@]+@[^@]+$",
    "^\\d{1,3}(,\\d{3})*$",
    "^(?:(?!foo).)*$",
    "^[A-Z]{2}\\d+$",
    "^(([^/]+)(/|$))+$",
    "abc",
  ])(
    "%s is one of those that are linear: a text of a megabyte is read to its end",
    async (pattern) => {
      const { check, warnings } = toolOf(textSchema({ pattern }));
      expect(warnings).toEqual([]);
      const long = await atOnce(() => check({ text: "a".repeat(1_000_000) }));
      expect(JSON.stringify(long)).not.toContain("takes more than");
    },
  );

  test("none of zod's own formats is warned of", () => {
    const { warnings } = toolOf(
      z.object({
        ...{ email: z.email(), url: z.url(), uuid: z.uuid(), slug: z.base64() },
        ...{ at: z.iso.datetime(), day: z.iso.date(), how: z.iso.duration() },
        ...{ four: z.ipv4(), six: z.ipv6(), host: z.hostname(), phone: z.e164() },
      }),
    );
    expect(warnings).toEqual([]);
  });
});

describe("references that multiply", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, level === 39 ? { type: "object" } : { allOf: [next, next] }];
    }),
  );

  test("by naming one definition twice, forty times over, are refused at once", async () => {
    const { check, warnings } = toolOf({
      type: "object",
      $defs: doubling,
      allOf: [{ $ref: "#/$defs/d0" }],
    });
    expect(warnings).toEqual([expect.stringContaining("subschemas of one value")]);
    expect(await atOnce(() => check({ any: "thing" }))).toMatchObject(refused);
  });

  test("by a cycle with alternatives are refused at once, however short the names", async () => {
    const deeper = { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/n" } } };
    const { check, warnings } = toolOf({
      type: "object",
      $defs: { n: { anyOf: [deeper, { ...deeper, minProperties: 1 }, { const: "end" }] } },
      properties: { root: { $ref: "#/$defs/n" } },
    });
    expect(warnings).toEqual([expect.stringContaining("refers to itself")]);
    let root: JsonObject = { a: 1 };
    for (let depth = 0; depth < 60; depth++) root = { a: root };
    expect(await atOnce(() => check({ root }))).toMatchObject(refused);
    expect(await check({ root: { a: "end" } })).toMatchObject({ ok: true });
  });

  test("a tree that refers to itself once a level is none of them", async () => {
    const { check, warnings } = toolOf({
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } } },
    });
    expect(warnings).toEqual([]);
    expect(await check({ children: [{ children: [] }] })).toMatchObject({ ok: true });
  });
});

test("a list whose items are compared with each other is given up where it is too long", async () => {
  const { check } = toolOf({
    type: "object",
    properties: { list: { type: "array", uniqueItems: true } },
  });
  const list = Array.from({ length: 200_000 }, (_, at) => ({ at }));
  expect(await atOnce(() => check({ list }))).toMatchObject(refused);
  expect(await check({ list: [{ at: 1 }, { at: 2 }] })).toMatchObject({ ok: true });
});

test.each([
  [
    "plain JSON Schema",
    { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
  ],
  ["zod", z.object({ list: z.array(z.string()) })],
])("a list of a million wrong items is told in a few lines (%s)", async (_title, input) => {
  const { check } = toolOf(input);
  const list = Array.from({ length: 1_000_000 }, () => 1);
  const outcome = await atOnce(() => check({ list }));
  expect(outcome).toMatchObject({ ok: false });
  expect(JSON.stringify(outcome).length).toBeLessThan(5_000);
});

test("a list of a thousand wrong items is told by its first ten and how many more there are", async () => {
  const { check } = toolOf(z.object({ list: z.array(z.string()) }));
  expect(await check({ list: Array.from({ length: 1_000 }, () => 1) })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/list\.9: .*; and 990 more$/),
  });
});

test("a large list that fits is let through by every kind of schema", async () => {
  const list = Array.from({ length: 100_000 }, (_, at) => `item ${at}`);
  for (const input of [
    { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
    z.object({ list: z.array(z.string()) }),
  ]) {
    expect(await toolOf(input).check({ list })).toMatchObject({ ok: true });
  }
});

describe("resource templates", () => {
  const served = (uriTemplate: string) =>
    start({ resourceTemplates: [resourceTemplate({ uriTemplate, name: "r", handler })] }).catalog;

  test.each(["r://{a}{b}{c}{d}{e}/x", "r://{+a}{+b}{+c}/x", "r://{items*}{more*}/x"])(
    "%s: variables that can share one text in many ways are matched at once or not at all",
    async (template) => {
      const catalog = served(template);
      const uri = `r://${"a,".repeat(4_000)}`;
      expect(await atOnce(() => catalog.findResource(uri))).toBeUndefined();
    },
  );

  test("a URI of a megabyte is no resource, and no failure of the server", () => {
    expect(served("r://{a}").findResource(`r://${"a".repeat(2_000_000)}`)).toBeUndefined();
  });
});
