/**
 * Fifty parallel retries of a refund's last round, spread over four processes on one data directory.
 *
 * Counted at the payment service, in the mail log, and in a file that gets a line whenever a handler comes past its
 * accepted confirm: one execution, whoever asks and whoever hangs up.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longRun, seed } from "../support/config.ts";
import { Crowd, resultsOf } from "./support/crowd.ts";
import { seededNumbers } from "./support/sample.ts";
import { confirmed } from "./support/scenarios.ts";
import { Spares } from "./support/spares.ts";

const processes = 4;
const clients = 50;
const rounds = longRun ? 20 : 2;
const refund = confirmed("refund_order", { orderId: "1001" });
const refunded = { resultType: "complete", content: [{ type: "text", text: "Refunded €49.90." }] };
const once = {
  confirmed: 1,
  outside: {
    refunds: [{ orderId: "1001", amount: 4990 }],
    bookings: [],
    cancelled: [],
    mails: [{ to: ["ada@example.com"], subject: "Your refund for order 1001" }],
  },
};

let spares: Spares;
beforeAll(async () => {
  spares = await Spares.start(0);
});
afterAll(() => spares.close());

const next = seededNumbers("parallel retries");
const anyClient = (): number => Math.floor(next() * clients);

describe(`${clients} retries of one round over ${processes} processes (seed ${seed})`, () => {
  test("execute once and get equal results when all have joined before the first effect", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await Crowd.gather(refund, processes, spares);
      const effect = crowd.holdEffect();
      const calls = crowd.send(clients);
      await effect.until(clients, /^after claimRound/);
      effect.go();
      expect(await resultsOf(calls)).toEqual(calls.map(() => refunded));
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  // promise P4.2.4
  test("execute once and get equal results in whatever order they come", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await Crowd.gather(refund, processes, spares);
      const calls = crowd.send(clients);
      expect(await resultsOf(calls)).toEqual(calls.map(() => refunded));
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  test("give the fiftieth its result when the other forty-nine hang up while it waits", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await Crowd.gather(refund, processes, spares);
      const effect = crowd.holdEffect();
      const calls = crowd.send(clients);
      await effect.until(clients, /^after claimRound/);
      const survivor = anyClient();
      const left = effect.until(clients - 1, /^after leave/);
      for (const [place, call] of calls.entries()) if (place !== survivor) call.cut();
      await left;
      effect.go();
      expect(await resultsOf(calls.slice(survivor, survivor + 1))).toEqual([refunded]);
      expect(await crowd.disperse()).toEqual(once);
    }
  });

  test("give the fiftieth its result when the others hang up at any moment", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const crowd = await Crowd.gather(refund, processes, spares);
      const paying = crowd.reached("before payments.refund");
      const calls = crowd.send(clients);
      const survivor = anyClient();
      await paying;
      for (const [place, call] of calls.entries()) if (place !== survivor) call.cut();
      expect(await resultsOf(calls.slice(survivor, survivor + 1))).toEqual([refunded]);
      const { outside, confirmed } = await crowd.disperse();
      expect(outside).toEqual(once.outside);
      // A survivor that comes behind all hang-ups finds the attempt stopped, and goes on from its record with another.
      expect(confirmed).toBeLessThanOrEqual(2);
    }
  });
});
