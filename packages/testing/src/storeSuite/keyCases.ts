/**
 * First calls with an idempotency key (design 4.3).
 */
import assert from "node:assert/strict";
import {
  answer,
  claimed,
  completedWith,
  expectTag,
  failedWith,
  first,
  known,
  loaded,
  namesOf,
  progress,
  round,
  STATE_LIFETIME_MS,
  type StoreCase,
  settles,
  stepDone,
  stepFailed,
  taken,
  waitingFor,
} from "./fixtures.ts";

/** Claims of first calls. */
export const keyCases: readonly StoreCase[] = [
  {
    // promise P4.3.3
    title: "of equal first calls at once one executes and the others join its run",
    run: async (harness) => {
      const stores = [await harness.open(), await harness.open()] as const;
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          stores[index % 2 === 0 ? 0 : 1].claimFirst(first(harness, `w${index}`)),
        ),
      );
      const owners = replies.filter((reply) => reply.tag === "CLAIMED");
      assert.equal(owners.length, 1);
      assert.equal(replies.filter((reply) => reply.tag === "RUNNING").length, 7);
      const { ref, record } = claimed(owners[0] ?? assert.fail("no owner"));
      assert.ok(ref.runId.startsWith("scope1-"), "a keyed run's id starts with its scope");
      assert.equal(record.origin.key?.generation, 1);
      assert.equal((await loaded(stores[1], ref.runId)).head.waiters.length, 8);
    },
  },
  {
    title: "the first call's run goes on in later rounds and its repeat gets the same question",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.endRound(ref, progress(1), waitingFor(harness, "confirm")), "OK");
      await harness.advance(10);
      const reply = expectTag(await store.claimFirst(first(harness, "w2")), "RECORDED");
      assert.equal(reply.head.status, "waiting");
      assert.equal(reply.origin.runId, ref.runId);
      assert.equal(reply.head.stateExpiresAt, harness.now() + STATE_LIFETIME_MS);
      const retry = round(harness, ref.runId, 1, { answers: { confirm: answer(true) } });
      claimed(await store.claimRound(retry));
    },
  },
  {
    title: "a run that ended with a completed step answers the repeated first call from its record",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const last = progress(2, { entries: [stepDone("pay")] });
      expectTag(await store.append(ref, progress(1, { stepStarts: true })), "OK");
      expectTag(await store.endRound(ref, last, completedWith("paid")), "OK");
      const reply = expectTag(await store.claimFirst(first(harness, "w2")), "RECORDED");
      assert.equal(reply.head.status, "completed");
      assert.equal(reply.head.epoch, 1);
    },
  },
  {
    title: "a freed key starts a new run of the next generation and leaves the old one as it is",
    run: async (harness) => {
      const store = await harness.open();
      const one = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.endRound(one.ref, progress(1), completedWith("declined", true)), "OK");
      const before = await loaded(store, one.ref.runId);
      const two = claimed(await store.claimFirst(first(harness, "w2", { argsDigest: "args2" })));
      assert.notEqual(two.ref.runId, one.ref.runId);
      assert.equal(two.record.origin.key?.generation, 2);
      assert.deepEqual(await loaded(store, one.ref.runId), before);
      // The old run's end, sent again, must not free the key of the new one.
      expectTag(await store.endRound(one.ref, progress(1), completedWith("declined", true)), "OK");
      expectTag(await store.claimFirst(first(harness, "w3", { argsDigest: "args2" })), "RUNNING");
    },
  },
  {
    title:
      "a failure that keeps the key goes on from the failed step, with the answers after it standing",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const entries = [stepDone("a"), stepFailed("b"), taken("confirm")];
      const last = progress(1, { entries, settled: settles("confirm", true), stepStarts: true });
      expectTag(await store.endRound(ref, last, failedWith("STEP_UNCERTAIN")), "OK");
      const again = claimed(await store.claimFirst(first(harness, "w2")));
      assert.equal(again.ref.runId, ref.runId);
      assert.equal(again.ref.epoch, 2);
      assert.deepEqual(namesOf(again.record.entries), ["a"]);
      assert.equal(again.record.head.entryCount, 1);
      const standing = { ...answer(true), question: "confirm?" };
      assert.deepEqual(again.record.head.brought, { confirm: standing });
      assert.deepEqual(namesOf((await loaded(store, ref.runId)).entries), ["a"]);
      const next = progress(1, { entries: [stepDone("b"), stepDone("c")] });
      expectTag(await store.append(again.ref, next), "OK");
      assert.deepEqual(namesOf((await loaded(store, ref.runId)).entries), ["a", "b", "c"]);
    },
  },
  {
    title:
      "a run that ended without a completed step and keeps its key goes on with the state of its last round",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const last = progress(1, { entries: [stepFailed("pay")], stepStarts: true });
      const end = { ...completedWith("maybe"), state: { tries: "1" } } as const;
      expectTag(await store.endRound(ref, last, end), "OK");
      const again = claimed(await store.claimFirst(first(harness, "w2")));
      assert.deepEqual(again.record.entries, []);
      assert.deepEqual(again.record.head.state, {}, "the attempt would see its own earlier writes");
    },
  },
  {
    title: "the same key with other arguments is refused and changes nothing",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const before = await loaded(store, ref.runId);
      const other = first(harness, "w2", { argsDigest: "args2" });
      expectTag(await store.claimFirst(other), "OTHER_ARGUMENTS");
      assert.deepEqual(await loaded(store, ref.runId), before);
    },
  },
  {
    title:
      "another caller under a tool-wide key learns whether it is done and never sees the result",
    run: async (harness) => {
      const store = await harness.open();
      const mine = first(harness, "w1", { perCaller: false });
      const theirs = first(harness, "w2", { perCaller: false, principal: "bob" });
      const { ref } = claimed(await store.claimFirst(mine));
      assert.deepEqual(await store.claimFirst(theirs), { tag: "OTHER_CALLER", done: false });
      const last = progress(1, { entries: [stepDone("a")], stepStarts: true });
      expectTag(await store.endRound(ref, last, completedWith("secret")), "OK");
      assert.deepEqual(await store.claimFirst(theirs), { tag: "OTHER_CALLER", done: true });
      expectTag(await store.claimFirst(first(harness, "w3", { perCaller: false })), "RECORDED");
    },
  },
  {
    title:
      "an expired question without a started step gives way to another caller, once and for good",
    run: async (harness) => {
      const store = await harness.open();
      const one = claimed(await store.claimFirst(first(harness, "w1", { perCaller: false })));
      expectTag(await store.endRound(one.ref, progress(1), waitingFor(harness, "confirm")), "OK");
      const theirs = first(harness, "w2", { perCaller: false, principal: "bob" });
      assert.deepEqual(await store.claimFirst(theirs), { tag: "OTHER_CALLER", done: false });
      await harness.advance(STATE_LIFETIME_MS + 1);
      const two = claimed(await store.claimFirst(theirs));
      assert.equal(two.record.origin.key?.generation, 2);
      assert.equal(two.record.origin.caller.principal, "bob");
      const gone = await loaded(store, one.ref.runId);
      assert.equal(gone.head.status, "failed");
      assert.equal(
        gone.head.response?.kind === "error" ? gone.head.response.code : "",
        "RUN_CANCELLED",
      );
      const late = round(harness, one.ref.runId, 1, { answers: { confirm: answer(true) } });
      expectTag(await store.claimRound(late), "RECORDED");
      const mine = first(harness, "w3", { perCaller: false });
      assert.deepEqual(await store.claimFirst(mine), { tag: "OTHER_CALLER", done: false });
    },
  },
  {
    // promise P4.3.13
    title: "a question behind a started step does not give way",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1", { perCaller: false })));
      const last = progress(1, { entries: [stepDone("a")], stepStarts: true });
      expectTag(await store.endRound(ref, last, waitingFor(harness, "confirm")), "OK");
      await harness.advance(STATE_LIFETIME_MS * 2);
      const theirs = first(harness, "w2", { perCaller: false, principal: "bob" });
      assert.deepEqual(await store.claimFirst(theirs), { tag: "OTHER_CALLER", done: false });
    },
  },
  {
    title: "the repeated first call of an interrupted run claims it anew",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const last = progress(1, { entries: [stepDone("a")], stepStarts: true });
      expectTag(await store.endRound(ref, last, { to: "interrupted" }), "OK");
      const again = claimed(await store.claimFirst(first(harness, "w2")));
      assert.equal(again.ref.runId, ref.runId);
      assert.deepEqual(namesOf(again.record.entries), ["a"]);
    },
  },
  {
    // promise P4.2.23
    title: "run and key expire together: what removes one removes the other",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const last = progress(1, { entries: [stepDone("a")], stepStarts: true });
      expectTag(await store.endRound(ref, last, completedWith("x")), "OK");
      await harness.advance(harness.retentionMs - 1);
      assert.equal(await store.removeExpired(10), 0);
      expectTag(await store.claimFirst(first(harness, "w2")), "RECORDED");
      await harness.advance(2);
      assert.equal(await store.removeExpired(10), 1);
      assert.equal(await store.load(ref.runId), undefined);
      const anew = claimed(await store.claimFirst(first(harness, "w3")));
      assert.deepEqual(anew.record.entries, []);
    },
  },
  {
    // promise P4.2.23
    title: "each renewal keeps the key as long as its run",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      for (let renewal = 0; renewal < 4; renewal += 1) {
        await harness.advance(Math.floor(harness.retentionMs / 2));
        expectTag(await store.renew(ref), "OK");
      }
      assert.equal(await store.removeExpired(10), 0);
      expectTag(await store.claimFirst(first(harness, "w2")), "RUNNING");
    },
  },
  {
    title: "the removal of an old run leaves the key of its successor alone",
    run: async (harness) => {
      const store = await harness.open();
      const one = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.endRound(one.ref, progress(1), completedWith("no", true)), "OK");
      await harness.advance(Math.floor(harness.retentionMs / 2));
      const two = claimed(await store.claimFirst(first(harness, "w2")));
      await harness.advance(Math.floor(harness.retentionMs / 2) + 1);
      expectTag(await store.renew(two.ref), "OK");
      assert.equal(await store.removeExpired(10), 1);
      assert.equal(await store.load(one.ref.runId), undefined);
      expectTag(await store.claimFirst(first(harness, "w3")), "RUNNING");
    },
  },
  {
    title: "one caller's key says nothing about another scope",
    run: async (harness) => {
      const store = await harness.open();
      const one = claimed(await store.claimFirst(first(harness, "w1", { scope: "scope1" })));
      const two = claimed(await store.claimFirst(first(harness, "w1", { scope: "scope12" })));
      assert.notEqual(one.ref.runId, two.ref.runId);
      expectTag(await store.claimKnown(known(harness, one.ref.runId, "w2")), "RUNNING");
    },
  },
];
