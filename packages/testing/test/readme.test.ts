import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refundOnce } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

test("the README's example refunds once and replays its own journal", async () => {
  expect(await refundOnce()).toEqual({ text: "Refunded.", refunds: 1, fits: true });
});
