/**
 * What operators do to runs: another try from the failed step, an end by hand, and what those get who come again (design 10).
 */
import assert from "node:assert/strict";
import type { RecordedResponse, RoundEnd, RunStore } from "@reprise/runtime";
import {
  answer,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  expectTag,
  failedWith,
  first,
  known,
  loaded,
  namesOf,
  progress,
  round,
  type StoreCase,
  type StoreHarness,
  settles,
  stepDone,
  stepFailed,
  taken,
} from "./fixtures.ts";

const told: Extract<RecordedResponse, { kind: "complete" }> = {
  kind: "complete",
  result: { content: [{ type: "text", text: "done by hand" }] },
};

const again = (runId: string, token: string = "operator") => ({ runId, token });
const byHand = (runId: string) => ({ runId, as: "completed", response: told }) as const;

/** A run with a key whose second step failed. */
async function failedRun(
  store: RunStore,
  harness: StoreHarness,
  end: RoundEnd = failedWith("INTERNAL"),
): Promise<string> {
  const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
  const entries = [stepDone("a"), stepFailed("b"), taken("confirm")];
  const all = progress(1, { entries, stepStarts: true, settled: settles("confirm", true) });
  expectTag(await store.endRound(ref, all, end), "OK");
  return ref.runId;
}

/** Retry and finish. */
export const operateCases: readonly StoreCase[] = [
  {
    title: "a retried run goes on from its failed step, with whoever claims it first",
    run: async (harness) => {
      const store = await harness.open();
      const other = await harness.open();
      const runId = await failedRun(store, harness);
      const before = await loaded(store, runId);
      expectTag(await other.retry(again(runId)), "DONE");
      const { head, entries } = await loaded(store, runId);
      assert.equal(head.status, "running");
      assert.equal(head.lease, undefined);
      assert.ok(head.epoch > before.head.epoch);
      assert.deepEqual(namesOf(entries), ["a"]);
      assert.deepEqual(await store.findAbandoned(10), [runId]);
      const { record } = claimed(await store.claimFirst(first(harness, "w2")));
      assert.deepEqual(namesOf(record.entries), ["a"]);
      assert.deepEqual(Object.keys(record.head.brought), ["confirm"]);
    },
  },
  {
    title: "a sweep drives a retried run that has no key and gave out no state, also after a death",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const failed = progress(2, { entries: [stepFailed("a")], stepStarts: true });
      expectTag(await store.endRound(ref, failed, failedWith("INTERNAL")), "OK");
      expectTag(await store.retry(again("run1")), "DONE");
      assert.deepEqual(await store.findAbandoned(10), ["run1"]);
      claimed(await store.claimKnown(known(harness, "run1", undefined)));
      await harness.advance(store.leaseMs + 1);
      const later = { ...known(harness, "run1", undefined), token: "token-later" };
      const { ref: next } = claimed(await store.claimKnown(later));
      expectTag(await store.endRound(next, progress(1), completedWith("mended")), "OK");
      const { head } = await loaded(store, "run1");
      assert.deepEqual([head.status, head.wanted], ["completed", undefined]);
    },
  },
  {
    title: "the outcome of a retry replaces the recorded one, for the key and for the round",
    run: async (harness) => {
      const store = await harness.open();
      const runId = await failedRun(store, harness);
      expectTag(await store.retry(again(runId)), "DONE");
      const { ref } = claimed(await store.claimKnown(known(harness, runId, undefined)));
      const joins = expectTag(await store.claimFirst(first(harness, "w3")), "RUNNING");
      assert.equal(joins.joined, true);
      const done = progress(1, { entries: [stepDone("b")] });
      expectTag(await store.endRound(ref, done, completedWith("at last")), "OK");
      for (const reply of [
        await store.claimFirst(first(harness, "w4")),
        await store.claimRound(round(harness, runId, 0, { waiterId: "w5" })),
      ]) {
        const { head } = expectTag(reply, "RECORDED");
        assert.equal(head.status, "completed");
        const text = [{ type: "text", text: "at last" }];
        assert.deepEqual(head.response, { kind: "complete", result: { content: text } });
      }
    },
  },
  {
    title: "a late write of the attempt that failed is refused after a retry",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const failed = progress(1, { entries: [stepFailed("a")], stepStarts: true });
      expectTag(await store.endRound(ref, failed, failedWith("INTERNAL")), "OK");
      expectTag(await store.retry(again(ref.runId)), "DONE");
      const late = progress(2, { entries: [stepDone("late")] });
      expectTag(await store.append(ref, late), "LEASE_LOST");
      expectTag(await store.endRound(ref, late, completedWith("late")), "LEASE_LOST");
      assert.deepEqual((await loaded(store, ref.runId)).entries, []);
    },
  },
  {
    title: "a retry that is sent again is one retry, and another operator's finds the run taken",
    run: async (harness) => {
      const store = await harness.open();
      const runId = await failedRun(store, harness);
      expectTag(await store.retry(again(runId)), "DONE");
      const { head } = await loaded(store, runId);
      expectTag(await store.retry(again(runId)), "DONE");
      assert.equal((await loaded(store, runId)).head.epoch, head.epoch);
      expectTag(await store.retry(again(runId, "another")), "NOT_APPLICABLE");
    },
  },
  {
    title:
      "a run that completed is retried only when its last step failed, with the state that its round began with",
    run: async (harness) => {
      const store = await harness.open();
      const ended = { ...completedWith("hm"), state: { n: "1" } } as RoundEnd;
      const runId = await failedRun(store, harness, ended);
      expectTag(await store.retry(again(runId)), "DONE");
      const { head, entries } = await loaded(store, runId);
      assert.deepEqual([head.state, namesOf(entries)], [{}, ["a"]]);
      const ref = await createRunning(store, "fine");
      const done = progress(2, { entries: [stepFailed("a"), stepDone("b")], stepStarts: true });
      expectTag(await store.endRound(ref, done, completedWith("fine")), "OK");
      const refused = expectTag(await store.retry(again("fine")), "NOT_APPLICABLE");
      assert.equal(refused.status, "completed");
    },
  },
  {
    title: "a run whose key was free and leads to another run by now is not retried",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.endRound(ref, progress(1), failedWith("INTERNAL", true)), "OK");
      const second = claimed(await store.claimFirst(first(harness, "w2")));
      assert.notEqual(second.ref.runId, ref.runId);
      const refused = expectTag(await store.retry(again(ref.runId)), "NOT_APPLICABLE");
      assert.match(refused.why, new RegExp(second.ref.runId));
      assert.equal((await loaded(store, ref.runId)).head.status, "failed");
    },
  },
  {
    title: "a retried run takes its free key back, so that a repeated first call joins it",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      expectTag(await store.endRound(ref, progress(1), failedWith("INTERNAL", true)), "OK");
      expectTag(await store.retry(again(ref.runId)), "DONE");
      const { ref: next } = claimed(await store.claimFirst(first(harness, "w2")));
      assert.equal(next.runId, ref.runId);
    },
  },
  {
    title: "runs that an attempt has, that wait, or that ended for good are not retried",
    run: async (harness) => {
      const store = await harness.open();
      await createRunning(store, "running");
      await createWaiting(store, harness, "waiting");
      await createWaiting(store, harness, "cancelled");
      const unwanted = { runId: "cancelled", principal: undefined, reason: undefined };
      expectTag(await store.cancel(unwanted), "CANCELLED");
      for (const runId of ["running", "waiting", "cancelled"]) {
        const before = await loaded(store, runId);
        const refused = expectTag(await store.retry(again(runId)), "NOT_APPLICABLE");
        assert.equal(refused.status, runId);
        assert.deepEqual(await loaded(store, runId), before);
      }
      expectTag(await store.retry(again("nowhere")), "LOST");
      expectTag(await store.finish(byHand("nowhere")), "LOST");
    },
  },
  {
    title:
      "a waiting run that is ended by hand gives its answerer the result, and asks nothing more",
    run: async (harness) => {
      const store = await harness.open();
      await createWaiting(store, harness, "run1");
      expectTag(await store.finish(byHand("run1")), "DONE");
      const input = round(harness, "run1", 1, { answers: { confirm: answer(true) } });
      const { head } = expectTag(await store.claimRound(input), "RECORDED");
      assert.deepEqual([head.status, head.response, head.pending], ["completed", told, []]);
      expectTag(await store.finish(byHand("run1")), "NOT_APPLICABLE");
    },
  },
  {
    title:
      "a run that is ended by hand as failed is not run again by a repeated first call, but by a retry",
    run: async (harness) => {
      const store = await harness.open();
      const { ref } = claimed(await store.claimFirst(first(harness, "w1")));
      const one = progress(1, { entries: [stepFailed("a")], stepStarts: true });
      expectTag(await store.endRound(ref, one, { to: "parked", response: told }), "OK");
      const { runId } = ref;
      expectTag(await store.finish({ ...byHand(runId), as: "failed" }), "DONE");
      const { head } = expectTag(await store.claimFirst(first(harness, "w2")), "RECORDED");
      assert.deepEqual([head.status, head.response, head.keyFree], ["failed", told, false]);
      expectTag(await store.retry(again(runId)), "DONE");
      claimed(await store.claimFirst(first(harness, "w3")));
    },
  },
  {
    title: "a waiting run that is ended by hand no longer counts against the limit",
    run: async (harness) => {
      const store = await harness.open();
      for (let index = 0; index < harness.maxWaitingRuns; index += 1)
        await createWaiting(store, harness, `run${index}`);
      const next = { ...first(harness, "w1"), principal: "anonymous" };
      expectTag(await store.claimFirst(next), "TOO_MANY_WAITING");
      expectTag(await store.finish(byHand("run0")), "DONE");
      claimed(await store.claimFirst(next));
    },
  },
  {
    title: "a released run without a key is driven by a sweep",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.endRound(ref, progress(2), { to: "parked", response: told }), "OK");
      expectTag(await store.release("run1"), "RELEASED");
      claimed(await store.claimKnown(known(harness, "run1", undefined)));
    },
  },
];
