import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type FormAsk, type Host } from "reprise/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sent, start } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

let dataDir = "";
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "reprise-readme-"));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

it("The README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

it("The README's example asks, acts once, and says so", async () => {
  const served = await start(dataDir);
  const asked: string[] = [];
  const host: Host = {
    form: (ask: FormAsk) => {
      asked.push(ask.message);
      return Promise.resolve({ action: "accept", content: new Map([["confirm", true]]) });
    },
  };
  const client = await connect({ url: served.url, host });
  const outcome = await client.callTool("greet", { name: "Ada" });
  expect(outcome).toMatchObject({ result: { content: [{ type: "text", text: "Greeted Ada." }] } });
  expect(asked).toEqual(["Greet Ada?"]);
  expect(sent).toHaveLength(1);
  await client.close();
  await served.close();
});
