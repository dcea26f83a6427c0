/**
 * Requests that wait for an attempt: joining, leaving, stopping, waking (design 4.2, 4.5).
 */
import assert from "node:assert/strict";
import {
  answer,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  expectTag,
  known,
  loaded,
  noSignal,
  progress,
  round,
  type StoreCase,
  stepDone,
  waitingFor,
} from "./fixtures.ts";

/** Longer than any case takes: a watch that hangs fails by the runner's own limit. */
const LONG_MS = 3_600_000;

/** Waiters, stops and watches. */
export const waiterCases: readonly StoreCase[] = [
  {
    // promise P4.5.5
    title: "the last waiter's leaving stops the attempt for good, an earlier one's does not",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.claimKnown(known(harness, "run1", "w2")), "RUNNING");
      assert.deepEqual(await store.leave("run1", 1, "creator"), { stopping: false });
      assert.deepEqual(await store.append(ref, progress(2)), { tag: "OK", stopping: false });
      assert.deepEqual(await store.leave("run1", 1, "w2"), { stopping: true });
      assert.deepEqual(await store.leave("run1", 1, "w2"), { stopping: true });
      assert.deepEqual(await store.renew(ref), { tag: "OK", stopping: true });
      const step = progress(3, { entries: [stepDone("a")] });
      assert.deepEqual(await store.append(ref, step), { tag: "OK", stopping: true });
      const late = expectTag(await store.claimKnown(known(harness, "run1", "w3")), "RUNNING");
      assert.equal(late.joined, false);
      assert.deepEqual(await store.append(ref, progress(4)), { tag: "OK", stopping: true });
    },
  },
  {
    title: "after a stop the next request claims the run anew and is not stopped by the old one",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      assert.deepEqual(await store.leave("run1", 1, "creator"), { stopping: true });
      const last = progress(2, { entries: [stepDone("a")] });
      expectTag(await store.endRound(ref, last, { to: "interrupted" }), "OK");
      const again = claimed(await store.claimKnown(known(harness, "run1", "w2")));
      assert.equal(again.record.head.stopping, false);
      assert.deepEqual(await store.leave("run1", 1, "creator"), { stopping: false });
      assert.deepEqual(await store.renew(again.ref), { tag: "OK", stopping: false });
    },
  },
  {
    title: "leaving an earlier attempt does nothing to the present one",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "run1");
      await harness.advance(store.leaseMs + 1);
      const { ref } = claimed(await store.claimKnown(known(harness, "run1", "creator")));
      assert.deepEqual(await store.leave("run1", 1, "creator"), { stopping: false });
      assert.deepEqual(await store.renew(ref), { tag: "OK", stopping: false });
    },
  },
  {
    // promise P4.5.7
    title: "a disconnect never stops an attempt that a sweep drives",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const retry = round(harness, "run1", 1, { answers: { confirm: answer(true) } });
      claimed(await store.claimRound(retry));
      await harness.advance(store.leaseMs + 1);
      const { ref } = claimed(await store.claimKnown(known(harness, "run1", undefined)));
      expectTag(await store.claimKnown(known(harness, "run1", "w2")), "RUNNING");
      assert.deepEqual(await store.leave("run1", ref.epoch, "w2"), { stopping: false });
      assert.deepEqual(await store.renew(ref), { tag: "OK", stopping: false });
    },
  },
  {
    title: "a waiter whose process died does not keep the attempt from being stopped",
    run: async (harness) => {
      // Without a way to see deaths such a waiter counts until the round ends.
      if (!harness.seesDeath) return;
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      expectTag(await other.claimKnown(known(harness, "run1", "w2")), "RUNNING");
      await harness.kill(other);
      assert.deepEqual(await owner.leave("run1", 1, "creator"), { stopping: true });
    },
  },
  {
    title: "watches of every process wake when the round ends",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      const watches = [owner, other].map((store) => store.watch("run1", 1, LONG_MS, noSignal));
      expectTag(await owner.endRound(ref, progress(2), completedWith("x")), "OK");
      await Promise.all(watches);
      expectTag(await other.claimKnown(known(harness, "run1", "w2")), "RECORDED");
    },
  },
  {
    title: "a watch wakes when the attempt is stopped and when it is taken over",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      await createRunning(owner, "run2");
      const stopped = other.watch("run1", 1, LONG_MS, noSignal);
      assert.deepEqual(await owner.leave("run1", 1, "creator"), { stopping: true });
      await stopped;
      const taken = other.watch("run2", 1, LONG_MS, noSignal);
      await harness.advance(owner.leaseMs + 100);
      await taken;
      claimed(await other.claimKnown(known(harness, "run2", "w2")));
      await other.watch("run2", 1, LONG_MS, noSignal);
    },
  },
  {
    title: "a watch wakes when the owner's process dies",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      const watch = other.watch("run1", 1, LONG_MS, noSignal);
      await harness.kill(owner);
      await harness.advance(harness.seesDeath ? 100 : owner.leaseMs + 100);
      await watch;
      claimed(await other.claimKnown(known(harness, "run1", "w2")));
    },
  },
  {
    title:
      "a watch ends at its timeout, on abort and on close, and at once when there is nothing to wait for",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      const timed = owner.watch("run1", 1, 50, noSignal);
      await harness.advance(51);
      await timed;
      const controller = new AbortController();
      const aborted = owner.watch("run1", 1, LONG_MS, controller.signal);
      controller.abort();
      await aborted;
      await owner.watch("run1", 1, LONG_MS, controller.signal);
      const closed = other.watch("run1", 1, LONG_MS, noSignal);
      await other.close();
      await closed;
      await owner.watch("run1", 2, LONG_MS, noSignal);
      expectTag(await owner.endRound(ref, progress(2), waitingFor(harness, "confirm")), "OK");
      await owner.watch("run1", 1, LONG_MS, noSignal);
    },
  },
  {
    title: "a joiner finds the outcome of the attempt it waited for",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createWaiting(owner, harness, "run1");
      const retry = round(harness, "run1", 1, { answers: { confirm: answer(true) } });
      const { ref } = claimed(await owner.claimRound(retry));
      const join = await other.claimRound({ ...retry, waiterId: "w2", token: "token-w2" });
      const { epoch } = expectTag(join, "RUNNING");
      const woken = other.watch("run1", epoch, LONG_MS, noSignal);
      expectTag(await owner.endRound(ref, progress(1), completedWith("same")), "OK");
      await woken;
      const reply = await other.claimRound({ ...retry, waiterId: "w2", token: "token-w2" });
      assert.equal(expectTag(reply, "RECORDED").head.status, "completed");
      assert.deepEqual((await loaded(other, "run1")).head.waiters, []);
    },
  },
];
