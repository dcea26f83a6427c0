/**
 * When a front learns that a worker died with one of its jobs, on a played clock, for leases of every length.
 */
import { JobWatch } from "@reprise/pool";
import { createManualClock } from "@reprise/testing";
import { describe, expect, test } from "vitest";

/** What design 7 allows beyond a lease, for everything from a worker's death to the next one's work. */
const ALLOWED_MS = 5_000;
/** How long a front waits before it queues the run again (the runtime's own pause). */
const REQUEUE_MS = 500;
/** For the next worker's own work. */
const LEFT_FOR_WORK_MS = 2_500;
const leases = [100, 1_000, 1_500, 5_000, 10_000, 60_000];

/** A job of a worker that renews its lock twice a lease, as BullMQ does, until it dies. */
function played(leaseMs: number, { tripMs = 0 } = {}) {
  const clock = createManualClock();
  const start = clock.now();
  const addedAt = start;
  let diedAt = Number.POSITIVE_INFINITY;
  let failing = false;
  const lost: number[] = [];
  const failures: unknown[] = [];
  const lockUntil = (): number => {
    const lastRenewal = Math.floor((Math.min(clock.now(), diedAt) - start) / (leaseMs / 2));
    return start + lastRenewal * (leaseMs / 2) + leaseMs;
  };
  const trip = (): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(tripMs, resolve);
    });
  const watch = new JobWatch(
    { now: clock.now, monotonic: clock.now, after: clock.setTimer },
    leaseMs,
    {
      open: (forMs) => (lost.length === 0 && clock.now() - addedAt >= forMs ? ["job"] : []),
      async missing(ids) {
        if (tripMs > 0) await trip();
        if (failing) throw new Error("Redis is away");
        return lockUntil() <= clock.now() ? ids : [];
      },
      lost: () => void lost.push(clock.now()),
      failed: (error) => void failures.push(error),
    },
  );
  watch.start();
  /** Lets time pass in pieces, so that replies come in between. */
  const pass = async (ms: number, piece = Math.max(5, leaseMs / 100)): Promise<void> => {
    for (let left = ms; left > 0; left -= piece) {
      clock.advance(Math.min(piece, left));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    ...{ clock, watch, lost, failures, pass },
    die: () => {
      diedAt = clock.now();
      return diedAt;
    },
    fail: (isFailing: boolean) => {
      failing = isFailing;
    },
  };
}

describe("a worker that dies with a job", () => {
  test.each(leases)(
    "is missed so soon with a lease of %i ms that a lease and 5 s are enough for the next one, whenever it dies",
    async (leaseMs) => {
      for (const share of [0.01, 0.26, 0.51, 0.77, 1, 1.49, 2.03]) {
        const { die, pass, lost, watch } = played(leaseMs, { tripMs: Math.min(20, leaseMs / 50) });
        await pass(share * leaseMs);
        const diedAt = die();
        await pass(leaseMs + ALLOWED_MS);
        watch.close();
        expect(lost).toHaveLength(1);
        const missedAfterMs = (lost[0] ?? Number.NaN) - diedAt;
        expect(missedAfterMs).toBeLessThanOrEqual(
          leaseMs + ALLOWED_MS - REQUEUE_MS - LEFT_FOR_WORK_MS,
        );
      }
    },
  );

  test("is missed as soon after Redis was away as after any other look", async () => {
    const { die, pass, fail, lost, failures, watch, clock } = played(5_000);
    die();
    fail(true);
    await pass(20_000);
    expect(failures.length).toBeGreaterThan(10);
    fail(false);
    const backAt = clock.now();
    await pass(2_000);
    watch.close();
    expect(lost).toHaveLength(1);
    expect((lost[0] ?? Number.NaN) - backAt).toBeLessThanOrEqual(1_500);
  });
});

describe("a worker that lives", () => {
  test.each(leases)("is never missed, with a lease of %i ms", async (leaseMs) => {
    const { pass, lost, watch } = played(leaseMs, { tripMs: Math.min(20, leaseMs / 50) });
    await pass(10 * leaseMs, leaseMs / 20);
    watch.close();
    expect(lost).toEqual([]);
  });

  test("is looked at by nobody once the front has closed", async () => {
    const { die, pass, lost, watch, clock } = played(1_000);
    die();
    watch.close();
    await pass(5_000);
    expect(lost).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });
});
