/**
 * Runs that are undone: how that begins, who is given them, how it ends; and runs that an operator releases (design 3.9, 4.5).
 */
import assert from "node:assert/strict";
import type { AttemptRef, Progress, RoundEnd, RunStore, RunUndo } from "@reprise/runtime";
import {
  answer,
  claimed,
  createRunning,
  expectTag,
  first,
  known,
  loaded,
  noSignal,
  progress,
  queued,
  round,
  STATE_LIFETIME_MS,
  type StoreCase,
  type StoreHarness,
  stepDone,
  waitingFor,
} from "./fixtures.ts";

const unwanted = (runId: string) => ({ runId, principal: undefined, reason: undefined });
const response: RunUndo["response"] = {
  kind: "error",
  code: "INTERNAL",
  message: "full",
  data: {},
};
const failed: RoundEnd = { to: "undoing", undo: { why: "failed", response } };
const undone: RoundEnd = { to: "undone", response, keyFree: true };
const wholeDays30 = 30 * 24 * 60 * 60 * 1000;

/** The progress of a step with an undo function that was started and recorded. */
function booked(sequence: number, step: string): Progress {
  return progress(sequence, {
    entries: [stepDone(step)],
    stepStarts: true,
    stepsMarked: true,
    undoable: [step],
  });
}

/** A run that waits for an answer and has something to undo. */
async function createBooked(store: RunStore, harness: StoreHarness, runId: string): Promise<void> {
  const ref = await createRunning(store, runId);
  expectTag(await store.append(ref, booked(2, "flight")), "OK");
  expectTag(await store.endRound(ref, progress(3), waitingFor(harness, "confirm")), "OK");
}

/** An attempt that undoes a run which failed. */
async function undoing(store: RunStore, harness: StoreHarness, runId: string): Promise<AttemptRef> {
  const ref = await createRunning(store, runId);
  expectTag(await store.append(ref, booked(2, "flight")), "OK");
  expectTag(await store.endRound(ref, progress(3), failed), "OK");
  return claimed(await store.claimKnown(known(harness, runId, "caller"))).ref;
}

/** Undone and released runs. */
export const undoCases: readonly StoreCase[] = [
  {
    title:
      "an attempt that ended for its run to be undone, or gave it back, records and renews nothing more",
    run: async (harness) => {
      const store = await harness.open();
      for (const end of [failed, { to: "released" }] as const) {
        const ref = await createRunning(store, `run-${end.to}`);
        expectTag(await store.append(ref, booked(2, "flight")), "OK");
        expectTag(await store.endRound(ref, progress(3), end), "OK");
        expectTag(await store.append(ref, booked(4, "hotel")), "LEASE_LOST");
        expectTag(await store.renew(ref), "LEASE_LOST");
        expectTag(await store.endRound(ref, progress(5), { to: "interrupted" }), "LEASE_LOST");
        assert.equal((await loaded(store, ref.runId)).entries.length, 1);
        expectTag(await store.claimKnown(known(harness, ref.runId, "caller")), "CLAIMED");
      }
    },
  },
  {
    // promise P4.5.29
    title:
      "what is to be undone is known from steps that are recorded or in doubt, until they are undone or were not done",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const starts = progress(2, {
        stepStarts: true,
        stepsMarked: true,
        undoable: ["a", "b"],
        marks: { a: { firstTriedAt: 1 }, b: { firstTriedAt: 1 } },
      });
      expectTag(await store.append(ref, starts), "OK");
      assert.deepEqual((await loaded(store, "run1")).head.undoable, ["a", "b"]);
      const ends = progress(3, {
        entries: [
          stepDone("a"),
          {
            kind: "step_failed",
            name: "b",
            error: { name: "Error", message: "m" },
            outcome: "not_done",
            at: 1,
          },
        ],
        marks: { a: null, b: null },
      });
      expectTag(await store.append(ref, ends), "OK");
      const { head } = await loaded(store, "run1");
      assert.deepEqual([head.undoable, head.stepsMarked], [["a"], true]);
      expectTag(await store.append(ref, progress(4, { stepStarts: true })), "OK");
      assert.equal((await loaded(store, "run1")).head.stepsMarked, false);
    },
  },
  {
    // promise P4.5.24
    title:
      "a failed run with something to undo is given to the next claim, which no disconnect stops, and ends undone",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await undoing(store, harness, "run1");
      const { head } = await loaded(store, "run1");
      assert.deepEqual([head.status, head.undo?.why, head.stoppable], ["running", "failed", false]);
      assert.deepEqual(await store.leave("run1", ref.epoch, "caller"), { stopping: false });
      const entry = { kind: "step_undone", name: "flight", at: 1 } as const;
      expectTag(await store.append(ref, progress(1, { entries: [entry] })), "OK");
      assert.equal((await loaded(store, "run1")).head.undoable, undefined);
      expectTag(await store.endRound(ref, progress(2), undone), "OK");
      const reply = expectTag(await store.claimKnown(known(harness, "run1", "late")), "RECORDED");
      assert.equal(reply.head.status, "undone");
      assert.deepEqual(reply.head.response, response);
    },
  },
  {
    // promise P4.2.24
    title:
      "a run that is being undone is kept for 30 days, and found by a sweep even if nobody can come again",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.append(ref, booked(2, "flight")), "OK");
      expectTag(await store.endRound(ref, progress(3), failed), "OK");
      const { head } = await loaded(store, "run1");
      assert.ok(head.expiresAt >= harness.now() + wholeDays30);
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      claimed(await store.claimKnown(known(harness, "run1", undefined)));
    },
  },
  {
    // promise P4.5.28
    title: "an attempt that undoes and died is taken over; nothing is in doubt by its death",
    run: async (harness) => {
      const store = await harness.open();
      const other = await harness.open();
      await undoing(store, harness, "run1");
      await harness.kill(store);
      if (!harness.seesDeath) await harness.advance(store.leaseMs + 1);
      const again = claimed(await other.claimKnown(known(harness, "run1", "again")));
      const { head } = again.record;
      assert.deepEqual([again.takeover, head.takeovers, head.openStepPossible], [true, 1, false]);
      assert.equal(head.undo?.attempts, 2);
    },
  },
  {
    title:
      "a key whose run is undone is free: the next first call makes a new run of the next generation",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.append(ref, booked(1, "flight")), "OK");
      expectTag(await store.endRound(ref, progress(2), failed), "OK");
      const undoes = claimed(await store.claimFirst(first(harness, "w2")));
      assert.equal(undoes.record.head.undo?.why, "failed");
      expectTag(await store.endRound(undoes.ref, progress(1), undone), "OK");
      const anew = claimed(await store.claimFirst(first(harness, "w3")));
      assert.equal(anew.record.origin.key?.generation, 2);
      assert.equal(anew.record.head.undo, undefined);
    },
  },
  {
    title:
      "cancelling a waiting run with something to undo leaves it to be undone, and is answered the same when it is repeated",
    run: async (harness) => {
      const store = await harness.open();
      await createBooked(store, harness, "run1");
      const reply = await store.cancel(unwanted("run1"));
      assert.deepEqual(reply, { tag: "CANCELLED", round: 1, undoing: true });
      assert.deepEqual(await store.cancel(unwanted("run1")), reply);
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      const late = { answers: { confirm: answer(true) } };
      const { ref, record } = claimed(await store.claimRound(round(harness, "run1", 1, late)));
      assert.deepEqual([record.head.undo?.why, record.head.brought], ["cancelled", {}]);
      expectTag(await store.endRound(ref, progress(1), undone), "OK");
      assert.deepEqual(await store.cancel(unwanted("run1")), { tag: "CANCELLED", round: 1 });
    },
  },
  {
    title:
      "cancelling a live attempt with something to undo tells it, and gives the run to nobody before its lease is over",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      expectTag(await owner.append(ref, booked(2, "flight")), "OK");
      let heard: string | undefined;
      const told = new Promise<void>((resolve) => {
        owner.onStopping("run1", ref.epoch, (why) => {
          heard = why;
          resolve();
        });
      });
      assert.equal(expectTag(await other.cancel(unwanted("run1")), "CANCELLED").undoing, true);
      expectTag(await owner.append(ref, booked(3, "hotel")), "CANCELLED");
      expectTag(await owner.renew(ref), "CANCELLED");
      expectTag(await other.claimKnown(known(harness, "run1", "early")), "RUNNING");
      assert.deepEqual(await other.findAbandoned(10), []);
      await harness.advance(owner.leaseMs / 2);
      expectTag(await other.claimKnown(known(harness, "run1", "early")), "RUNNING");
      await harness.advance(owner.leaseMs / 2 + 1);
      assert.deepEqual(await other.findAbandoned(10), ["run1"]);
      const { record, takeover } = claimed(await other.claimKnown(known(harness, "run1", "late")));
      assert.deepEqual([takeover, record.head.takeovers], [false, 0]);
      // Its own attempt is not one that was cancelled.
      expectTag(
        await other.renew({ ...ref, epoch: record.head.epoch, token: record.head.token }),
        "OK",
      );
      await told;
      assert.equal(heard, "cancelled");
    },
  },
  {
    // promise P4.5.36
    title:
      "a cancelled attempt that says it is over leaves its run to the next claim at once, wakes who waits, and has died of nothing",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      expectTag(await owner.append(ref, booked(2, "flight")), "OK");
      expectTag(await other.cancel(unwanted("run1")), "CANCELLED");
      // Nothing else of it counts any more, and another's word is none.
      expectTag(await owner.endRound(ref, progress(3), undone), "CANCELLED");
      const stranger = { ...ref, token: "stranger" };
      expectTag(await other.endRound(stranger, progress(3), { to: "released" }), "CANCELLED");
      const early = expectTag(await other.claimKnown(known(harness, "run1", "early")), "RUNNING");
      const watch = other.watch("run1", early.epoch, 10 * owner.leaseMs, noSignal);
      const over = await owner.endRound(ref, progress(3), { to: "released" });
      assert.deepEqual(over, { tag: "OK", stopping: false });
      // Sent again, it is the same and changes nothing.
      assert.deepEqual(await owner.endRound(ref, progress(3), { to: "released" }), over);
      await watch;
      assert.deepEqual(await other.findAbandoned(10), ["run1"]);
      const { record, takeover } = claimed(await other.claimKnown(known(harness, "run1", "early")));
      assert.deepEqual([takeover, record.head.takeovers], [false, 0]);
      assert.equal(record.head.undo?.why, "cancelled");
      // It has no say in the attempt that undoes.
      expectTag(await owner.endRound(ref, progress(3), { to: "released" }), "CANCELLED");
      expectTag(
        await other.renew({ ...ref, epoch: record.head.epoch, token: record.head.token }),
        "OK",
      );
    },
  },
  {
    title: "a waiter of the cancelled attempt's lease is woken when that is over",
    run: async (harness) => {
      const owner = await harness.open();
      const ref = await createRunning(owner, "run1");
      expectTag(await owner.append(ref, booked(2, "flight")), "OK");
      expectTag(await owner.cancel(unwanted("run1")), "CANCELLED");
      const { epoch } = expectTag(
        await owner.claimKnown(known(harness, "run1", "waits")),
        "RUNNING",
      );
      const watch = owner.watch("run1", epoch, 10 * owner.leaseMs, noSignal);
      await harness.advance(owner.leaseMs + 1_000);
      await watch;
      claimed(await owner.claimKnown(known(harness, "run1", "waits")));
    },
  },
  {
    title:
      "a waiting run with something to undo is found and given to be undone once its newest state has expired, not before",
    run: async (harness) => {
      const store = await harness.open();
      await createBooked(store, harness, "run1");
      const plain = await createRunning(store, "run2");
      expectTag(await store.endRound(plain, progress(2), waitingFor(harness, "confirm")), "OK");
      await harness.advance(STATE_LIFETIME_MS - 1);
      assert.deepEqual(await store.findAbandoned(10), []);
      expectTag(await store.claimKnown(known(harness, "run1", undefined)), "RECORDED");
      // That look gave out a newer state.
      await harness.advance(STATE_LIFETIME_MS - 1);
      assert.deepEqual(await store.findAbandoned(10), []);
      await harness.advance(2);
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      const { record, ref } = claimed(await store.claimKnown(known(harness, "run1", undefined)));
      assert.deepEqual([record.head.undo?.why, record.head.pending], ["expired", []]);
      expectTag(await store.endRound(ref, progress(1), undone), "OK");
      assert.deepEqual(await store.findAbandoned(10), []);
    },
  },
  {
    title:
      "an answer to an expired question of a run with something to undo is not taken: its request may undo the run",
    run: async (harness) => {
      const store = await harness.open();
      await createBooked(store, harness, "run1");
      await harness.advance(STATE_LIFETIME_MS + 1);
      const late = { answers: { confirm: answer(true) }, stateExpired: true };
      const { record } = claimed(await store.claimRound(round(harness, "run1", 1, late)));
      assert.deepEqual([record.head.undo?.why, record.head.brought], ["expired", {}]);
    },
  },
  {
    title:
      "an undo attempt is queued and taken like any other, and its last waiter does not interrupt it",
    run: async (harness) => {
      const store = await harness.open();
      await createBooked(store, harness, "run1");
      expectTag(await store.cancel(unwanted("run1")), "CANCELLED");
      const claim = { ...known(harness, "run1", "front"), queue: true };
      const { epoch } = expectTag(await store.claimKnown(claim), "QUEUED");
      assert.deepEqual(await store.leave("run1", epoch, "front"), { stopping: false });
      const { record, ref } = claimed(await store.claimQueued(queued(harness, "run1", epoch)));
      assert.equal(record.head.undo?.why, "cancelled");
      expectTag(await store.endRound(ref, progress(1), undone), "OK");
    },
  },
  {
    // promise P3.9.6
    title:
      "a parked run is released: the next claim gets it, its deaths are forgotten, and an earlier attempt records nothing",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.append(ref, progress(2, { entries: [stepDone("a")] })), "OK");
      expectTag(await store.endRound(ref, progress(3), { to: "parked", response }), "OK");
      expectTag(await store.claimKnown(known(harness, "run1", "w")), "PARKED");
      assert.deepEqual(await store.release("run1"), { tag: "RELEASED", round: 0 });
      expectTag(await store.append(ref, progress(4, { entries: [stepDone("b")] })), "LEASE_LOST");
      const { record } = claimed(await store.claimKnown(known(harness, "run1", "w")));
      assert.deepEqual([record.head.takeovers, record.entries.length], [0, 1]);
    },
  },
  {
    title:
      "a mismatched run is released before its grace is over; what is neither parked nor mismatched is left as it is",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.endRound(ref, progress(2), { to: "mismatched" }), "OK");
      expectTag(await store.release("run1"), "RELEASED");
      assert.equal((await loaded(store, "run1")).head.mismatchedAt, undefined);
      await createBooked(store, harness, "run2");
      const reply = await store.release("run2");
      assert.deepEqual(reply, { tag: "NOT_PARKED", round: 1, status: "waiting" });
      expectTag(await store.release("no-such-run"), "LOST");
    },
  },
  {
    title: "a failed undo stands parked, is not cancelled, and is tried again after a release",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await undoing(store, harness, "run1");
      expectTag(await store.endRound(ref, progress(1), { to: "parked", response }), "OK");
      const cancels = await store.cancel(unwanted("run1"));
      assert.deepEqual(cancels, { tag: "ENDED", round: 0, status: "parked" });
      expectTag(await store.release("run1"), "RELEASED");
      const { record } = claimed(await store.claimKnown(known(harness, "run1", undefined)));
      assert.deepEqual([record.head.undo?.why, record.head.undo?.attempts], ["failed", 1]);
    },
  },
];
