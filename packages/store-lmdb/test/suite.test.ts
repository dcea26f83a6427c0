/**
 * The embedded store keeps the promises of every run store, and of shared records.
 */
import assert from "node:assert/strict";
import { sharedSuite, storeSuite } from "@reprise/testing";
import { describe, test } from "vitest";
import { freshDirectory, sharedHarness, suiteHarness } from "./support/stores.ts";

describe("the store conformance suite on lmdb", () => {
  test.each(storeSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { harness, pendingTimers } = suiteHarness(freshDirectory());
    await one.run(harness);
    assert.equal(pendingTimers(), 0, "a timer was left behind");
  });
});

describe("the suite of shared records on lmdb", () => {
  test.each(sharedSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { harness, pendingTimers } = sharedHarness(freshDirectory());
    await one.run(harness);
    assert.equal(pendingTimers(), 0, "a timer was left behind");
  });
});
