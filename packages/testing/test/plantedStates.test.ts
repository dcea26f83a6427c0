/**
 * The checker can fail where no run is recorded, and where a page finishes a question: each bug is planted, and the simulation
 * finds it.
 */
import { simulate } from "@reprise/testing/simulation";
import { describe, expect, test } from "vitest";
import { statePlants } from "./support/statePlants.ts";

describe("the simulation finds, within 1,000 seeds,", () => {
  test.each(Object.entries(statePlants))(
    "that %s",
    async (_what, plant) => {
      const { violations } = await simulate({ seeds: 1_000, plant, stopAfter: 1 });
      expect(violations).toHaveLength(1);
    },
    120_000,
  );
});
