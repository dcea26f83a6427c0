/**
 * Workers that lose a lease without knowing it (docs/design.md 4.2): one that is stopped (SIGSTOP) past its lease and wakes,
 * and one whose step blocks the event loop for three leases. Another worker has gone on; what they write is refused, and the
 * effects stay one.
 *
 * A paused attempt may still finish the one external call it was in. The payment service knows that call by its key;
 * a mail server knows no keys, so a mail that it was about to send is the one thing that may come twice.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RedisServer } from "../../support/redisServer.ts";
import { answerTo, firstRequest, resultOf, withoutMeta } from "../support/dialogue.ts";
import { CaseWorld, type Facts } from "../support/outside.ts";
import { sampled, sampleLine } from "../support/sample.ts";
import { confirmed, refundAccepted } from "../support/scenarios.ts";
import { Spares } from "../support/spares.ts";
import { sendCall } from "../support/wire.ts";
import {
  clusterTrace,
  describePlace,
  type Place,
  PlaceCounts,
  startDurableRedis,
} from "./support/clusterCase.ts";
import { inLanes } from "./support/lanes.ts";
import { type MemberPoint, Topology } from "./support/topology.ts";

const leaseMs = 1_500;
const lanes = 2;
const refund = confirmed("refund_order", { orderId: "1001" });

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

interface StaleEnding {
  readonly results: readonly unknown[];
  readonly facts: Facts;
  /** What the store said to what the stale worker wrote after it woke up. */
  readonly writes: readonly string[];
  /** The effects that it began after it woke up. */
  readonly effects: readonly string[];
}

/** Stops the worker at a point of the last round, waits for the other one's result, and lets it go on. */
async function pausedAt(place: Place): Promise<StaleEnding> {
  const world = await CaseWorld.start();
  try {
    const topology = await Topology.open(world, { redis, spares, composition: { leaseMs } });
    const first = firstRequest(refund);
    const question = resultOf(await sendCall(await topology.nextUrl(), first).reply);
    const lastRound = answerTo(first, refund, question);
    const counts = new PlaceCounts();
    const held = new Promise<MemberPoint>((resolve) => {
      let isHeld = false;
      topology.steering = {
        reached(point) {
          if (isHeld || !counts.isAt(point, place)) return point.go();
          isHeld = true;
          resolve(point);
        },
      };
    });
    const call = sendCall(await topology.nextUrl(), lastRound);
    const point = await topology.unlessItFails(held);
    const stale = await point.seat.serving;
    await stale.freeze();
    const taken = resultOf(await topology.unlessItFails(call.reply));

    const before = topology.points.length;
    const isCall = /^before (payments|mail)/.test(place.name);
    const callEnded = new Promise<void>((resolve) => {
      const after = place.name.replace("before", "after");
      topology.steering = {
        reached(reached) {
          if (reached.seat === point.seat && reached.name === after) resolve();
          reached.go();
        },
      };
    });
    stale.thaw();
    point.go();
    // The one external call that it was in is its own to finish, and ours to count.
    if (isCall) await topology.unlessItFails(callEnded);
    const late = resultOf(await sendCall(await topology.nextUrl(), lastRound).reply);
    await topology.close();
    const names = topology.points
      .slice(before)
      .filter(({ process }) => process === stale)
      .map(({ name }) => name);
    return {
      results: [withoutMeta(taken), withoutMeta(late)],
      facts: await world.facts(),
      writes: names.filter((name) => /^after (append|endRound)/.test(name)),
      effects: names.filter((name) => /^before (payments|mail)/.test(name)),
    };
  } finally {
    await world.close();
  }
}

/** The same place, counted from the first of these. */
function withinRound(place: Place, places: readonly Place[]): Place {
  const named = places.filter(({ group, name }) => group === place.group && name === place.name);
  return { ...place, occurrence: named.indexOf(place) + 1 };
}

describe("a worker that was stopped past its lease", () => {
  test("records nothing and repeats no effect", async () => {
    const setup = { scenario: refundAccepted, redis, spares };
    const { places, seen, facts } = await clusterTrace(setup);
    // From its claim of the last round to its last write the attempt is in the hands of the worker.
    const from = places.findLastIndex(({ name }) => name === "after claimQueued: CLAIMED");
    const to = places.findLastIndex(({ name }) => name === "before endRound completed");
    const inRound = places.slice(places.findIndex(({ name }) => name === "before claimRound"));
    const held = places
      .slice(from, to + 1)
      .filter(({ group }) => group === "worker")
      .map((place) => withinRound(place, inRound));
    const taken = sampled("stale worker", held);
    process.stdout.write(sampleLine("stale worker", taken.length, held.length, "points"));
    const each = async (place: Place) => {
      const stale = await pausedAt(place);
      const result = seen[0]?.result;
      expect(stale.results).toEqual([result, result]);
      expect(stale.effects).toEqual([]);
      // It tries one write at most, unless its renewal has told it before; the end of the test may find it at that.
      const refusals = stale.writes.map((write) => write.replace(/^.*: /, ""));
      expect(["", "LEASE_LOST", "it threw"]).toContain(refusals.join());
      const mailedTwice = place.name === "before mail.receipt";
      const mails = mailedTwice ? [...facts.mails, ...facts.mails] : facts.mails;
      expect(stale.facts).toEqual({ ...facts, mails });
    };
    await inLanes(lanes, taken, each, describePlace);
  });
});

describe("a step that blocks the event loop of its process for three leases", () => {
  test.each([
    { who: "two workers", workers: 2 },
    { who: "one worker, which finds its own attempt lost", workers: 1 },
    { who: "one front without workers", workers: 0 },
  ])("is recorded once by $who", async ({ workers }) => {
    const world = await CaseWorld.start();
    try {
      const confirmedFile = world.path("executions");
      const composition = { server: "blockedSteps", confirmedFile, leaseMs } as const;
      const topology = await Topology.open(world, {
        redis,
        spares,
        workers,
        fronts: workers === 0 ? 1 : 2,
        composition,
      });
      const call = { name: "blocked_refund", arguments: { orderId: "1001", blockMs: 3 * leaseMs } };
      const results: unknown[] = [];
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const sent = sendCall(await topology.nextUrl(), call);
        results.push(withoutMeta(resultOf(await topology.unlessItFails(sent.reply))));
      }
      await topology.close();
      const executions = readFileSync(confirmedFile, "utf8").trim().split("\n");
      const { refunds } = await world.facts();
      expect(results[1]).toEqual(results[0]);
      expect(refunds).toHaveLength(1);
      // The one whose record stands is one of those that executed.
      const told = executions.map((each) => ({
        resultType: "complete",
        content: [{ type: "text", text: `Refunded by execution ${each}.` }],
      }));
      expect(told).toContainEqual(results[0]);
      const ends = topology.points.filter(({ name }) => name === "after endRound completed: OK");
      expect(ends).toHaveLength(1);
      process.stdout.write(`blocked for three leases: ${executions.length} executions\n`);
    } finally {
      await world.close();
    }
  });
});
