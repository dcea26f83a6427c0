import { isRepriseError, RepriseError } from "@reprise/errors";
import { expect, test } from "vitest";

test("x", () => {
  expect(isRepriseError(new RepriseError("BUSY", "a"))).toBe(true);
});
