/**
 * Attempts that died: who takes their round over, and what is assumed of their last moment (P4, design 4.2).
 */
import assert from "node:assert/strict";
import { MAX_TAKEOVERS, type RunStore } from "@reprise/runtime";
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
  namesOf,
  noSignal,
  progress,
  round,
  type StoreCase,
  type StoreHarness,
  settles,
  stepDone,
  taken,
  waitingFor,
} from "./fixtures.ts";

const yes = { confirm: answer(true) };
const no = { confirm: answer(false) };

/** Kills a store's process; its leases are over afterwards. */
async function die(harness: StoreHarness, store: RunStore): Promise<void> {
  await harness.kill(store);
  if (!harness.seesDeath) await harness.advance(store.leaseMs + 1);
}

/** Take-overs, parking, sweeps. */
export const takeoverCases: readonly StoreCase[] = [
  {
    title: "a live lease is not taken over, and renewing keeps it alive",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      for (let renewal = 0; renewal < 5; renewal += 1) {
        await harness.advance(Math.floor(owner.leaseMs / 2));
        expectTag(await owner.renew(ref), "OK");
      }
      await harness.advance(owner.leaseMs - 1);
      expectTag(await other.claimKnown(known(harness, "run1", "w2")), "RUNNING");
      assert.deepEqual(await other.findAbandoned(10), []);
      await harness.advance(2);
      assert.deepEqual(await other.findAbandoned(10), ["run1"]);
      assert.equal(claimed(await other.claimKnown(known(harness, "run1", "w3"))).takeover, true);
    },
  },
  {
    title: "progress renews the lease like a renewal",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      await harness.advance(store.leaseMs - 1);
      expectTag(await store.append(ref, progress(2)), "OK");
      await harness.advance(store.leaseMs - 1);
      expectTag(await store.claimKnown(known(harness, "run1", "w2")), "RUNNING");
    },
  },
  {
    // promise P4.2.22
    title: "a dead process's round is taken over with its entries and the answers that stand",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createWaiting(owner, harness, "run1", ["confirm", "address"]);
      const { ref } = claimed(await owner.claimRound(round(harness, "run1", 1, { answers: yes })));
      expectTag(await owner.append(ref, progress(1, { entries: [stepDone("a")] })), "OK");
      await die(harness, owner);
      const different = round(harness, "run1", 1, { answers: no, waiterId: "w2" });
      expectTag(await other.claimRound(different), "SETTLED");
      const bare = round(harness, "run1", 1, { waiterId: "w3" });
      const reply = claimed(await other.claimRound(bare));
      assert.equal(reply.takeover, true);
      assert.equal(reply.ref.epoch, ref.epoch + 1);
      assert.deepEqual(reply.record.head.brought, yes);
      assert.deepEqual(namesOf(reply.record.entries), ["a"]);
      assert.deepEqual(
        reply.record.head.waiters.map((waiter) => waiter.id),
        ["w3"],
      );
    },
  },
  {
    title: "of those that find a dead attempt one takes it over and the others join",
    run: async (harness) => {
      const owner = await harness.open();
      const others = [await harness.open(), await harness.open()] as const;
      await createRunning(owner, "run1");
      await die(harness, owner);
      const replies = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          others[index % 2 === 0 ? 0 : 1].claimKnown(known(harness, "run1", `w${index}`)),
        ),
      );
      assert.equal(replies.filter((reply) => reply.tag === "CLAIMED").length, 1);
      assert.equal(replies.filter((reply) => reply.tag === "RUNNING").length, 5);
      assert.equal((await loaded(others[0], "run1")).head.takeovers, 1);
    },
  },
  {
    title:
      "a step that the dead attempt may have started is remembered as possibly open, since its claim",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "quiet");
      // Not since the last write: a step that started earlier may still have been running then.
      const since = harness.now();
      const ref = await createRunning(store, "busy");
      await harness.advance(10);
      expectTag(await store.append(ref, progress(2, { stepStarts: true })), "OK");
      await harness.advance(store.leaseMs + 1);
      const quiet = claimed(await store.claimKnown(known(harness, "quiet", "w2"))).record.head;
      assert.equal(quiet.openStepPossible, false);
      assert.equal(quiet.openStepSince, undefined);
      const busy = claimed(await store.claimKnown(known(harness, "busy", "w2"))).record.head;
      assert.equal(busy.openStepPossible, true);
      assert.equal(busy.openStepSince, since);
      // A second death must not move the time towards now.
      await harness.advance(store.leaseMs + 1);
      const again = claimed(await store.claimKnown(known(harness, "busy", "w3"))).record.head;
      assert.equal(again.openStepSince, since);
    },
  },
  {
    // promise P4.2.20
    title: "a run that its process released is found at once, and going on with it is no take-over",
    run: async (harness) => {
      const store = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.append(ref, progress(2, { stepStarts: true })), "OK");
      expectTag(await store.endRound(ref, progress(3), { to: "released" }), "OK");
      assert.deepEqual(await other.findAbandoned(10), ["run1"]);
      const reply = claimed(await other.claimKnown(known(harness, "run1", "w2")));
      assert.equal(reply.takeover, false);
      assert.equal(reply.record.head.takeovers, 0);
      assert.equal(reply.record.head.openStepPossible, false);
      expectTag(await store.append(ref, progress(4)), "LEASE_LOST");
    },
  },
  {
    title: "after the last allowed death of a round the run is parked and executes no more",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      for (let death = 1; death <= MAX_TAKEOVERS; death += 1) {
        await harness.advance(store.leaseMs + 1);
        const reply = claimed(await store.claimKnown(known(harness, "run1", `w${death}`)));
        assert.equal(reply.record.head.takeovers, death);
      }
      await harness.advance(store.leaseMs + 1);
      expectTag(await store.claimKnown(known(harness, "run1", "last")), "PARKED");
      expectTag(await store.claimRound(round(harness, "run1", 1)), "PARKED");
      expectTag(await store.claimKnown(known(harness, "run1", undefined)), "PARKED");
      const { head } = await loaded(store, "run1");
      assert.equal(head.status, "parked");
      assert.equal(head.lease, undefined);
      assert.deepEqual(head.brought, yes);
      assert.deepEqual(await store.findAbandoned(10), []);
    },
  },
  {
    title: "a new round has all its take-overs again",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "run1");
      await harness.advance(store.leaseMs + 1);
      const { ref } = claimed(await store.claimKnown(known(harness, "run1", "w2")));
      expectTag(await store.endRound(ref, progress(1), waitingFor(harness, "confirm")), "OK");
      assert.equal((await loaded(store, "run1")).head.takeovers, 0);
    },
  },
  {
    // promise P4.2.19
    title: "a sweep drives a dead run that has a key or gave out a state, and interrupts any other",
    run: async (harness) => {
      const store = await harness.open();
      const keyed = claimed(await store.claimFirst(first(harness, "w1"))).ref.runId;
      await createWaiting(store, harness, "asked");
      claimed(await store.claimRound(round(harness, "asked", 1, { answers: yes })));
      await createRunning(store, "bare");
      await harness.advance(store.leaseMs + 1);
      assert.deepEqual(
        [...(await store.findAbandoned(10))].sort(),
        ["asked", "bare", keyed].sort(),
      );
      assert.equal((await store.findAbandoned(2)).length, 2);
      claimed(await store.claimKnown(known(harness, keyed, undefined)));
      const swept = claimed(await store.claimKnown(known(harness, "asked", undefined)));
      assert.equal(swept.record.head.stoppable, false);
      assert.deepEqual(swept.record.head.waiters, []);
      const bare = expectTag(await store.claimKnown(known(harness, "bare", undefined)), "RECORDED");
      assert.equal(bare.head.status, "interrupted");
      assert.deepEqual(await store.findAbandoned(10), []);
    },
  },
  {
    title:
      "a sweep leaves a live attempt, an open question, an interruption and a young mismatch alone",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "live");
      await createWaiting(store, harness, "asked");
      const stopped = await createRunning(store, "stopped");
      expectTag(await store.endRound(stopped, progress(2), { to: "interrupted" }), "OK");
      const unlike = await createRunning(store, "unlike");
      expectTag(await store.endRound(unlike, progress(2), { to: "mismatched" }), "OK");
      assert.deepEqual(await store.findAbandoned(10), []);
      const live = expectTag(await store.claimKnown(known(harness, "live", undefined)), "RUNNING");
      assert.equal(live.joined, false);
      for (const runId of ["asked", "stopped", "unlike"]) {
        const epoch = (await loaded(store, runId)).head.epoch;
        expectTag(await store.claimKnown(known(harness, runId, undefined)), "RECORDED");
        assert.equal((await loaded(store, runId)).head.epoch, epoch);
      }
    },
  },
  {
    title: "a paused owner that wakes up after its round was finished by another records nothing",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createWaiting(owner, harness, "run1");
      const old = claimed(await owner.claimRound(round(harness, "run1", 1, { answers: yes })));
      await harness.advance(owner.leaseMs + 1);
      const { ref } = claimed(await other.claimKnown(known(harness, "run1", "w2")));
      const last = progress(1, { entries: [taken("confirm")], settled: settles("confirm", true) });
      expectTag(await other.endRound(ref, last, completedWith("theirs")), "OK");
      expectTag(await owner.endRound(old.ref, last, completedWith("mine")), "LEASE_LOST");
      const reply = expectTag(await owner.claimKnown(known(harness, "run1", "w1")), "RECORDED");
      assert.deepEqual(reply.head.response, {
        kind: "complete",
        result: { content: [{ type: "text", text: "theirs" }] },
      });
    },
  },
  {
    title: "a killed process's store fails every later call and its data stays whole",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(owner, "run1");
      expectTag(await owner.append(ref, progress(2, { entries: [stepDone("a")] })), "OK");
      await harness.kill(owner);
      await assert.rejects(owner.append(ref, progress(3)), { code: "STORE_UNAVAILABLE" });
      await owner.watch("run1", 1, 60_000, noSignal);
      assert.deepEqual(namesOf((await loaded(other, "run1")).entries), ["a"]);
    },
  },
];
