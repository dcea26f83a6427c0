/**
 * docs/configuration.md and the table of settings say the same, row by row and in the same order. A finding prints
 * the row as it should be.
 */
import { type SettingRow, settingRows, variableOf } from "reprise/roles";
import { describe, expect, test } from "vitest";
import { textOf } from "./support/sourceTree.ts";

function typeOf({ type, unit }: SettingRow): string {
  const counted = unit === undefined ? "" : ` (${unit})`;
  switch (type.kind) {
    case "whole":
      return `number${counted}`;
    case "choice":
      return type.choices.map((choice) => `\`${choice}\``).join(", ");
    case "switch":
      return "`true`, `false`";
    case "counts":
      return `numbers by name${counted}`;
    default:
      return type.kind;
  }
}

function defaultOf({ otherwise }: SettingRow): string {
  if (otherwise === undefined) return "none";
  if (Array.isArray(otherwise) && otherwise.length > 0) return `\`${otherwise.join(",")}\``;
  if (typeof otherwise === "object") return "empty";
  return `\`${String(otherwise)}\``;
}

const rowOf = (row: SettingRow): string =>
  `| \`${row.name}\` | \`${variableOf(row.name)}\` | ${typeOf(row)} | ${defaultOf(row)} | ${row.role} | ${row.doc} |`;

const rows = textOf("docs/configuration.md")
  .split("\n")
  .filter((line) => line.startsWith("| `"));

describe("docs/configuration.md", () => {
  test("says of every setting what the table says", () => {
    expect(settingRows.map(rowOf).filter((row) => !rows.includes(row))).toEqual([]);
  });

  test("has no row that the table has not, and keeps its order", () => {
    expect(rows).toEqual(settingRows.map(rowOf));
  });
});
