/**
 * The golden files hold every cell of the lowering table: each cell is changed, one at a time, and some column must then
 * come out otherwise. A feature or a member that is added to the table without a golden case fails here.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type Feature,
  type LegacyRevision,
  legacyRevisions,
  rulesOf,
  type WireKind,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { columnsOf, kinds, producedFor } from "./goldenFiles.ts";

/** Of the transport: the front's own tests hold these, and `batches` messages.test.ts. */
const transport: readonly string[] = ["batches", "versionHeader", "polledStreams"];

/**
 * Members whose place in the table decides nothing: those that are always written anew, and `execution`, which 2026-07-28
 * does not have, so that no lowering can bring it.
 */
const writtenAnew: readonly string[] = [
  "choicesField.items",
  "formSchema.properties",
  "samplingMessage.content",
  "samplingParams.messages",
  "samplingParams.tools",
  "tool.execution",
];

/** Features that decide nothing on a revision because a wider one is not there: no modes without elicitation. */
const overruled: Readonly<Record<LegacyRevision, readonly Feature[]>> = {
  "2025-11-25": [],
  "2025-06-18": ["elicitationIds"],
  "2025-03-26": [
    "anyStructuredContent",
    "elicitationModes",
    "elicitationIds",
    "titledChoices",
    "multipleChoices",
  ],
};

const columns = kinds.flatMap(columnsOf);

function someColumnDiffers(revision: string): boolean {
  return columns.some((column) => {
    if (column.revision !== revision) return false;
    try {
      return !isDeepStrictEqual(producedFor(column), column.expected);
    } catch {
      return true;
    }
  });
}

describe.each(legacyRevisions)("on %s", (revision) => {
  const { has, members } = rulesOf(revision);
  // The table is data that is only read everywhere else.
  const cells = has as Record<Feature, boolean>;
  const features = (Object.keys(has) as Feature[]).filter((name) => !transport.includes(name));

  test("the golden files pass while nothing is changed", () => {
    expect(someColumnDiffers(revision)).toBe(false);
  });

  test("each feature is held by a golden column", () => {
    const unheld = features.filter((feature) => {
      cells[feature] = !cells[feature];
      const held = someColumnDiffers(revision);
      cells[feature] = !cells[feature];
      return !held;
    });
    expect(unheld).toEqual(overruled[revision]);
  });

  test("each known member is held by a golden column", () => {
    const unheld = (Object.keys(members) as WireKind[]).flatMap((kind) => {
      const names = members[kind] as Set<string>;
      return [...names]
        .filter((name) => name !== "")
        .filter((name) => {
          names.delete(name);
          const held = someColumnDiffers(revision);
          names.add(name);
          return !held;
        })
        .map((name) => `${kind}.${name}`);
    });
    expect(unheld.filter((name) => !writtenAnew.includes(name))).toEqual([]);
  });
});
