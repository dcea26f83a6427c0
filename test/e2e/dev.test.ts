/**
 * `reprise dev FILE`: what it prints, what it serves, and how it says what is wrong. A folder outside the checkout has the
 * files of an author who installed `reprise` and `zod`.
 */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Child, Ended } from "../support/childProcess.ts";
import { connectOfficial, textOf, yes } from "../support/officialClient.ts";
import { startReprise } from "../support/repriseCommand.ts";
import { temporaryFolder } from "../support/temporary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The first example of docs/design.md, with a neighbour that is repeatable and one that can't run twice. */
const files = `import { rm } from "node:fs/promises";
import { defineServer, prompt, tool } from "reprise";
import * as z from "zod";

export default defineServer({
  name: "files",
  version: "1.2.3",
  tools: [
    tool({
      name: "delete_folder", description: "Delete a folder", input: z.object({ path: z.string() }),
      async handler({ path }, ctx) {
        if (!(await ctx.confirm(\`Delete \${path}?\`))) return "Kept.";
        await ctx.step("delete", () => rm(path, { recursive: true, force: true }));
        return "Deleted.";
      },
    }),
    tool({
      name: "keyed", description: "Has a key", input: z.object({ id: z.string() }),
      idempotency: { key: ({ id }) => id, scope: "tool" },
      handler: async (_args, ctx) => await ctx.step("do", () => "done"),
    }),
    tool({
      name: "look", description: "Only looks", annotations: { readOnlyHint: true },
      handler: (): string => "Seen.",
    }),
    tool({
      name: "taken_apart", description: "Takes its context apart",
      handler: async (_args, { step }) => await step("do", () => "done"),
    }),
    tool({ name: "stepless", description: "Has no steps", handler: () => "a step back" }),
    tool({
      name: "reads", description: "Has steps and may run again", effects: "repeatable",
      handler: async (_args, ctx) => await ctx.step("do", () => "done"),
    }),
  ],
  prompts: [prompt({ name: "draft", description: "A draft", handler: () => "Write." })],
});
`;

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  const modules = path.join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(path.join(root, "packages/reprise"), path.join(modules, "reprise"));
  symlinkSync(path.join(root, "node_modules/zod"), path.join(modules, "zod"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}\n');
});

function write(name: string, text: string): void {
  writeFileSync(path.join(folder, name), text);
}

/** Starts `reprise dev`; ended with the test. */
function dev(...args: readonly string[]): Child {
  const child = startReprise(["dev", ...args], folder);
  onTestFinished(async () => {
    await child.stop();
  });
  return child;
}

async function served(...args: readonly string[]): Promise<{ url: string; child: Child }> {
  const child = dev(...args);
  const [, url = ""] = await child.line(/^ {2}MCP +(\S+)$/);
  return { url, child };
}

/** Runs `reprise dev` on a file that can't be served, to its end. */
async function failed(name: string, text: string): Promise<Ended> {
  write(name, text);
  return await dev(name, "--port", "0").ended;
}

/** One line that begins with the code, for people; no stack. */
function expectCoded({ code, stdout, stderr }: Ended, error: string): void {
  expect(stderr).toMatch(new RegExp(`^${error}: `));
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stdout).not.toContain("MCP");
  expect(code).toBe(2);
}

describe("a file with a server", () => {
  // promise P4.1.5
  test("is served, with its data beside it and a table of what may be repeated and why", async () => {
    write("files.ts", files);
    const { url, child } = await served("files.ts", "--port", "0");
    const victim = path.join(folder, "build");
    mkdirSync(victim);
    const official = await connectOfficial(url, yes);
    const result = await official.client.callTool({
      name: "delete_folder",
      arguments: { path: victim },
    });
    expect(textOf(result)).toBe("Deleted.");
    expect(existsSync(victim)).toBe(false);
    await official.close();

    const { code, stdout } = await child.stop();
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("files 1.2.3");
    const dataDir = path.join(folder, ".reprise");
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}data +/));
    expect(stdout).toContain(dataDir);
    expect(existsSync(dataDir)).toBe(true);
    const row = (name: string): string => lines.find((line) => line.startsWith(`  ${name} `)) ?? "";
    expect(row("delete_folder")).toMatch(/ tool +once +\S/);
    expect(row("keyed")).toMatch(/ tool +once +\S.*repeated first calls join/);
    expect(row("look")).toMatch(/ tool +repeatable +readOnlyHint/);
    expect(row("stepless")).toMatch(/ tool +once +\S/);
    expect(row("reads")).toMatch(/ tool +repeatable +\S/);
    expect(row("draft")).toMatch(/ prompt +repeatable +\S/);
    const warnings = lines.filter((line) => line.startsWith("  ! "));
    expect(warnings).toEqual([
      expect.stringContaining("delete_folder has steps and no idempotency"),
      expect.stringContaining("taken_apart has steps and no idempotency"),
    ]);
  });

  test("keeps its data where --data says", async () => {
    write("files.ts", files);
    const { child } = await served("files.ts", "--port", "0", "--data", "kept/here");
    const { input } = await child.line(/kept.here/);
    expect(input).toContain(path.join(folder, "kept/here"));
    expect(existsSync(path.join(folder, "kept/here"))).toBe(true);
    expect(existsSync(path.join(folder, ".reprise"))).toBe(false);
  });

  // promise P4.1.10
  test("keeps nothing with --store none, and says what that means", async () => {
    write("files.ts", files.replace(/ *idempotency: .*\n/, ""));
    const { child } = await served("files.ts", "--port", "0", "--store", "none");
    await child.line(/every run is repeatable/);
    expect(existsSync(path.join(folder, ".reprise"))).toBe(false);
  });

  test("refuses an idempotency key with --store none, naming the tool", async () => {
    write("files.ts", files);
    const end = await dev("files.ts", "--port", "0", "--store", "none").ended;
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain('"keyed"');
  });
});

test("a busy port is refused with the process that holds it", async () => {
  write("files.ts", files);
  const { url } = await served("files.ts", "--port", "0");
  const { port } = new URL(url);
  const end = await dev("files.ts", "--port", port, "--data", "other").ended;
  expectCoded(end, "PORT_IN_USE");
  expect(end.stderr).toContain(`port ${port}`);
  expect(end.stderr).toMatch(/process \d+ holds it \(.*files\.ts.*\)/);
  expect(end.stderr).toContain("--port");
});

test("an address that others reach is refused, and what was opened before is closed without a complaint", async () => {
  write("files.ts", files);
  const end = await dev("files.ts", "--port", "0", "--host", "0.0.0.0").ended;
  expectCoded(end, "CONFIG_INVALID");
  expect(end.stderr.trimEnd().split("\n")).toHaveLength(1);
});

describe("a file that can't be served is refused with a code and what to do", () => {
  test("because it isn't there", async () => {
    const end = await dev("nowhere.ts", "--port", "0").ended;
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain(`There is no file ${path.join(folder, "nowhere.ts")}.`);
  });

  test.each([
    ["nothing", ""],
    ["a name only", files.replace("export default", "export const server =")],
    ["a number", "export default 7;\n"],
  ])("because it exports %s", async (_, text) => {
    const end = await failed("files.ts", text);
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain("export default defineServer({ ... })");
  });

  test("because of its syntax, naming the file and the place", async () => {
    const end = await failed(
      "files.ts",
      files.replace("async handler({ path }, ctx) {", "async {"),
    );
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toMatch(/files\.ts:1\d:\d+/);
  });

  test("because it throws", async () => {
    const end = await failed("files.ts", `throw new Error("no database here");\n${files}`);
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain("no database here");
  });

  test("because it imports what isn't installed, naming it", async () => {
    const end = await failed("files.ts", files.replace('"zod"', '"zood"'));
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain("zood");
  });

  test("because its schema library can't make JSON Schema, saying what to install", async () => {
    const schema = `{ "~standard": { version: 1, vendor: "otherlib", validate: (value) => ({ value }) } }`;
    const end = await failed("files.ts", files.replace("z.object({ path: z.string() })", schema));
    expectCoded(end, "SCHEMA_UNSUPPORTED");
    expect(end.stderr).toContain("delete_folder");
    expect(end.stderr).toContain("otherlib");
    expect(end.stderr).toMatch(/zod|JSON Schema/);
  });

  test("because two tools have one name", async () => {
    const end = await failed("files.ts", files.replace('"look"', '"keyed"'));
    expectCoded(end, "DEFINITION_INVALID");
    expect(end.stderr).toContain("keyed");
  });
});

test.each([
  [["--port", "70000"], /65535/],
  [["--port", "http"], /65535/],
  [["--store", "redis"], /none/],
])("options that can't be meant are refused: %j", async (args, words) => {
  write("files.ts", files);
  const { code, stderr } = await dev("files.ts", ...args).ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(words);
});
