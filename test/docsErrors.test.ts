/**
 * docs/errors.md and the registry say the same: every code has its row, in the registry's order, with the
 * registry's words, and the page has no row of its own. A finding prints the row as it should be.
 */
import { type ErrorCode, errorCodes, errorSpecs } from "@reprise/errors";
import { describe, expect, test } from "vitest";
import { textOf } from "./support/sourceTree.ts";

const rowOf = (code: ErrorCode): string => {
  const { when, httpStatus, rpcCode, retryable, remedy } = errorSpecs[code];
  const cells = [`\`${code}\``, when, httpStatus, rpcCode, retryable ? "yes" : "no", remedy];
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
};

const page = textOf("docs/errors.md");
const rows = page
  .split("\n")
  .filter((line) => /^\| [^-]/.test(line) && !line.startsWith("| code |"));

describe("docs/errors.md", () => {
  test("says of every code what the registry says", () => {
    expect(errorCodes.map(rowOf).filter((row) => !rows.includes(row))).toEqual([]);
  });

  test("has no row that the registry has not, and keeps its order", () => {
    expect(rows).toEqual(errorCodes.map(rowOf));
  });

  test("names no code in its prose that does not exist", () => {
    const known = new Set<string>(errorCodes);
    const named = [...page.matchAll(/"([A-Z]+(?:_[A-Z]+)*)"/g)].map((match) => match[1] ?? "");
    expect(named.filter((code) => !known.has(code))).toEqual([]);
  });
});
