/**
 * The checker can fail: each bug that a store can have is planted, and the simulation finds it.
 */
import { simulate } from "@reprise/testing/simulation";
import { describe, expect, test } from "vitest";
import { plants } from "./support/plants.ts";

describe("the simulation finds, within 1,000 seeds,", () => {
  test.each(Object.entries(plants))(
    "that %s",
    async (_what, plant) => {
      const { violations } = await simulate({
        seeds: 1_000,
        plant: { store: plant() },
        stopAfter: 1,
      });
      expect(violations).toHaveLength(1);
    },
    120_000,
  );
});
