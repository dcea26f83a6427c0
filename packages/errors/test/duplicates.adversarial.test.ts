/** Two copies of the package in one process, as when a tool is bundled beside the server. */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { expect, test, vi } from "vitest";

async function secondCopy(): Promise<typeof import("@reprise/errors")> {
  vi.resetModules();
  return import("@reprise/errors");
}

test("the guard recognises an error of another copy, in both directions", async () => {
  const other = await secondCopy();
  const theirs: unknown = new other.RepriseError("BUSY", "later");
  expect(theirs).not.toBeInstanceOf(RepriseError);
  expect(isRepriseError(theirs, "BUSY")).toBe(true);
  expect(other.isRepriseError(new RepriseError("RUN_LOST", "gone"), "RUN_LOST")).toBe(true);
});

test("a copy of an error's members is no error: the brand does not travel by copying or JSON", () => {
  const error = new RepriseError("BUSY", "later");
  expect(isRepriseError(Object.assign({}, error))).toBe(false);
  expect(isRepriseError(JSON.parse(JSON.stringify(error)))).toBe(false);
});

test("the brand can't be taken off an error or overwritten", () => {
  const error = new RepriseError("BUSY", "later");
  const brand = Symbol.for("reprise.error");
  expect(Reflect.deleteProperty(error, brand)).toBe(false);
  expect(Reflect.set(error, brand, false)).toBe(false);
  expect(isRepriseError(error)).toBe(true);
});
