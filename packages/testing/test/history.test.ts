/**
 * The history in memory keeps the promises of every history.
 */
import { createManualClock, createMemoryHistory, historySuite } from "@reprise/testing";
import { describe, test } from "vitest";

describe("the history suite in memory", () => {
  test.each(historySuite.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { now, advance } = createManualClock();
    const history = createMemoryHistory(now);
    await one.run({ open: async () => history, now, advance });
  });
});
