/**
 * Retries with a requestState: who executes the round, and what answers count (design 3.6, 4.2).
 */
import assert from "node:assert/strict";
import { MISMATCH_GRACE_MS } from "@reprise/runtime";
import {
  answer,
  ask,
  askedDigest,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  expectTag,
  known,
  loaded,
  progress,
  round,
  STATE_LIFETIME_MS,
  type StoreCase,
  settles,
  stepDone,
  taken,
  waitingFor,
} from "./fixtures.ts";

const yes = { confirm: answer(true) };
const no = { confirm: answer(false) };

/** Claims of rounds. */
export const roundCases: readonly StoreCase[] = [
  {
    title: "an answer to an open question is given to one attempt, with the whole record",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const reply = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      assert.equal(reply.takeover, false);
      assert.equal(reply.ref.epoch, 2);
      assert.equal(reply.ref.token, "token-retry");
      assert.deepEqual(reply.record.head.brought, yes);
      assert.deepEqual(reply.record.entries, []);
      assert.equal(reply.record.head.round, 1);
    },
  },
  {
    title: "of retries at once one executes and the others join",
    run: async (harness) => {
      const stores = [await harness.open(), await harness.open()] as const;
      await createWaiting(stores[0], harness, "run1");
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stores[index % 2 === 0 ? 0 : 1].claimRound(
            round(harness, "run1", 1, { answers: yes, waiterId: `w${index}` }),
          ),
        ),
      );
      const tags = replies.map((reply) => reply.tag).sort();
      assert.deepEqual(tags, ["CLAIMED", ...Array.from({ length: 9 }, () => "RUNNING")]);
      for (const reply of replies) if (reply.tag === "RUNNING") assert.equal(reply.joined, true);
      const { head } = await loaded(stores[0], "run1");
      assert.equal(head.epoch, 2);
      assert.equal(head.waiters.length, 10);
    },
  },
  {
    // promise P4.2.3
    title: "a finished round is never executed again: its retry gets the recorded response",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const { ref } = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      const last = progress(1, { entries: [taken("confirm")], settled: settles("confirm", true) });
      expectTag(await store.endRound(ref, last, completedWith("done")), "OK");
      for (const answers of [yes, {}]) {
        const retry = round(harness, "run1", 1, { answers });
        const reply = expectTag(await store.claimRound(retry), "RECORDED");
        assert.equal(reply.head.status, "completed");
        assert.deepEqual(reply.head.response, {
          kind: "complete",
          result: { content: [{ type: "text", text: "done" }] },
        });
      }
      assert.equal((await loaded(store, "run1")).head.epoch, 2);
    },
  },
  {
    title: "an answer that differs from the settled one runs nothing and says where the run stands",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const { ref } = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      const last = progress(1, { entries: [taken("confirm")], settled: settles("confirm", true) });
      expectTag(await store.endRound(ref, last, waitingFor(harness, "address")), "OK");
      const before = await loaded(store, "run1");
      assert.deepEqual(await store.claimRound(round(harness, "run1", 1, { answers: no })), {
        tag: "SETTLED",
        runId: "run1",
        round: 2,
        status: "waiting",
        key: "confirm",
      });
      assert.deepEqual(await loaded(store, "run1"), before);
    },
  },
  {
    title:
      "an answer that differs from what stands in a live attempt is contradicted before it may join",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      const other = round(harness, "run1", 1, { answers: no, waiterId: "w2" });
      assert.equal(expectTag(await store.claimRound(other), "SETTLED").status, "running");
      const same = round(harness, "run1", 1, { answers: yes, waiterId: "w3" });
      expectTag(await store.claimRound(same), "RUNNING");
      assert.deepEqual(
        (await loaded(store, "run1")).head.waiters.map((waiter) => waiter.id),
        ["retry", "w3"],
      );
    },
  },
  {
    title: "a retry without a usable answer gets the open question, sealed anew for longer",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      await harness.advance(1_000);
      const reply = await store.claimRound(round(harness, "run1", 1));
      const { head } = expectTag(reply, "RECORDED");
      assert.equal(head.status, "waiting");
      assert.equal(head.stateExpiresAt, harness.now() + STATE_LIFETIME_MS);
      assert.ok(head.expiresAt >= head.stateExpiresAt + harness.retentionMs);
      assert.equal((await loaded(store, "run1")).head.stateExpiresAt, head.stateExpiresAt);
    },
  },
  {
    // promise P3.6.3
    title: "answers to questions that were not pending in the retry's own state do not count",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1", ["confirm", "address"]);
      const answers = { ...yes, unknown: answer(1), address: answer("x") };
      const notAsked = round(harness, "run1", 1, { answers, asked: [askedDigest("other")] });
      expectTag(await store.claimRound(notAsked), "RECORDED");
      const old = round(harness, "run1", 1, { answers, asked: [askedDigest("confirm", "old?")] });
      expectTag(await store.claimRound(old), "RECORDED");
      const half = round(harness, "run1", 1, { answers });
      assert.deepEqual(claimed(await store.claimRound(half)).record.head.brought, yes);
    },
  },
  {
    title: "an older state's answer counts while its question is still open",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1", ["confirm", "address"]);
      const one = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      const settled = progress(1, {
        entries: [taken("confirm")],
        settled: settles("confirm", true),
      });
      expectTag(await store.endRound(one.ref, settled, waitingFor(harness, "address")), "OK");
      const stale = round(harness, "run1", 1, { answers: yes, waiterId: "w2" });
      expectTag(await store.claimRound(stale), "RECORDED");
      const late = round(harness, "run1", 1, {
        asked: [askedDigest("confirm"), askedDigest("address")],
        answers: { ...yes, address: answer("Main Street") },
      });
      const { record } = claimed(await store.claimRound(late));
      assert.deepEqual(record.head.brought, { address: answer("Main Street") });
      assert.equal(record.head.round, 2);
    },
  },
  {
    // promise P4.2.13
    title: "a state that names a later round than the record is of a run that was lost",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      assert.deepEqual(await store.claimRound(round(harness, "run1", 2, { answers: yes })), {
        tag: "LOST",
        reason: "older",
      });
      assert.equal((await loaded(store, "run1")).head.epoch, 1);
    },
  },
  {
    // promise P5.9
    title: "an expired state opens its round only when the round was claimed in time",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      await createWaiting(store, harness, "run2");
      const { ref } = claimed(await store.claimRound(round(harness, "run2", 1, { answers: yes })));
      await harness.advance(STATE_LIFETIME_MS + 1);
      const unclaimed = round(harness, "run1", 1, { answers: yes, stateExpired: true });
      expectTag(await store.claimRound(unclaimed), "EXPIRED");
      const late = round(harness, "run2", 1, { answers: yes, stateExpired: true, waiterId: "w2" });
      claimed(await store.claimRound(late));
      expectTag(await store.append(ref, progress(1)), "LEASE_LOST");
    },
  },
  {
    title: "an expired state of an older round may look and no more",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1", ["confirm", "address"]);
      const { ref } = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      const settled = progress(1, {
        entries: [taken("confirm")],
        settled: settles("confirm", true),
      });
      expectTag(await store.endRound(ref, settled, waitingFor(harness, "address")), "OK");
      await harness.advance(STATE_LIFETIME_MS + 1);
      const look = round(harness, "run1", 1, {
        asked: [askedDigest("confirm"), askedDigest("address")],
        answers: { address: answer("x") },
        stateExpired: true,
      });
      expectTag(await store.claimRound(look), "RECORDED");
    },
  },
  {
    // promise P3.6.2
    title: "the answers of an attempt that ends are settled when taken and dropped when not",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1", ["confirm", "address"]);
      const both = round(harness, "run1", 1, {
        asked: [askedDigest("confirm"), askedDigest("address")],
        answers: { ...yes, address: answer("old") },
      });
      const { ref } = claimed(await store.claimRound(both));
      const last = progress(1, { entries: [taken("confirm")], settled: settles("confirm", true) });
      expectTag(await store.endRound(ref, last, { to: "interrupted" }), "OK");
      assert.deepEqual((await loaded(store, "run1")).head.brought, {});
      const again = claimed(
        await store.claimRound({ ...both, answers: { ...yes, address: answer("new") } }),
      );
      assert.deepEqual(again.record.head.brought, { address: answer("new") });
      assert.deepEqual(again.record.entries, [taken("confirm")]);
    },
  },
  {
    title: "after a mismatch the brought answers stand for the instance that goes on",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const { ref } = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      expectTag(await store.endRound(ref, progress(1), { to: "mismatched" }), "OK");
      const other = round(harness, "run1", 1, { answers: no, waiterId: "w2" });
      expectTag(await store.claimRound(other), "SETTLED");
      const bare = round(harness, "run1", 1, { waiterId: "w3" });
      assert.deepEqual(claimed(await store.claimRound(bare)).record.head.brought, yes);
    },
  },
  {
    // promise P3.9.5
    title: "a mismatch that no instance went on with for the grace is parked, and keeps its record",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const { ref } = claimed(await store.claimRound(round(harness, "run1", 1, { answers: yes })));
      expectTag(await store.endRound(ref, progress(1), { to: "mismatched" }), "OK");
      await harness.advance(MISMATCH_GRACE_MS - 1);
      assert.deepEqual(await store.findAbandoned(10), []);
      await harness.advance(2);
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      expectTag(await store.claimKnown(known(harness, "run1", undefined)), "PARKED");
      assert.deepEqual(await store.findAbandoned(10), []);
      expectTag(await store.claimRound(round(harness, "run1", 1, { answers: yes })), "PARKED");
      assert.deepEqual((await loaded(store, "run1")).head.brought, yes);
    },
  },
  {
    // promise P3.9.3
    title: "an instance that went on with a mismatched run gives the next mismatch its whole grace",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      const retry = round(harness, "run1", 1, { answers: yes });
      const one = claimed(await store.claimRound(retry));
      expectTag(await store.endRound(one.ref, progress(1), { to: "mismatched" }), "OK");
      const two = claimed(await store.claimRound(retry));
      expectTag(await store.append(two.ref, progress(1, { entries: [stepDone("a")] })), "OK");
      expectTag(await store.endRound(two.ref, progress(2), { to: "interrupted" }), "OK");
      await harness.advance(MISMATCH_GRACE_MS * 2);
      const three = claimed(await store.claimRound(retry));
      expectTag(await store.endRound(three.ref, progress(1), { to: "mismatched" }), "OK");
      claimed(await store.claimRound({ ...retry, waiterId: "w4", token: "token-w4" }));
    },
  },
  {
    title: "a question under a key that names an object's insides is answered like any other",
    run: async (harness) => {
      const store = await harness.open();
      const key = "__proto__";
      const ref = await createRunning(store, "run1");
      const end = {
        to: "waiting",
        pending: [ask(key), ask("constructor")],
        state: {},
        stateExpiresAt: harness.now() + STATE_LIFETIME_MS,
      } as const;
      expectTag(await store.endRound(ref, progress(2), end), "OK");
      const retry = round(harness, "run1", 1, {
        asked: [askedDigest(key), askedDigest("constructor")],
        answers: { [key]: answer("a"), constructor: answer("b") },
      });
      const { head } = claimed(await store.claimRound(retry)).record;
      assert.deepEqual(Object.keys(head.brought).sort(), [key, "constructor"]);
    },
  },
];
