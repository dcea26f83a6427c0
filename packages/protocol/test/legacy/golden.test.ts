/** Each revision gets exactly what its golden column says; golden/README.md tells how to see differences. */
import { describe, expect, test } from "vitest";
import { columnsOf, kinds, producedFor, revisions } from "./goldenFiles.ts";

/** Kinds whose modern form is another lane's matter. */
const legacyOnly = ["arguments", "capabilities", "initialize"];

describe.each(kinds)("%s", (kind) => {
  test.each(columnsOf(kind).map((column) => [column.title, column.revision, column] as const))(
    "%s, on %s",
    (_title, _revision, column) => {
      expect(producedFor(column)).toEqual(column.expected);
    },
  );

  test("has columns of all revisions that know it", () => {
    const found = new Set(columnsOf(kind).map((column) => column.revision));
    const wanted = legacyOnly.includes(kind) ? revisions.slice(1) : revisions;
    expect([...found].toSorted()).toEqual([...wanted].toSorted());
  });
});
