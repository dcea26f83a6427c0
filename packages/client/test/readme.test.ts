import { readFileSync } from "node:fs";
import { exitCodes } from "@reprise/client";
import { expect, test } from "vitest";
import { deleteFolder } from "./support/example.ts";
import { complete, confirmAsk, fakeServer, inputRequired } from "./support/fakeServer.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

test("the README's example asks and deletes", async () => {
  const server = await fakeServer(
    inputRequired({ confirm: confirmAsk() }, "s"),
    complete("Deleted."),
  );
  const questions: string[] = [];
  const outcome = await deleteFolder(
    server.url,
    async (question) => questions.push(question) === 1,
  );
  expect(outcome).toMatchObject({
    status: "complete",
    result: { content: [{ text: "Deleted." }] },
  });
  expect(questions).toEqual([`${new URL(server.url).origin} asks: Delete build/?`]);
  await server.close();
});

test("the README's table has each exit code", () => {
  const rows = [...read("../README.md").matchAll(/^\| (\d+) \| `(\w+)` \|/gm)];
  expect(Object.fromEntries(rows.map(([, code, name]) => [name, Number(code)]))).toEqual(exitCodes);
});
