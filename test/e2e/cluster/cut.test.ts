/**
 * The cut matrix on many instances: the client's connection to its front is closed at every point of front and worker, and
 * the client repeats at the other front. The points are those of the kill matrix.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RedisServer } from "../../support/redisServer.ts";
import { cutOrders } from "../support/cutCase.ts";
import { sampled, sampleLine } from "../support/sample.ts";
import { scenarios } from "../support/scenarios.ts";
import { Spares } from "../support/spares.ts";
import { clusterTrace, describePlace, startDurableRedis } from "./support/clusterCase.ts";
import { clusterCut } from "./support/clusterCut.ts";
import { inLanes } from "./support/lanes.ts";

const lanes = 2;

let spares: Spares;
let redis: RedisServer;
beforeAll(async () => {
  spares = await Spares.start(4);
  redis = await startDurableRedis();
});
afterAll(async () => {
  await spares.close();
  await redis.stop();
});

describe.each(scenarios)("$name", (scenario) => {
  test("loses nothing and repeats nothing, wherever the client's connection is cut", async () => {
    const setup = { scenario, redis, spares };
    const { places, ...ending } = await clusterTrace(setup);
    const all = places.flatMap((place) => cutOrders.map((order) => ({ place, order })));
    const taken = sampled(`cluster cut ${scenario.name}`, all);
    process.stdout.write(sampleLine(scenario.name, taken.length, all.length, "cuts"));
    const each = async ({ place, order }: (typeof all)[number]) => {
      const ended = await clusterCut(setup, place, order);
      expect(ended).toEqual({ ...ending, wasCut: true, begunAfterStop: [] });
    };
    const where = ({ place, order }: (typeof all)[number]) =>
      `cut at ${describePlace(place)}, ${order}`;
    await inLanes(lanes, taken, each, where);
  });
});
