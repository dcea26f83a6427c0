/**
 * Runs that are no longer wanted: who is ended, who hears of it, and what stands (design 4.3, 4.5).
 */
import assert from "node:assert/strict";
import type { CancelRun } from "@reprise/runtime";
import {
  answer,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  expectTag,
  first,
  known,
  loaded,
  noSignal,
  progress,
  queued,
  round,
  type StoreCase,
  stepDone,
  waitingFor,
} from "./fixtures.ts";

/** Longer than any case takes: a watch that hangs fails by the runner's own limit. */
const LONG_MS = 3_600_000;

const unwanted = (runId: string, principal?: string): CancelRun => ({
  runId,
  principal,
  reason: undefined,
});

/** Cancelled runs. */
export const cancelCases: readonly StoreCase[] = [
  {
    // promise P4.5.12
    title: "a cancelled attempt records nothing more, and is told so by whatever it sends",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      expectTag(await other.cancel(unwanted("run1")), "CANCELLED");
      const late = progress(2, { entries: [stepDone("a")] });
      expectTag(await owner.append(ref, late), "CANCELLED");
      expectTag(await owner.renew(ref), "CANCELLED");
      expectTag(await owner.endRound(ref, late, completedWith("late")), "CANCELLED");
      const { head, entries } = await loaded(other, "run1");
      assert.equal(head.status, "cancelled");
      assert.equal(head.lease, undefined);
      assert.deepEqual([head.waiters, entries], [[], []]);
    },
  },
  {
    title: "a write of a cancelled attempt that is sent again is not taken for the recorded one",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const starts = progress(2, { stepStarts: true });
      expectTag(await store.append(ref, starts), "OK");
      expectTag(await store.cancel(unwanted("run1")), "CANCELLED");
      expectTag(await store.append(ref, starts), "CANCELLED");
    },
  },
  {
    title: "the process that executes hears of the cancel, and of a stop before it, once each",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      const heard: string[] = [];
      const next = (): Promise<void> =>
        new Promise((resolve) => {
          const before = heard.length;
          const look = (): void => {
            if (heard.length > before) resolve();
            else setImmediate(look);
          };
          look();
        });
      owner.onStopping("run1", 1, (why) => heard.push(why));
      const stopped = next();
      assert.deepEqual(await other.leave("run1", 1, "creator"), { stopping: true });
      await harness.advance(900);
      await stopped;
      const cancelled = next();
      expectTag(await other.cancel(unwanted("run1")), "CANCELLED");
      await harness.advance(900);
      await cancelled;
      expectTag(await other.cancel(unwanted("run1")), "CANCELLED");
      await harness.advance(900);
      assert.deepEqual(heard, ["left", "cancelled"]);
      await owner.close();
    },
  },
  {
    title: "an open question ends with the cancel, and its answer finds that",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      expectTag(await store.cancel({ ...unwanted("run1"), reason: "not wanted" }), "CANCELLED");
      const retry = round(harness, "run1", 1, { answers: { confirm: answer(true) } });
      const { head } = expectTag(await store.claimRound(retry), "RECORDED");
      assert.equal(head.status, "cancelled");
      assert.deepEqual(head.pending, []);
      assert.deepEqual(head.response, {
        kind: "error",
        code: "RUN_CANCELLED",
        message: "the run was cancelled: not wanted",
        data: { runId: "run1", round: 1, status: "cancelled", reason: "not wanted" },
      });
    },
  },
  {
    // promise P4.5.11
    title: "queued, interrupted, mismatched, abandoned and parked runs end at once",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "queued");
      const retry = round(harness, "queued", 1, { answers: { confirm: answer(true) } });
      const job = expectTag(await store.claimRound({ ...retry, queue: true }), "QUEUED");
      for (const to of ["interrupted", "mismatched", "released"] as const) {
        const ref = await createRunning(store, to);
        expectTag(await store.endRound(ref, progress(2), { to }), "OK");
      }
      const response = { kind: "error", code: "X", message: "m", data: undefined } as const;
      const parked = await createRunning(store, "parked");
      expectTag(await store.endRound(parked, progress(2), { to: "parked", response }), "OK");
      for (const runId of ["queued", "interrupted", "mismatched", "released", "parked"]) {
        expectTag(await store.cancel(unwanted(runId)), "CANCELLED");
        assert.equal((await loaded(store, runId)).head.status, "cancelled", runId);
        expectTag(await store.claimKnown(known(harness, runId, "w2")), "RECORDED");
      }
      expectTag(await store.claimQueued(queued(harness, "queued", job.epoch)), "STALE");
      await harness.advance(store.leaseMs * 2);
      assert.deepEqual(await store.findAbandoned(10), []);
    },
  },
  {
    // promise P4.5.10
    title: "what was recorded first stands, and a second cancel changes nothing",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "done");
      expectTag(await store.endRound(ref, progress(2), completedWith("x")), "OK");
      const late = expectTag(await store.cancel(unwanted("done")), "ENDED");
      assert.equal(late.status, "completed");
      await createWaiting(store, harness, "run1");
      expectTag(await store.cancel(unwanted("run1")), "CANCELLED");
      const before = await loaded(store, "run1");
      expectTag(await store.cancel({ ...unwanted("run1"), reason: "again" }), "CANCELLED");
      assert.deepEqual(await loaded(store, "run1"), before);
      expectTag(await store.cancel(unwanted("nowhere")), "LOST");
    },
  },
  {
    title: "another principal's run is neither cancelled nor joined, and looks like none",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "run1");
      expectTag(await store.cancel(unwanted("run1", "mallory")), "LOST");
      const join = { ...known(harness, "run1", "w2"), principal: "mallory" };
      expectTag(await store.claimKnown(join), "LOST");
      assert.equal((await loaded(store, "run1")).head.waiters.length, 1);
      expectTag(await store.cancel(unwanted("run1", "anonymous")), "CANCELLED");
      expectTag(await store.claimKnown(join), "LOST");
    },
  },
  {
    title:
      "the key is free after a cancel before any step, and kept after one that may have started",
    run: async (harness) => {
      const store = await harness.open();
      const untouched = claimed(await store.claimFirst(first(harness, "w1"))).ref;
      expectTag(await store.cancel(unwanted(untouched.runId)), "CANCELLED");
      const second = claimed(await store.claimFirst(first(harness, "w2")));
      assert.equal(second.record.origin.key?.generation, 2);
      expectTag(await store.append(second.ref, progress(1, { stepStarts: true })), "OK");
      expectTag(await store.cancel(unwanted(second.ref.runId)), "CANCELLED");
      const third = expectTag(await store.claimFirst(first(harness, "w3")), "RECORDED");
      assert.equal(third.head.status, "cancelled");
      assert.equal(third.head.openStepPossible, true);
    },
  },
  {
    title: "a cancelled question no longer counts against the limit of waiting runs",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < harness.maxWaitingRuns; index += 1) {
        await createWaiting(store, harness, `run${index}`);
      }
      const next = { ...first(harness, "w1"), principal: "anonymous" };
      expectTag(await store.claimFirst(next), "TOO_MANY_WAITING");
      expectTag(await store.cancel(unwanted("run0")), "CANCELLED");
      claimed(await store.claimFirst(next));
    },
  },
  {
    title: "watches of every process wake at the cancel, and the record lives as other ended ones",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      const watches = [owner, other].map((store) => store.watch("run1", 1, LONG_MS, noSignal));
      expectTag(await other.cancel(unwanted("run1")), "CANCELLED");
      await Promise.all(watches);
      await harness.advance(harness.retentionMs - 1_000);
      assert.equal(await owner.removeExpired(10), 0);
      await harness.advance(2_000);
      assert.equal(await owner.removeExpired(10), 1);
      assert.equal(await owner.load("run1"), undefined);
    },
  },
  {
    title: "an attempt records itself that its run is no longer wanted, and may send that again",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const response = {
        kind: "error",
        code: "RUN_CANCELLED",
        message: "the run was cancelled",
        data: { runId: "run1", round: 0, status: "cancelled" },
      } as const;
      const end = { to: "cancelled", response, keyFree: true } as const;
      const last = progress(2, { entries: [stepDone("a")] });
      expectTag(await store.endRound(ref, last, end), "OK");
      expectTag(await store.endRound(ref, last, end), "OK");
      const { head, entries } = await loaded(store, "run1");
      assert.deepEqual([head.status, head.response], ["cancelled", response]);
      assert.equal(entries.length, 1);
      const next = progress(3);
      expectTag(await store.endRound(ref, next, waitingFor(harness, "confirm")), "CANCELLED");
    },
  },
];
