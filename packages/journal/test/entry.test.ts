import { cutAtFailure, type Entry, isFailure, nameOf, operationOf } from "@reprise/journal";
import { describe, expect, test } from "vitest";
import { answerEntry, readEntry, stepEntry } from "./support/cursorRun.ts";

const failed: Entry = {
  kind: "step_failed",
  name: "f",
  error: { name: "Error", message: "down" },
  outcome: "not_done",
  at: 1,
};
const readFailed: Entry = {
  kind: "read_failed",
  name: "rf",
  error: { name: "Error", message: "x" },
  at: 1,
};

describe("entries", () => {
  test("are matched by the kind and name of their operation", () => {
    expect(
      [stepEntry("s"), failed, readEntry("r"), readFailed, answerEntry("a")].map((entry) => [
        operationOf(entry),
        nameOf(entry),
      ]),
    ).toEqual([
      ["step", "s"],
      ["step", "f"],
      ["read", "r"],
      ["read", "rf"],
      ["ask", "a"],
    ]);
  });

  test("failures are those that a later attempt may try again", () => {
    expect([failed, readFailed].every(isFailure)).toBe(true);
    expect([stepEntry("s"), readEntry("r"), answerEntry("a")].some(isFailure)).toBe(false);
  });
});

describe("where an ended run goes on from", () => {
  test("a journal without failures is kept whole", () => {
    const entries = [readEntry("r"), stepEntry("s")];
    expect(cutAtFailure(entries)).toEqual({ kept: entries, standing: [] });
  });

  test("a failure that a completed step follows stands: the handler went on from it", () => {
    const entries = [failed, readEntry("r"), stepEntry("s")];
    expect(cutAtFailure(entries)).toEqual({ kept: entries, standing: [] });
  });

  // promise P4.3.11
  test("the journal is cut at the first failure behind the last completed step, and later answers stand apart", () => {
    const entries = [
      stepEntry("s"),
      answerEntry("before"),
      failed,
      answerEntry("after"),
      readFailed,
      readEntry("r"),
    ];
    expect(cutAtFailure(entries)).toEqual({
      kept: [stepEntry("s"), answerEntry("before")],
      standing: [answerEntry("after")],
    });
  });
});
