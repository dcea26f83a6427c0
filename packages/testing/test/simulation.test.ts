/**
 * The shipped runtime keeps its promises (docs/design.md, sections 3 and 4) whatever order things happen in.
 *
 * A seed that fails prints its program, its conversation and all that happened; `npm run simulate -- --seeds 1 --seed S` plays it
 * again.
 */
import { playSeed, simulate } from "@reprise/testing/simulation";
import { expect, test } from "vitest";
import { longRun, seed } from "../../../test/support/config.ts";

const seeds = longRun ? 10_000 : 250;

test(
  `${seeds} seeds break no promise`,
  async () => {
    const { violations, events, reports } = await simulate({ seeds, firstSeed: seed });
    expect(violations.map(({ story }) => story)).toEqual([]);
    // What tests nothing breaks nothing: there was trouble of every sort, and there was an effect in most runs.
    expect(events).toBeGreaterThan(seeds * 100);
    const sorts = [
      "crashes",
      "pauses",
      "storeFailures",
      "disconnects",
      "effects",
      "expiries",
      "pages",
      "repeatables",
    ] as const;
    for (const sort of sorts) {
      const total = reports.reduce((sum, report) => sum + report[sort], 0);
      expect(total, sort).toBeGreaterThan(seeds / 50);
    }
  },
  longRun ? 3_600_000 : 120_000,
);

test("a seed gives the same events in the same order each time it is played", async () => {
  for (const number of [seed, seed + 1, seed + 2, seed + 3]) {
    const first = await playSeed(number);
    expect(first.kind).toBe("kept");
    expect(await playSeed(number)).toEqual(first);
  }
});

test("a number of seeds that is none is refused by name", async () => {
  await expect(simulate({ seeds: 0 })).rejects.toThrow("seeds must be a whole number of 1 or more");
});
