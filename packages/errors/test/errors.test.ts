/** What those who catch rely on: the code, the guard, and that nothing of the cause leaks. */
import { errorSpecs, isRepriseError, RepriseError } from "@reprise/errors";
import { describe, expect, test } from "vitest";

describe("an error", () => {
  test("carries its code, its message and a stable name", () => {
    const error = new RepriseError("BUSY", "too many calls");
    expect(error).toBeInstanceOf(Error);
    expect({ code: error.code, message: error.message, name: error.name }).toEqual({
      code: "BUSY",
      message: "too many calls",
      name: "RepriseError",
    });
  });

  test("gives the registry's row of its code", () => {
    expect(new RepriseError("RUN_LOST", "gone").spec).toBe(errorSpecs.RUN_LOST);
  });

  test("keeps the data that goes to the caller", () => {
    const data = { retryAfterMs: 250 };
    expect(new RepriseError("BUSY", "later", { data }).data).toEqual({ retryAfterMs: 250 });
    expect(new RepriseError("BUSY", "later").data).toBeUndefined();
  });

  test("keeps its cause for the log", () => {
    const cause = new Error("ECONNRESET");
    expect(new RepriseError("STORE_UNAVAILABLE", "later", { cause }).cause).toBe(cause);
  });

  test("without a cause has no cause member at all, so that loggers print none", () => {
    expect("cause" in new RepriseError("BUSY", "later")).toBe(false);
  });

  test("shows neither cause nor stack when it is turned into JSON or its members are copied", () => {
    const cause = new Error("password=hunter2");
    const error = new RepriseError("INTERNAL", "failed", { cause, data: { runId: "r1" } });
    expect(JSON.parse(JSON.stringify(error))).toEqual({ code: "INTERNAL", data: { runId: "r1" } });
    expect(Object.keys(Object.assign({}, error)).toSorted()).toEqual(["code", "data"]);
  });

  test("prints its code's name and message as a string", () => {
    expect(String(new RepriseError("BUSY", "later"))).toBe("RepriseError: later");
  });
});

describe("the guard", () => {
  test("knows an error by any code, or by the one asked for", () => {
    const error: unknown = new RepriseError("BUSY", "later");
    expect(isRepriseError(error)).toBe(true);
    expect(isRepriseError(error, "BUSY")).toBe(true);
    expect(isRepriseError(error, "IN_FLIGHT")).toBe(false);
  });

  test("takes nothing else for ours", () => {
    const lookalike = Object.assign(new Error("later"), { code: "BUSY", name: "RepriseError" });
    for (const value of [lookalike, new Error("x"), { code: "BUSY" }, "BUSY", null, undefined, 7]) {
      expect(isRepriseError(value)).toBe(false);
    }
  });
});
