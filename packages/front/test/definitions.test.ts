/** What an author writes down of a server, its tools, prompts and resources arrives at clients of 2026-07-28, member by member. */
import {
  defineServer,
  type Icon,
  prompt,
  resource,
  resourceTemplate,
  tool,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { cluster } from "./legacy/support/instances.ts";
import { send } from "./support/listener.ts";

const icons: readonly Icon[] = [
  { src: "https://example.com/i.svg", mimeType: "image/svg+xml", sizes: ["any"], theme: "dark" },
];
const annotations = {
  audience: ["user"],
  priority: 0.5,
  lastModified: "2026-01-01T00:00:00Z",
} as const;
const _meta = { "example.com/team": "billing" };
const described = { title: "A title", description: "What it is for", icons, _meta };

const input = {
  type: "object",
  properties: { city: { type: "string", title: "City", description: "Where" }, unit: {} },
  required: ["city"],
} as const;
const output = {
  type: "object",
  properties: { degrees: { type: "number" } },
  required: ["degrees"],
} as const;
const toolAnnotations = {
  title: "Weather",
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
const about = {
  title: "Weather",
  description: "Tells the weather",
  websiteUrl: "https://example.com",
  icons,
};

const server = defineServer({
  name: "weather",
  version: "2.0.0",
  instructions: "Ask for a city.",
  ...about,
  tools: [
    tool({
      name: "weather",
      ...described,
      input,
      output,
      annotations: toolAnnotations,
      handler: ({ city }) => ({ degrees: city === "Oslo" ? 3 : "warm" }),
    }),
    tool({
      name: "link",
      description: "Links",
      handler: () => ({
        type: "resource_link",
        uri: "test://report",
        name: "report",
        title: "Report",
        description: "A report",
        mimeType: "text/plain",
        size: 5,
        icons,
        annotations,
        _meta,
      }),
    }),
  ],
  prompts: [
    prompt({
      name: "ask",
      ...described,
      input,
      complete: {
        city: (value, { arguments: others }) =>
          ["Oslo", "Olten", "Paris"].filter(
            (city) => city.startsWith(value) && others["unit"] !== "F",
          ),
      },
      handler: ({ city }) => ({
        description: "A question",
        messages: [
          { role: "user", content: { type: "text", text: JSON.stringify(city), annotations } },
        ],
        _meta,
      }),
    }),
  ],
  resources: [
    resource({
      uri: "test://report",
      name: "report",
      ...described,
      mimeType: "text/plain",
      size: 5,
      annotations,
      handler: () => ({ uri: "test://report", mimeType: "text/markdown", text: "# Hi", _meta }),
    }),
  ],
  resourceTemplates: [
    resourceTemplate({
      uriTemplate: "test://city/{name}",
      name: "city",
      ...described,
      mimeType: "application/json",
      annotations,
      complete: { name: (value) => Array.from({ length: 150 }, (_, n) => `${value}${n}`) },
      handler: ({ name }) => JSON.stringify({ name }),
    }),
  ],
});

const ask = async (method: string, params: Readonly<Record<string, unknown>> = {}) => {
  const { instances } = await cluster(server);
  return (await send(instances[0].url, method, params)).json.result;
};

describe("definitions", () => {
  test("of the server go out in discovery and with every result", async () => {
    const identity = { name: "weather", version: "2.0.0", ...about };
    const _meta = { "io.modelcontextprotocol/serverInfo": identity };
    const result = await ask("server/discover");
    expect(result).toMatchObject({ instructions: "Ask for a city.", _meta });
    expect(result?.["capabilities"]).toMatchObject({ completions: {} });
  });

  test("of a tool have title, icons, both schemas, annotations and _meta", async () => {
    const result = await ask("tools/list");
    expect(result?.["tools"]).toContainEqual({
      name: "weather",
      ...described,
      inputSchema: input,
      outputSchema: output,
      annotations: toolAnnotations,
    });
  });

  test("of a prompt have title, icons, _meta, and arguments with title and description", async () => {
    const result = await ask("prompts/list");
    expect(result?.["prompts"]).toEqual([
      {
        name: "ask",
        ...described,
        arguments: [
          { name: "city", title: "City", description: "Where", required: true },
          { name: "unit", required: false },
        ],
      },
    ]);
  });

  test("of resources and templates have title, icons, MIME type, size, annotations and _meta", async () => {
    const common = { ...described, annotations };
    const resources = (await ask("resources/list"))?.["resources"];
    const report = { uri: "test://report", name: "report", mimeType: "text/plain", size: 5 };
    expect(resources).toEqual([{ ...report, ...common }]);
    const templates = (await ask("resources/templates/list"))?.["resourceTemplates"];
    const city = { uriTemplate: "test://city/{name}", name: "city", mimeType: "application/json" };
    expect(templates).toEqual([{ ...city, ...common }]);
  });
});

describe("results", () => {
  test("of a tool with an output schema are structured, with a text for clients that know none", async () => {
    const result = await ask("tools/call", { name: "weather", arguments: { city: "Oslo" } });
    expect(result).toMatchObject({
      structuredContent: { degrees: 3 },
      content: [{ type: "text", text: '{"degrees":3}' }],
    });
    expect(result).not.toHaveProperty("isError");
  });

  test("that the output schema refuses never reach the client", async () => {
    const result = await ask("tools/call", { name: "weather", arguments: { city: "Rome" } });
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    expect(JSON.stringify(result)).not.toMatch(/warm/);
  });

  test("keep what resource links, prompts and contents say of themselves", async () => {
    expect((await ask("tools/call", { name: "link" }))?.["content"]).toEqual([
      {
        ...{ type: "resource_link", uri: "test://report", name: "report", title: "Report" },
        ...{ description: "A report", mimeType: "text/plain", size: 5, icons, annotations, _meta },
      },
    ]);
    expect(await ask("prompts/get", { name: "ask", arguments: { city: "Oslo" } })).toMatchObject({
      description: "A question",
      messages: [{ role: "user", content: { type: "text", text: '"Oslo"', annotations } }],
      _meta,
    });
    expect((await ask("resources/read", { uri: "test://report" }))?.["contents"]).toEqual([
      { uri: "test://report", mimeType: "text/markdown", text: "# Hi", _meta },
    ]);
  });
});

describe("completions", () => {
  const complete = async (ref: unknown, name: string, value: string, others = {}) => {
    const context = { arguments: others };
    return (await ask("completion/complete", { ref, argument: { name, value }, context }))?.[
      "completion"
    ];
  };

  test("of a prompt's argument see the others", async () => {
    const ref = { type: "ref/prompt", name: "ask" };
    expect(await complete(ref, "city", "O")).toEqual({
      ...{ values: ["Oslo", "Olten"], total: 2, hasMore: false },
    });
    expect(await complete(ref, "city", "O", { unit: "F" })).toMatchObject({ values: [] });
    expect(await complete(ref, "unit", "")).toMatchObject({ values: [] });
  });

  test("of a template's variable are cut at a hundred, and say so", async () => {
    const ref = { type: "ref/resource", uri: "test://city/{name}" };
    const completion = await complete(ref, "name", "x");
    expect(completion).toMatchObject({ total: 150, hasMore: true });
    expect((completion as { readonly values: unknown[] }).values).toHaveLength(100);
  });
});
