/**
 * The tarball of `npm run pack`, as a user meets it: an empty folder, npm with engine-strict, the first
 * example of the design. The tests run in order, since each needs what the one before it installed; the
 * command runs before a compiler or types are there, so it can't lean on them.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  callTool,
  install,
  newFolder,
  packTarball,
  pinned,
  run,
  startDev,
} from "../support/installed.ts";

/** The first example of design section 2, word for word. */
const example = `import { rm } from "node:fs/promises";
import { defineServer, tool } from "reprise";
import * as z from "zod";

export default defineServer({ name: "files", tools: [tool({
  name: "delete_folder", description: "Delete a folder", input: z.object({ path: z.string() }),
  async handler({ path }, ctx) {
    if (!(await ctx.confirm(\`Delete \${path}?\`))) return "Kept.";
    await ctx.step("delete", () => rm(path, { recursive: true, force: true }));
    return "Deleted.";
  },
})] });
`;

/** Node.js releases beside the current one, by the alias under which npm installs them. */
const otherNodes = { node22: "22.23.5", node24: "24.22.3" };

/** Two Node.js releases are some 100 MB to fetch where npm has no cache. */
const downloadTimeoutMs = 900_000;

const folder = newFolder("pack");
const nodes = newFolder("nodes");

beforeAll(() => {
  install(folder, [packTarball()]);
  writeFileSync(path.join(folder, "files.ts"), example);
  const build = `node-${process.platform}-${process.arch}`;
  install(
    nodes,
    Object.entries(otherNodes).map(([alias, version]) => `${alias}@npm:${build}@${version}`),
  );
}, downloadTimeoutMs);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(nodes, { recursive: true, force: true });
});

describe("the installed package", () => {
  test("brings nothing of the workspace along: no sources, no tests, no names of ours to fetch", () => {
    const home = path.join(folder, "node_modules/reprise");
    const files = readdirSync(home, { recursive: true }).map(String);
    expect(files.filter((file) => /(^|\/)(src|test)\//.test(file))).toEqual([]);
    expect(existsSync(path.join(folder, "node_modules/@reprise"))).toBe(false);
    const manifest = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(name).not.toMatch(/^@reprise\//);
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  test.each([
    ["the current Node.js", undefined],
    ["Node.js 22", "node22"],
    ["Node.js 24", "node24"],
  ])(
    "serves the first example under %s, and a confirmed call deletes the folder",
    async (_, alias) => {
      const victim = path.join(folder, `build-${alias ?? "current"}`);
      mkdirSync(path.join(victim, "deep"), { recursive: true });
      const bin = alias === undefined ? undefined : path.join(nodes, "node_modules", alias, "bin");
      const server = await startDev(folder, "files.ts", bin);
      try {
        const args = { path: victim };
        const asked = await callTool(server.url, "delete_folder", args);
        expect(asked.resultType).toBe("input_required");
        expect(Object.keys(asked.inputRequests ?? {})).toEqual(["confirm"]);
        expect(existsSync(victim)).toBe(true);
        const done = await callTool(server.url, "delete_folder", args, {
          requestState: asked.requestState,
          inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
        });
        expect(done.content).toEqual([{ type: "text", text: "Deleted." }]);
        expect(existsSync(victim)).toBe(false);
      } finally {
        await server.stop();
      }
    },
  );

  test.each(["reprise", "reprise/client", "reprise/client/browser", "reprise/testing"])(
    "can be imported as %s",
    (entry) => {
      const script = `import(${JSON.stringify(entry)}).then((m) => console.log(Object.keys(m).length))`;
      const printed = run(process.execPath, ["-e", script], folder);
      expect(Number(printed)).toBeGreaterThan(0);
    },
  );
});

describe("the installed types", () => {
  const compiler = path.join(folder, "node_modules/.bin/tsc");
  const strict = ["--noEmit", "--strict", "--target", "es2023", "--types", "node"];

  beforeAll(() => {
    install(
      folder,
      ["typescript", "@types/node"].map((name) => `${name}@${pinned(name)}`),
    );
    const entries = ["reprise", "reprise/client", "reprise/client/browser", "reprise/testing"];
    const names = entries.map((_, at) => `entry${at}`);
    const imports = entries.map((entry, at) => `import * as ${names[at]} from "${entry}";`);
    const text = `${imports.join("\n")}\nexport const all = [${names.join(", ")}];\n`;
    writeFileSync(path.join(folder, "entries.ts"), text);
  }, downloadTimeoutMs);

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])(
    "check the first example and every entry under module %s, libraries included",
    (module, resolution) => {
      const modes = [
        "--module",
        module,
        "--moduleResolution",
        resolution,
        "--skipLibCheck",
        "false",
      ];
      const args = ["--ignoreConfig", ...strict, ...modes, "files.ts", "entries.ts"];
      expect(run(compiler, args, folder)).toBe("");
    },
  );

  test("refuse a handler that reads an argument its schema does not have", () => {
    const wrong = example.replace("handler({ path }, ctx)", "handler({ path, force }, ctx)");
    writeFileSync(path.join(folder, "wrong.ts"), wrong);
    const args = ["--ignoreConfig", ...strict, "--module", "nodenext", "wrong.ts"];
    expect(() => run(compiler, args, folder)).toThrow(/Property 'force' does not exist/);
  });
});
