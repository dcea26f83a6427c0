/**
 * The embedded store keeps the promises of every run store.
 */
import assert from "node:assert/strict";
import { storeSuite } from "@reprise/testing";
import { describe, test } from "vitest";
import { freshDirectory, suiteHarness } from "./support/stores.ts";

describe("the store conformance suite on lmdb", () => {
  test.each(storeSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { harness, pendingTimers } = suiteHarness(freshDirectory());
    await one.run(harness);
    assert.equal(pendingTimers(), 0, "a timer was left behind");
  });
});
