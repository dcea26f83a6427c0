/**
 * How long records live, how many a caller may hold open, and what a closed store does (design 4.2, 6).
 */
import assert from "node:assert/strict";
import { ATTENTION_RETENTION_MS, anonymous } from "@reprise/runtime";
import {
  answer,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  creation,
  expectTag,
  first,
  known,
  loaded,
  noSignal,
  origin,
  progress,
  queued,
  round,
  STATE_LIFETIME_MS,
  type StoreCase,
  stepDone,
  waitingFor,
} from "./fixtures.ts";

/** Expiry, limits, closing. */
export const lifetimeCases: readonly StoreCase[] = [
  {
    // promise P4.2.23
    title: "an open question is kept until its state has expired and the retention has passed",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      await harness.advance(STATE_LIFETIME_MS + harness.retentionMs);
      assert.equal(await store.removeExpired(10), 0);
      await harness.advance(1);
      assert.equal(await store.removeExpired(10), 1);
      assert.equal(await store.removeExpired(10), 0);
      assert.deepEqual(await store.claimRound(round(harness, "run1", 1)), {
        tag: "LOST",
        reason: "missing",
      });
    },
  },
  {
    // promise P3.9.5, P4.2.24
    title: "what needs attention is kept for thirty days",
    run: async (harness) => {
      const store = await harness.open();
      for (const to of ["interrupted", "mismatched"] as const) {
        const ref = await createRunning(store, to);
        expectTag(await store.endRound(ref, progress(2), { to }), "OK");
      }
      await harness.advance(ATTENTION_RETENTION_MS);
      assert.equal(await store.removeExpired(10), 0);
      await harness.advance(1);
      assert.equal(await store.removeExpired(10), 2);
    },
  },
  {
    title: "removal takes at most what it is told and leaves nothing of a run behind",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < 7; index += 1) {
        const ref = await createRunning(store, `run${index}`);
        const last = progress(2, { entries: [stepDone("a"), stepDone("b")] });
        expectTag(await store.endRound(ref, last, completedWith("x")), "OK");
      }
      await harness.advance(harness.retentionMs + 1);
      await createRunning(store, "young");
      assert.equal(await store.removeExpired(3), 3);
      assert.equal(await store.removeExpired(3), 3);
      assert.equal(await store.removeExpired(3), 1);
      assert.equal(await store.removeExpired(3), 0);
      await loaded(store, "young");
      await createRunning(store, "run0");
      assert.deepEqual((await loaded(store, "run0")).entries, []);
    },
  },
  {
    title: "an attempt of a removed run writes nothing into a later run of the same name",
    run: async (harness) => {
      const store = await harness.open();
      const other = await harness.open();
      const gone = await createRunning(store, "run1");
      await harness.advance(ATTENTION_RETENTION_MS + harness.retentionMs);
      assert.equal(await other.removeExpired(10), 1);
      const stands = await createRunning(other, "run1", { token: "another" });
      expectTag(await store.renew(gone), "LEASE_LOST");
      const late = progress(2, { entries: [stepDone("late")] });
      expectTag(await store.append(gone, late), "LEASE_LOST");
      expectTag(await store.endRound(gone, late, completedWith("late")), "LEASE_LOST");
      assert.deepEqual((await loaded(store, "run1")).entries, []);
      expectTag(await other.append(stands, progress(2, { entries: [stepDone("a")] })), "OK");
    },
  },
  {
    title: "a principal with as many waiting runs as allowed starts no other, and others do",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < harness.maxWaitingRuns; index += 1) {
        await createWaiting(store, harness, `run${index}`);
      }
      const refusal = { tag: "TOO_MANY_WAITING", limit: harness.maxWaitingRuns };
      assert.deepEqual(await store.createRun(creation("more", "w")), refusal);
      const mine = first(harness, "w", { principal: anonymous.principal });
      assert.deepEqual(await store.claimFirst(mine), refusal);
      assert.equal(await store.load("more"), undefined);
      const theirs = creation("theirs", "w", {
        origin: origin("theirs", { caller: { ...anonymous, principal: "bob" } }),
        end: waitingFor(harness, "confirm"),
      });
      expectTag(await store.createRun(theirs), "OK");
      // An answered question makes room for another, also before the run has ended.
      const retry = round(harness, "run0", 1, { answers: { confirm: answer(true) } });
      const { ref } = claimed(await store.claimRound(retry));
      claimed(await store.claimFirst(mine));
      expectTag(await store.endRound(ref, progress(1), waitingFor(harness, "confirm")), "OK");
      assert.deepEqual(await store.createRun(creation("more", "w")), refusal);
    },
  },
  {
    title: "expired questions no longer count against their principal",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < harness.maxWaitingRuns; index += 1) {
        await createWaiting(store, harness, `run${index}`);
      }
      await harness.advance(STATE_LIFETIME_MS + harness.retentionMs + 1);
      await store.removeExpired(harness.maxWaitingRuns);
      expectTag(await store.createRun(creation("more", "w")), "OK");
    },
  },
  {
    title: "an answer is not refused for the number of waiting runs",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < harness.maxWaitingRuns; index += 1) {
        await createWaiting(store, harness, `run${index}`);
      }
      const retry = round(harness, "run1", 1, { answers: { confirm: answer(true) } });
      const { ref } = claimed(await store.claimRound(retry));
      expectTag(await store.endRound(ref, progress(1), waitingFor(harness, "confirm")), "OK");
    },
  },
  {
    title: "a store that is opened again has everything that was acknowledged",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.append(ref, progress(1, { entries: [stepDone("a")] })), "OK");
      const before = [await loaded(store, "run1"), await loaded(store, ref.runId)];
      await store.close();
      const again = await harness.open();
      assert.deepEqual([await loaded(again, "run1"), await loaded(again, ref.runId)], before);
      expectTag(await again.claimFirst(first(harness, "w2")), "RUNNING");
    },
  },
  {
    title:
      "closing is idempotent; afterwards every call fails with STORE_UNAVAILABLE and health says so",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      assert.equal((await store.health()).ok, true);
      await Promise.all([store.close(), store.close()]);
      await store.close();
      const refused = { code: "STORE_UNAVAILABLE" };
      await assert.rejects(store.createRun(creation("run2", "w")), refused);
      await assert.rejects(store.claimFirst(first(harness, "w")), refused);
      await assert.rejects(store.claimRound(round(harness, "run1", 0)), refused);
      await assert.rejects(store.claimKnown(known(harness, "run1", "w")), refused);
      await assert.rejects(store.claimQueued(queued(harness, "run1", 1)), refused);
      await assert.rejects(store.append(ref, progress(2)), refused);
      await assert.rejects(store.endRound(ref, progress(2), completedWith("x")), refused);
      await assert.rejects(store.renew(ref), refused);
      await assert.rejects(store.leave("run1", 1, "creator"), refused);
      await assert.rejects(store.load("run1"), refused);
      await assert.rejects(store.findAbandoned(1), refused);
      await assert.rejects(store.removeExpired(1), refused);
      await store.watch("run1", 1, 3_600_000, noSignal);
      assert.equal((await store.health()).ok, false);
    },
  },
  {
    title: "one process's closing leaves the stores of the others open",
    run: async (harness) => {
      const one = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(one, "run1");
      await other.close();
      expectTag(await one.append(ref, progress(2, { entries: [stepDone("a")] })), "OK");
    },
  },
];
