/**
 * The kill matrix on many instances: two fronts that take requests in turn, two workers, one Redis that flushes every write.
 *
 * SIGKILL for the front, the worker or Redis at every point of a run: before and after each store call, each effect and each
 * response's beginning, middle and end; Redis also while a store call is under way. What was killed is started again at once,
 * the client repeats at the other front, and the payment service and the mail log are counted. A normal run takes a seeded
 * fifth, a long run all, and more runs whose recovery is killed as well.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longRun } from "../../support/config.ts";
import type { RedisServer } from "../../support/redisServer.ts";
import { sampled, sampleLine, seededNumbers } from "../support/sample.ts";
import { scenarios } from "../support/scenarios.ts";
import { Spares } from "../support/spares.ts";
import {
  type ClusterSetup,
  clusterKill,
  clusterTrace,
  describeKill,
  type Kill,
  killsOf,
  startDurableRedis,
} from "./support/clusterCase.ts";
import { inLanes } from "./support/lanes.ts";

/** Members that are killed are taken over after this; shorter ones are lost by who only has to wait for a processor. */
const leaseMs = 1_500;
/** While Redis is away nobody is dead: a lease must outlive its restart. */
const patientLeaseMs = 10_000;
const lanes = 3;
const killedTwice = longRun ? 60 : 3;
/** A recovery comes to at least this many points. */
const shortestRecovery = 9;

let spares: Spares;
let shared: RedisServer;
beforeAll(async () => {
  spares = await Spares.start(4);
  shared = await startDurableRedis();
});
afterAll(async () => {
  await spares.close();
  await shared.stop();
});

/** Every lane has its own Redis: one that is killed would disturb the others. */
async function withRedis<Value>(work: (redis: RedisServer) => Promise<Value>): Promise<Value> {
  const redis = await startDurableRedis();
  try {
    return await work(redis);
  } finally {
    await redis.stop();
  }
}

describe.each(scenarios)("$name", (scenario) => {
  const setupOf = (redis: RedisServer, lease: number): ClusterSetup => ({
    scenario,
    redis,
    spares,
    composition: { leaseMs: lease },
  });
  const endingOf = (kill: Kill) =>
    kill.victim === "member"
      ? clusterKill(setupOf(shared, leaseMs), kill)
      : withRedis((redis) => clusterKill(setupOf(redis, patientLeaseMs), kill));

  test("gives the undisturbed result and each effect once, whoever is killed wherever", async () => {
    const { places, ...ending } = await clusterTrace(setupOf(shared, patientLeaseMs));
    const all = killsOf({ places, ...ending });
    const taken = sampled(`cluster kill ${scenario.name}`, all);
    process.stdout.write(
      sampleLine(scenario.name, taken.length, all.length, `kills at ${places.length} points`),
    );
    const each = async (kill: Kill) => {
      expect(await endingOf(kill)).toEqual({ ...ending, kills: 1 });
    };
    await inLanes(lanes, taken, each, describeKill);
  });

  test("gives the same when who recovers is killed as well", async () => {
    const { places, ...ending } = await clusterTrace(setupOf(shared, patientLeaseMs));
    const next = seededNumbers(`cluster second kill ${scenario.name}`);
    const anyOf = (count: number): number => Math.floor(next() * count);
    // The last points have nothing after them that could be killed.
    const early = killsOf({ places: places.slice(0, -shortestRecovery), ...ending });
    const twice = Array.from({ length: killedTwice }, () => ({
      ...(early[anyOf(early.length)] as Kill),
      again: 1 + anyOf(shortestRecovery),
    }));
    let second = 0;
    const each = async (kill: Kill) => {
      const { kills, ...ended } = await endingOf(kill);
      second += kills - 1;
      expect(ended).toEqual(ending);
    };
    await inLanes(lanes, twice, each, describeKill);
    // A recovery may have ended before it came so far.
    process.stdout.write(`${scenario.name}: ${second} of ${killedTwice} runs were killed twice\n`);
  });
});
