/**
 * The shared records of one process and those of the memory store keep the promises of their port.
 */
import assert from "node:assert/strict";
import { createProcessRecords } from "@reprise/runtime";
import { createManualClock, createMemoryStore, sharedSuite } from "@reprise/testing";
import { describe, test } from "vitest";

const cases = sharedSuite.map((one) => [one.title, one] as const);

describe("the suite of shared records within one process", () => {
  test.each(cases)("%s", async (_title, one) => {
    const { now, advance } = createManualClock();
    const shared = createProcessRecords(now);
    await one.run({ open: async () => ({ shared }), now, advance });
  });
});

describe("the suite of shared records on the memory store", () => {
  test.each(cases)("%s", async (_title, one) => {
    const clock = createManualClock();
    const root = createMemoryStore(clock);
    const open = async () => {
      const { shared, close } = root.another();
      return { shared, close };
    };
    await one.run({ open, now: clock.now, advance: clock.advance });
  });
});

describe("shared records of the memory store", () => {
  test("end with the death of their process, and its listeners hear nothing after it", async () => {
    const root = createMemoryStore();
    const other = root.another();
    const heard: string[] = [];
    await other.shared.listen("changes", (notice) => heard.push(notice));
    await root.shared.publish("changes", "before");
    other.kill();
    await root.shared.publish("changes", "after");
    assert.deepEqual(heard, ["before"]);
    await assert.rejects(other.shared.get({ kind: "a", id: "b" }), { code: "STORE_UNAVAILABLE" });
  });
});
