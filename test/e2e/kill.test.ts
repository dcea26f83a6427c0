/**
 * The kill matrix: SIGKILL at every point of a run, counted at the payment service and in the mail log.
 *
 * The points are those of the undisturbed run: before and after each store commit, before each effect is sent and
 * after it was answered, and before, in the middle of and after each response. A normal run takes a seeded fifth of
 * them, a long run all, and adds runs that are killed a second time while they recover.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longRun } from "../support/config.ts";
import { killAt } from "./support/killCase.ts";
import { sampled, sampleLine, seededNumbers } from "./support/sample.ts";
import { scenarios } from "./support/scenarios.ts";
import { Spares } from "./support/spares.ts";
import { trace } from "./support/undisturbed.ts";

let spares: Spares;
beforeAll(async () => {
  spares = await Spares.start();
});
afterAll(() => spares.close());

/** How many of the runs are killed twice. */
const killedTwice = longRun ? 60 : 4;
/** A recovery comes to at least this many points before it answers. */
const shortestRecovery = 3;

describe.each(scenarios)("$name", (scenario) => {
  // promise P4.2.3
  test("gives the undisturbed result and each effect once, wherever the server is killed", async () => {
    const undisturbed = await trace({ scenario }, spares);
    const { points, ...ending } = undisturbed;
    const places = sampled(`kill ${scenario.name}`, [...points.keys()]);
    process.stdout.write(sampleLine(scenario.name, places.length, points.length, "kill points"));
    for (const place of places) {
      const ended = await killAt({ scenario }, [place], undisturbed, spares);
      expect(ended, `killed at ${place}, ${points[place]}`).toEqual(ending);
    }
  });

  test("gives the same when the process that recovers is killed as well", async () => {
    const undisturbed = await trace({ scenario }, spares);
    const { points, ...ending } = undisturbed;
    const next = seededNumbers(`second kill ${scenario.name}`);
    for (let count = 0; count < killedTwice; count += 1) {
      const first = Math.floor(next() * points.length);
      const second = Math.floor(next() * shortestRecovery * 3);
      const ended = await killAt({ scenario }, [first, second], undisturbed, spares);
      expect(ended, `killed at ${first}, ${points[first]}, and ${second} later`).toEqual(ending);
    }
  });
});
