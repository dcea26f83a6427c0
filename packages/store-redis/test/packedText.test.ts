/**
 * What is packed comes back as it was, whatever it is, and what an earlier build packed is read for ever.
 */
import type { KeptHistory } from "@reprise/runtime";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeKept, encodeKept } from "../src/historyText.ts";
import { packed, unpacked } from "../src/packedText.ts";

const row: KeptHistory = {
  format: 1,
  summary: {
    runId: "IFiEz9uRw400TlIoGPFHZf91",
    handler: { kind: "tool", name: "refund_order" },
    status: "waiting",
    principal: "anonymous",
    client: "reprise-bench",
    protocolVersion: "2026-07-28",
    round: 1,
    version: "1.0.0",
    effects: "once",
    startedAt: 1_796_126_964_078,
    updatedAt: 1_796_126_964_090,
    waiting: {
      asks: [{ key: "confirm", kind: "confirm" }],
      since: 1_796_126_964_090,
      until: 1_796_213_364_090,
    },
    attention: undefined,
    code: undefined,
  },
  epoch: 1,
  told: 4,
  asked: {
    asks: [{ key: "confirm", kind: "confirm" }],
    since: 1_796_126_964_090,
    until: 1_796_213_364_090,
  },
  uncertain: [],
  undoFailed: [],
};

describe("a packed text", () => {
  test("is the text again", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(unpacked(packed(text))).toBe(text);
      }),
    );
  });

  test("is never longer", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(packed(text).length).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test("of a row is a third of it", () => {
    const text = encodeKept(row);
    expect(packed(text).length).toBeLessThan(text.length / 3);
  });

  // The dictionary is part of the format: with another one nothing of before could be read. The text leads to its first words.
  test("of the first release is read", () => {
    const text =
      '["prompts/get","resources/read","kind":"prompt","resource","effects":"repeatable"]';
    expect(unpacked("zi1aicoUXCwA")).toBe(text);
  });

  test("that is damaged is told of", () => {
    expect(() => unpacked("zAAAA")).toThrow();
  });
});

describe("a row", () => {
  test("is the same again, though what follows from the rest is not written", () => {
    expect(decodeKept(encodeKept(row), row.summary.runId)).toEqual({
      ...row,
      summary: JSON.parse(JSON.stringify(row.summary)),
    });
    expect(encodeKept(row)).not.toContain(row.summary.runId);
  });

  test("waits for nothing once it has ended, whatever it asked last", () => {
    const ended = { ...row, summary: { ...row.summary, status: "completed", waiting: undefined } };
    const { summary, asked } = decodeKept(encodeKept(ended as KeptHistory), "run");
    expect(summary.waiting).toBeUndefined();
    expect(asked).toEqual(row.asked);
  });

  test("is another text each time it is written", () => {
    expect(encodeKept(row)).not.toBe(encodeKept(row));
  });
});
