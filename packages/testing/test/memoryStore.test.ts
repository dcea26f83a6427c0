/**
 * The memory store keeps the promises of every run store.
 */
import assert from "node:assert/strict";
import type { RunStore } from "@reprise/runtime";
import {
  createManualClock,
  createMemoryStore,
  type MemoryStore,
  storeSuite,
} from "@reprise/testing";
import { describe, test } from "vitest";

describe("the store conformance suite on memory", () => {
  test.each(storeSuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const clock = createManualClock();
    const options = { ...clock, retentionMs: 3_600_000, maxWaitingRuns: 3 };
    const root = createMemoryStore(options);
    const opened = new Map<RunStore, MemoryStore>();
    await one.run({
      open: async () => {
        const store = root.another();
        opened.set(store, store);
        return store;
      },
      now: clock.now,
      advance: clock.advance,
      kill: (store) => opened.get(store)?.kill(),
      seesDeath: true,
      retentionMs: options.retentionMs,
      maxWaitingRuns: options.maxWaitingRuns,
    });
    for (const store of opened.keys()) await store.close();
    assert.equal(clock.pendingTimers(), 0, "a timer was left behind");
  });
});
