/**
 * The embedded store keeps the promises of every run store, of shared records and of history.
 */
import assert from "node:assert/strict";
import { historySuite, sharedSuite, storeSuite } from "@reprise/testing";
import { describe, test } from "vitest";
import { freshDirectory, historyHarness, sharedHarness, suiteHarness } from "./support/stores.ts";

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

describe("the history suite on lmdb", () => {
  test.each(historySuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    await one.run(historyHarness(freshDirectory()));
  });
});
