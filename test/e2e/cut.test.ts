/**
 * The cut matrix: the client's connection is closed at every point of a run, and the client repeats.
 *
 * The attempt that nobody waits for any more is stopped, what it has begun is finished and recorded, and the repeat
 * gets the undisturbed result (docs/design.md 4.5). The points are those of the kill matrix.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cutAt, cutOrders, startedAfterStop } from "./support/cutCase.ts";
import { sampled, sampleLine } from "./support/sample.ts";
import { scenarios } from "./support/scenarios.ts";
import { Spares } from "./support/spares.ts";
import { trace } from "./support/undisturbed.ts";

let spares: Spares;
beforeAll(async () => {
  spares = await Spares.start();
});
afterAll(() => spares.close());

describe.each(scenarios)("$name", (scenario) => {
  test("loses nothing and repeats nothing, wherever the client's connection is cut", async () => {
    const undisturbed = await trace({ scenario }, spares);
    const { points, ...ending } = undisturbed;
    const all = [...points.keys()].flatMap((place) => cutOrders.map((order) => ({ place, order })));
    const cases = sampled(`cut ${scenario.name}`, all);
    process.stdout.write(sampleLine(scenario.name, cases.length, all.length, "cuts"));
    for (const { place, order } of cases) {
      const where = `cut at ${place}, ${points[place]}, ${order}`;
      const { points: reached, ...ended } = await cutAt(
        { scenario },
        place,
        order,
        undisturbed,
        spares,
      );
      expect(ended, where).toEqual(ending);
      expect(startedAfterStop(reached), where).toEqual([]);
    }
  });
});
