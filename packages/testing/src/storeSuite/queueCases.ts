/**
 * Attempts that wait for a worker, and claims that are sent again (P3, design 7).
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
  queued,
  round,
  type StoreCase,
  type StoreHarness,
  stepDone,
  stepFailed,
  waitingFor,
} from "./fixtures.ts";

const yes = { confirm: answer(true) };
const LONG_MS = 3_600_000;

/** A run whose answered round waits for a worker. Returns its epoch. */
async function queueAnswered(
  store: RunStore,
  harness: StoreHarness,
  runId: string,
): Promise<number> {
  await createWaiting(store, harness, runId);
  const retry = round(harness, runId, 1, { answers: yes, queue: true });
  return expectTag(await store.claimRound(retry), "QUEUED").epoch;
}

/** Queueing, taking, leaving, losing; re-sent claims. */
export const queueCases: readonly StoreCase[] = [
  {
    title: "a claim that is sent again gets its attempt again, and nothing is counted",
    run: async (harness) => {
      const store = await harness.open();
      const other = await harness.open();
      const firstCall = first(harness, "w1");
      const keyed = claimed(await store.claimFirst(firstCall));
      await createWaiting(store, harness, "run1");
      const retry = round(harness, "run1", 1, { answers: yes });
      const answered = claimed(await store.claimRound(retry));
      const dead = await createRunning(store, "run2");
      await harness.advance(store.leaseMs + 1);
      const takeover = known(harness, "run2", "w2");
      const taken = claimed(await store.claimKnown(takeover));
      for (const again of [
        { before: keyed, reply: await other.claimFirst(firstCall) },
        { before: answered, reply: await other.claimRound(retry) },
        { before: taken, reply: await other.claimKnown(takeover) },
      ]) {
        const { ref, record } = claimed(again.reply);
        assert.deepEqual(ref, again.before.ref);
        assert.equal(record.head.takeovers, again.before.record.head.takeovers);
        assert.deepEqual(record.head.brought, again.before.record.head.brought);
        assert.deepEqual(
          record.head.waiters.map((waiter) => waiter.id),
          again.before.record.head.waiters.map((waiter) => waiter.id),
        );
      }
      assert.equal((await loaded(store, "run2")).head.epoch, dead.epoch + 1);
    },
  },
  {
    title:
      "a claim that is sent again renews its lease, and is a stranger's once something is recorded",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const retry = round(harness, "run1", 1, { answers: yes });
      const { ref } = claimed(await store.claimRound(retry));
      await harness.advance(store.leaseMs - 1);
      claimed(await store.claimRound(retry));
      await harness.advance(store.leaseMs - 1);
      assert.deepEqual(await store.findAbandoned(10), []);
      expectTag(await store.append(ref, progress(1, { entries: [stepDone("a")] })), "OK");
      expectTag(await store.claimRound(retry), "RUNNING");
      expectTag(await store.endRound(ref, progress(2), completedWith("x")), "OK");
      expectTag(await store.claimRound(retry), "RECORDED");
    },
  },
  {
    title: "what a claim would have been given is queued with its answers, and one worker gets it",
    run: async (harness) => {
      const front = await harness.open();
      const workers = [await harness.open(), await harness.open()] as const;
      const epoch = await queueAnswered(front, harness, "run1");
      const before = (await loaded(front, "run1")).head;
      assert.equal(before.status, "running");
      assert.equal(before.queued, true);
      assert.equal(before.lease, undefined);
      const replies = await Promise.all(
        workers.map((worker, index) =>
          worker.claimQueued(queued(harness, "run1", epoch, `worker${index}`)),
        ),
      );
      const given = replies.filter((reply) => reply.tag === "CLAIMED");
      assert.equal(given.length, 1);
      const { record, ref, takeover } = given[0] ?? assert.fail("nobody got it");
      assert.equal(ref.epoch, epoch);
      assert.equal(takeover, false);
      assert.deepEqual(record.head.brought, yes);
      assert.equal(record.head.version, "2");
      assert.equal(record.head.queued ?? false, false);
      assert.deepEqual(
        record.head.waiters.map((waiter) => waiter.id),
        ["retry"],
      );
      expectTag(await workers[0].endRound(ref, progress(1), completedWith("x")), "OK");
      expectTag(await front.claimKnown(known(harness, "run1", "retry")), "RECORDED");
      for (const number of [epoch - 1, epoch, epoch + 1]) {
        const late = await workers[0].claimQueued(queued(harness, "run1", number, "late"));
        assert.deepEqual(late, { tag: "STALE" });
      }
      assert.deepEqual(await workers[0].claimQueued(queued(harness, "nowhere", 1)), {
        tag: "STALE",
      });
    },
  },
  {
    title:
      "a queueing that is sent again is queued once, and a worker's claim is given again to it alone",
    run: async (harness) => {
      const store = await harness.open();
      const call = first(harness, "w1", { queue: true });
      const reply = expectTag(await store.claimFirst(call), "QUEUED");
      assert.equal(reply.origin.runId, reply.runId);
      const again = expectTag(await store.claimFirst(call), "QUEUED");
      assert.deepEqual([again.runId, again.epoch], [reply.runId, reply.epoch]);
      const work = queued(harness, reply.runId, reply.epoch);
      const { ref } = claimed(await store.claimQueued(work));
      assert.deepEqual(claimed(await store.claimQueued(work)).ref, ref);
      const stranger = queued(harness, reply.runId, reply.epoch, "other");
      expectTag(await store.claimQueued(stranger), "STALE");
      const joined = expectTag(await store.claimFirst(call), "RUNNING");
      assert.deepEqual([joined.joined, joined.queued], [true, false]);
      expectTag(await store.append(ref, progress(1)), "OK");
      expectTag(await store.claimQueued(work), "STALE");
    },
  },
  {
    title: "a request that meets a queued run joins it and is told so",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      const other = round(harness, "run1", 1, { waiterId: "w2", queue: true });
      const reply = expectTag(await store.claimRound(other), "RUNNING");
      assert.deepEqual([reply.joined, reply.queued, reply.epoch], [true, true, epoch]);
      assert.deepEqual(await store.leave("run1", epoch, "retry"), { stopping: false });
      const { ref } = claimed(await store.claimQueued(queued(harness, "run1", epoch)));
      assert.deepEqual(await store.renew(ref), { tag: "OK", stopping: false });
      assert.deepEqual(await store.leave("run1", epoch, "w2"), { stopping: true });
    },
  },
  {
    title:
      "when the last request leaves a queued run, it is interrupted at once and no worker gets it",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      const woken = store.watch("run1", epoch, LONG_MS, noSignal);
      assert.deepEqual(await store.leave("run1", epoch, "retry"), { stopping: true });
      await woken;
      assert.equal((await loaded(store, "run1")).head.status, "interrupted");
      expectTag(await store.claimQueued(queued(harness, "run1", epoch)), "STALE");
      const again = round(harness, "run1", 1, { answers: yes, waiterId: "w2", queue: true });
      assert.equal(expectTag(await store.claimRound(again), "QUEUED").epoch, epoch + 1);
    },
  },
  {
    title: "a queued attempt records nothing before a worker has it",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      const ref = { runId: "run1", epoch, token: "token-retry" };
      expectTag(await store.append(ref, progress(1, { entries: [stepDone("a")] })), "LEASE_LOST");
      expectTag(await store.endRound(ref, progress(1), completedWith("x")), "LEASE_LOST");
      expectTag(await store.renew(ref), "LEASE_LOST");
      assert.deepEqual((await loaded(store, "run1")).entries, []);
    },
  },
  {
    title: "a watch waits while the attempt is queued and while a worker has it",
    run: async (harness) => {
      const front = await harness.open();
      const worker = await harness.open();
      const epoch = await queueAnswered(front, harness, "run1");
      let ended = false;
      const watch = front.watch("run1", epoch, LONG_MS, noSignal).then(() => {
        ended = true;
      });
      await harness.advance(front.leaseMs * 2);
      const { ref } = claimed(await worker.claimQueued(queued(harness, "run1", epoch)));
      assert.equal(ended, false);
      expectTag(await worker.endRound(ref, progress(1), completedWith("x")), "OK");
      await watch;
    },
  },
  {
    title:
      "a run that is queued for longer than a lease is found, and a sweep queues the same attempt again",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      await harness.advance(store.leaseMs);
      assert.deepEqual(await store.findAbandoned(10), []);
      await harness.advance(1);
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      const sweep = { ...known(harness, "run1", undefined), queue: true };
      const reply = expectTag(await store.claimKnown(sweep), "QUEUED");
      assert.equal(reply.epoch, epoch);
      assert.deepEqual(await store.findAbandoned(10), []);
      const { head } = claimed(await store.claimQueued(queued(harness, "run1", epoch))).record;
      assert.equal(head.takeovers, 0);
      // A request still waits for it, so it can still be stopped.
      assert.equal(head.stoppable, true);
    },
  },
  {
    title: "waiting in the queue is no death, a dead worker is one, and the last allowed one parks",
    run: async (harness) => {
      const store = await harness.open();
      let epoch = await queueAnswered(store, harness, "run1");
      for (let death = 1; death <= MAX_TAKEOVERS; death += 1) {
        const work = queued(harness, "run1", epoch, `worker${death}`);
        claimed(await store.claimQueued(work));
        await harness.advance(store.leaseMs + 1);
        const next = { ...known(harness, "run1", `w${death}`), queue: true };
        epoch = expectTag(await store.claimKnown(next), "QUEUED").epoch;
        assert.equal((await loaded(store, "run1")).head.takeovers, death);
      }
      assert.equal(claimed(await store.claimQueued(queued(harness, "run1", epoch))).takeover, true);
      await harness.advance(store.leaseMs + 1);
      const last = { ...known(harness, "run1", "last"), queue: true };
      expectTag(await store.claimKnown(last), "PARKED");
    },
  },
  {
    title:
      "who executes by itself takes a queued run, and the worker that comes later gets nothing",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      const { ref, record } = claimed(await store.claimKnown(known(harness, "run1", "inline")));
      assert.equal(ref.epoch, epoch + 1);
      assert.deepEqual(record.head.brought, yes);
      assert.equal(record.head.takeovers, 0);
      expectTag(await store.claimQueued(queued(harness, "run1", epoch)), "STALE");
      expectTag(await store.claimQueued(queued(harness, "run1", epoch + 1)), "STALE");
    },
  },
  {
    title: "a failed run that is queued again begins without what is behind its failed step",
    run: async (harness) => {
      const store = await harness.open();
      const call = first(harness, "w1", { queue: true });
      const { runId, epoch } = expectTag(await store.claimFirst(call), "QUEUED");
      const { ref } = claimed(await store.claimQueued(queued(harness, runId, epoch)));
      const entries = [stepDone("a"), stepFailed("b")];
      const end = {
        to: "failed",
        response: { kind: "error", code: "STEP_FAILED", message: "m", data: undefined },
        state: {},
        keyFree: false,
      } as const;
      expectTag(await store.endRound(ref, progress(1, { entries, stepStarts: true }), end), "OK");
      const again = first(harness, "w2", { queue: true });
      const next = expectTag(await store.claimFirst(again), "QUEUED");
      assert.equal(next.runId, runId);
      const work = queued(harness, runId, next.epoch, "second");
      assert.deepEqual(namesOf(claimed(await store.claimQueued(work)).record.entries), ["a"]);
    },
  },
  {
    title:
      "who waited for an attempt that ended for a recorded reason gets it, a newcomer an attempt",
    run: async (harness) => {
      const store = await harness.open();
      const why = {
        kind: "error",
        code: "MISSING_CAPABILITY",
        message: "m",
        data: { requiredCapabilities: { elicitation: {} } },
      } as const;
      for (const to of ["interrupted", "mismatched"] as const) {
        const epoch = await queueAnswered(store, harness, to);
        const { ref } = claimed(await store.claimQueued(queued(harness, to, epoch)));
        expectTag(await store.endRound(ref, progress(1), { to, why }), "OK");
        const waited = { ...known(harness, to, "retry"), queue: true, seen: epoch };
        const reply = expectTag(await store.claimKnown(waited), "RECORDED");
        assert.deepEqual(reply.head.response, JSON.parse(JSON.stringify(why)));
        const newcomer = { ...known(harness, to, "w2"), queue: true, seen: epoch - 1 };
        const next = expectTag(await store.claimKnown(newcomer), "QUEUED").epoch;
        const second = queued(harness, to, next, "second");
        const end = { to: "interrupted" } as const;
        const { ref: again } = claimed(await store.claimQueued(second));
        expectTag(await store.endRound(again, progress(1), end), "OK");
        const without = { ...known(harness, to, "w2"), queue: true, seen: next };
        expectTag(await store.claimKnown(without), "QUEUED");
      }
    },
  },
  {
    title:
      "an owner hears within a second of a stop by another process, and nothing that it called off",
    run: async (harness) => {
      const owner = await harness.open();
      const other = await harness.open();
      await createRunning(owner, "run1");
      await createRunning(owner, "run2");
      const heard: string[] = [];
      const stopped = new Promise<void>((resolve) => {
        owner.onStopping("run1", 1, (why) => {
          heard.push(`run1 ${why}`);
          resolve();
        });
      });
      owner.onStopping("run1", 2, () => heard.push("another attempt"));
      const callOff = owner.onStopping("run2", 1, () => heard.push("called off"));
      callOff();
      assert.deepEqual(await other.leave("run2", 1, "creator"), { stopping: true });
      assert.deepEqual(await other.leave("run1", 1, "creator"), { stopping: true });
      await harness.advance(900);
      await stopped;
      assert.deepEqual(heard, ["run1 left"]);
      await owner.close();
    },
  },
  {
    title:
      "a queued run that nobody waits for and nobody can come back to is interrupted by a sweep",
    run: async (harness) => {
      if (!harness.seesDeath) return;
      const front = await harness.open();
      const other = await harness.open();
      const ref = await createRunning(front, "bare");
      expectTag(await front.endRound(ref, progress(2), { to: "released" }), "OK");
      const retry = { ...known(harness, "bare", "w1"), queue: true };
      expectTag(await front.claimKnown(retry), "QUEUED");
      await harness.advance(front.leaseMs + 1);
      const sweep = { ...known(harness, "bare", undefined), queue: true };
      expectTag(await other.claimKnown(sweep), "QUEUED");
      await harness.kill(front);
      await harness.advance(other.leaseMs + 1);
      expectTag(await other.claimKnown(sweep), "RECORDED");
      assert.equal((await loaded(other, "bare")).head.status, "interrupted");
    },
  },
  {
    title: "the end of a round that a worker ran opens the next one as every other end does",
    run: async (harness) => {
      const store = await harness.open();
      const epoch = await queueAnswered(store, harness, "run1");
      const { ref } = claimed(await store.claimQueued(queued(harness, "run1", epoch)));
      expectTag(await store.endRound(ref, progress(1), waitingFor(harness, "next")), "OK");
      const { head } = await loaded(store, "run1");
      assert.deepEqual([head.status, head.round, head.askedVersion], ["waiting", 2, "2"]);
      assert.equal(head.queued ?? false, false);
    },
  },
];
