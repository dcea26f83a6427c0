import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { delivered, replayed } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

it("The README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

it("The README's example delivers in the journal's order", async () => {
  await replayed;
  expect(delivered).toEqual(["read_completed load order", "step_completed refund"]);
});
