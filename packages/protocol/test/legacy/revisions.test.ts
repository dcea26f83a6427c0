/** Which revision a session speaks, and what the table says of each. */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import {
  isLegacyRevision,
  isLegacyVersion,
  legacyRevisions,
  negotiate,
  type Revision,
  rulesOf,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

describe("negotiation", () => {
  test.each(legacyRevisions)("a client that asks for %s gets it", (revision) => {
    expect(negotiate(revision)).toBe(revision);
  });

  test.each(["2024-11-05", "2026-07-28", "2099-01-01", "", "1.0", "constructor", "2025-06-18 "])(
    "a client that asks for %j gets our latest with a handshake",
    (requested) => {
      expect(negotiate(requested)).toBe("2025-11-25");
    },
  );

  test("what is served stands newest first, and the official SDK of the era speaks all of it", () => {
    expect([...legacyRevisions]).toEqual([...legacyRevisions].toSorted().toReversed());
    for (const revision of legacyRevisions) {
      expect(SUPPORTED_PROTOCOL_VERSIONS).toContain(revision);
      expect(isLegacyVersion(revision)).toBe(true);
    }
  });

  test.each([undefined, null, 20250618, ["2025-06-18"], "2024-11-05"])(
    "%j is no served revision",
    (version) => {
      expect(isLegacyRevision(version)).toBe(false);
    },
  );
});

describe("the lowering table", () => {
  test("gives the same column on every call, so that nothing is built per message", () => {
    for (const revision of legacyRevisions) expect(rulesOf(revision)).toBe(rulesOf(revision));
  });

  test("says what the changelogs say", () => {
    const on = (revision: Revision) =>
      Object.entries(rulesOf(revision).has).flatMap(([feature, has]) => (has ? [feature] : []));
    expect(on("2025-03-26")).toEqual(["batches"]);
    expect(on("2025-06-18")).toEqual([
      "versionHeader",
      "structuredContent",
      "resourceLinks",
      "toolTitles",
      "elicitation",
    ]);
    expect(rulesOf("2025-11-25").has).toMatchObject({
      batches: false,
      polledStreams: true,
      elicitationModes: true,
      elicitationIds: true,
      anyStructuredContent: false,
      argumentErrorsShown: true,
    });
  });

  test("knows each member of an older revision on the newer ones too", () => {
    const newestFirst = legacyRevisions.map((revision) => rulesOf(revision).members);
    for (const [index, older] of newestFirst.entries()) {
      const newer = newestFirst[index - 1];
      for (const [kind, names] of Object.entries(older)) {
        const wider = newer?.[kind as keyof typeof older] ?? names;
        expect(
          [...names].filter((name) => !wider.has(name)),
          kind,
        ).toEqual([]);
      }
    }
  });

  test("refuses a revision that it has no column for", () => {
    expect(() => rulesOf("2024-11-05" as Revision)).toThrow(RangeError);
  });
});
