import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { opened, stolen } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

it("The README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

it("The README's example does what its comments say", () => {
  expect(opened).toMatchObject({ ok: true, payload: { run: "r-1", round: 1 }, expired: false });
  expect(stolen).toEqual({ ok: false, cause: "principal" });
});

it("The README's table has each cause of a refusal", () => {
  const contract = read("../src/contract.ts");
  const documented = [...contract.matchAll(/^ \* - ((?:`\w+`(?:, )?)+):/gm)].flatMap(([, names]) =>
    [...(names ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(documented.length).toBeGreaterThan(12);
  const rows = read("../README.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(listed).toEqual(documented);
});
