import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ask } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

it("The README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

it("The README's example is asked its question", async () => {
  expect(await ask()).toMatchObject({
    kind: "input_required",
    inputRequests: { confirm: { method: "elicitation/create", params: { message: "Open it?" } } },
  });
});
