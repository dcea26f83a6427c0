/**
 * Fifty parallel retries of a refund's last round, in turn at two fronts, executed by two workers on one Redis.
 *
 * Counted at the payment service, in the mail log, and in a file that gets a line whenever a handler comes past its accepted
 * confirm: one execution, whoever asks and whoever hangs up.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longRun, seed } from "../../support/config.ts";
import type { RedisServer } from "../../support/redisServer.ts";
import { resultsOf } from "../support/crowd.ts";
import { seededNumbers } from "../support/sample.ts";
import { confirmed } from "../support/scenarios.ts";
import { Spares } from "../support/spares.ts";
import { startDurableRedis } from "./support/clusterCase.ts";
import { ClusterCrowd } from "./support/clusterCrowd.ts";

const clients = 50;
const rounds = longRun ? 20 : 2;
const refund = confirmed("refund_order", { orderId: "1001" });
const refunded = { resultType: "complete", content: [{ type: "text", text: "Refunded €49.90." }] };
const outside = {
  refunds: [{ orderId: "1001", amount: 4990 }],
  bookings: [],
  cancelled: [],
  mails: [{ to: ["ada@example.com"], subject: "Your refund for order 1001" }],
};
const once = { confirmed: 1, outside };

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

const next = seededNumbers("cluster parallel retries");
const anyClient = (): number => Math.floor(next() * clients);
const gather = (): Promise<ClusterCrowd> => ClusterCrowd.gather(refund, { redis, spares });

describe(`${clients} retries of one round at two fronts (seed ${seed})`, () => {
  test("execute once and get equal results when all have joined before the first effect", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await gather();
      crowd.hold("before payments.refund");
      const calls = await crowd.send(clients);
      await crowd.until(clients, /^after claimRound/);
      crowd.go();
      expect(await resultsOf(calls)).toEqual(calls.map(() => refunded));
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  test("execute once and get equal results in whatever order they come", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await gather();
      const calls = await crowd.send(clients);
      expect(await resultsOf(calls)).toEqual(calls.map(() => refunded));
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  test("give the fiftieth its result when the other forty-nine hang up while it waits", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await gather();
      crowd.hold("before payments.refund");
      const calls = await crowd.send(clients);
      await crowd.until(clients, /^after claimRound/);
      const survivor = anyClient();
      for (const [place, call] of calls.entries()) if (place !== survivor) call.cut();
      await crowd.until(clients - 1, /^after leave/);
      crowd.go();
      expect(await resultsOf(calls.slice(survivor, survivor + 1))).toEqual([refunded]);
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  test("give the fiftieth its result when the others hang up at any moment", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await gather();
      const paying = crowd.until(1, /^before payments.refund/);
      const calls = await crowd.send(clients);
      const survivor = anyClient();
      await paying;
      for (const [place, call] of calls.entries()) if (place !== survivor) call.cut();
      expect(await resultsOf(calls.slice(survivor, survivor + 1))).toEqual([refunded]);
      const { confirmed: executions, outside: effects } = await crowd.disperse();
      expect(effects).toEqual(outside);
      // A survivor that comes behind all hang-ups finds the attempt stopped, and goes on from its record with another.
      expect(executions).toBeLessThanOrEqual(2);
    }
  });
});
