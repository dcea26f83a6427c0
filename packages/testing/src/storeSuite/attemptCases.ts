/**
 * What an attempt may record (P1, P2, P3): creation, progress, the end of a round.
 */
import assert from "node:assert/strict";
import {
  ask,
  claimed,
  completedWith,
  createRunning,
  createWaiting,
  creation,
  expectTag,
  failedWith,
  known,
  loaded,
  namesOf,
  noSignal,
  origin,
  progress,
  round,
  STATE_LIFETIME_MS,
  type StoreCase,
  settles,
  stepDone,
  taken,
  waitingFor,
} from "./fixtures.ts";

/** Creation, progress and round ends. */
export const attemptCases: readonly StoreCase[] = [
  {
    title: "a created run is what was given, and another process sees it",
    run: async (harness) => {
      const store = await harness.open();
      const input = creation("run1", "w1", {
        progress: progress(1, { entries: [stepDone("a")], marks: { b: { firstTriedAt: 7 } } }),
      });
      const { ref } = expectTag(await store.createRun(input), "OK");
      assert.deepEqual(ref, { runId: "run1", epoch: 1, token: input.token });
      const record = await loaded(await harness.open(), "run1");
      assert.deepEqual(record.origin.params, origin("run1").params);
      assert.deepEqual(record.entries, [stepDone("a")]);
      const { head } = record;
      assert.equal(head.status, "running");
      assert.equal(head.round, 0);
      assert.equal(head.entryCount, 1);
      assert.equal(head.stepCompleted, true);
      assert.deepEqual(head.marks, { b: { firstTriedAt: 7 } });
    },
  },
  {
    title:
      "a creation that is sent again gets the first reply, a stranger's under the same id does not",
    run: async (harness) => {
      const store = await harness.open();
      const input = creation("run1", "w1", { progress: progress(1, { entries: [stepDone("a")] }) });
      const firstReply = await store.createRun(input);
      assert.deepEqual(await store.createRun(input), firstReply);
      assert.deepEqual(namesOf((await loaded(store, "run1")).entries), ["a"]);
      expectTag(await store.createRun({ ...input, token: "other" }), "EXISTS");
      assert.equal((await loaded(store, "run1")).head.token, input.token);
    },
  },
  {
    title: "entries keep their order over transitions and the values that JSON has",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      for (let index = 0; index < 12; index += 1) {
        const entries = [
          stepDone(`s${index}`),
          taken(`k${index}`, { n: [index, null, "é\u0000"] }),
        ];
        expectTag(await store.append(ref, progress(index + 2, { entries })), "OK");
      }
      const { entries, head } = await loaded(store, "run1");
      assert.equal(head.entryCount, 24);
      assert.deepEqual(namesOf(entries).slice(0, 4), ["s0", "k0", "s1", "k1"]);
      assert.deepEqual(entries[23], taken("k11", { n: [11, null, "é\u0000"] }));
    },
  },
  {
    // promise P4.2.15
    title: "a transition that is sent again changes nothing and gets the first reply",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const step = progress(2, { entries: [stepDone("a")], stepStarts: true });
      assert.deepEqual(await store.append(ref, step), { tag: "OK", stopping: false });
      assert.deepEqual(await store.append(ref, step), { tag: "OK", stopping: false });
      const end = progress(3, { entries: [stepDone("b")] });
      expectTag(await store.endRound(ref, end, completedWith("done")), "OK");
      const before = await loaded(store, "run1");
      expectTag(await store.endRound(ref, end, completedWith("other")), "OK");
      expectTag(await store.append(ref, step), "OK");
      assert.deepEqual(await loaded(store, "run1"), before);
      assert.deepEqual(namesOf(before.entries), ["a", "b"]);
    },
  },
  {
    // promise P4.2.2
    title: "a stale epoch or a wrong token records nothing",
    run: async (harness) => {
      const store = await harness.open();
      const old = await createRunning(store, "run1");
      await harness.advance(store.leaseMs + 1);
      const { ref } = claimed(await store.claimKnown(known(harness, "run1", "w2")));
      const before = await loaded(store, "run1");
      const late = progress(2, { entries: [stepDone("late")] });
      expectTag(await store.append(old, late), "LEASE_LOST");
      expectTag(await store.endRound(old, late, completedWith("late")), "LEASE_LOST");
      expectTag(await store.renew(old), "LEASE_LOST");
      expectTag(await store.append({ ...ref, token: "guess" }, late), "LEASE_LOST");
      expectTag(await store.append({ ...ref, runId: "run2" }, late), "LEASE_LOST");
      assert.deepEqual(await loaded(store, "run1"), before);
    },
  },
  {
    title: "an attempt whose lease ran out still records while nobody has taken the run over",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      await harness.advance(store.leaseMs * 3);
      expectTag(await store.append(ref, progress(2, { entries: [stepDone("a")] })), "OK");
      expectTag(await store.claimKnown(known(harness, "run1", "w2")), "RUNNING");
    },
  },
  {
    title: "after the end of its round an attempt records nothing more",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      expectTag(await store.endRound(ref, progress(2), waitingFor(harness, "confirm")), "OK");
      expectTag(await store.append(ref, progress(3, { entries: [stepDone("a")] })), "LEASE_LOST");
      expectTag(await store.endRound(ref, progress(3), completedWith("x")), "LEASE_LOST");
      expectTag(await store.renew(ref), "LEASE_LOST");
      assert.deepEqual((await loaded(store, "run1")).entries, []);
    },
  },
  {
    title: "a suspension begins a new round with its questions open and its answers settled",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const stateExpiresAt = harness.now() + STATE_LIFETIME_MS;
      const last = progress(2, { entries: [taken("a", "x")], settled: settles("a", "x") });
      const end = {
        to: "waiting",
        pending: [ask("b")],
        state: { n: "1" },
        stateExpiresAt,
      } as const;
      expectTag(await store.endRound(ref, last, end), "OK");
      const { head } = await loaded(store, "run1");
      assert.equal(head.status, "waiting");
      assert.equal(head.round, 1);
      assert.deepEqual(head.pending, [ask("b")]);
      assert.deepEqual(head.settled, settles("a", "x"));
      assert.deepEqual(head.state, { n: "1" });
      assert.equal(head.stateExpiresAt, stateExpiresAt);
      assert.equal(head.lease, undefined);
      assert.deepEqual(head.waiters, []);
    },
  },
  {
    title: "state, drafts and marks are kept as the transitions leave them",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const marks = { pay: { firstTriedAt: 3 }, ["__proto__"]: { firstTriedAt: 4 } };
      const drafts = { n: ["1", null, "2"] };
      expectTag(await store.append(ref, progress(2, { marks, drafts, stepStarts: true })), "OK");
      const again = { pay: { firstTriedAt: 9 } };
      expectTag(await store.append(ref, progress(3, { marks: again })), "OK");
      const { head } = await loaded(store, "run1");
      assert.deepEqual(head.drafts, drafts);
      assert.equal(
        head.marks["pay"]?.firstTriedAt,
        3,
        "a later try restarted the first one's time",
      );
      assert.deepEqual(Object.keys(head.marks).sort(), ["__proto__", "pay"]);
      expectTag(await store.append(ref, progress(4, { marks: { pay: null } })), "OK");
      assert.deepEqual(Object.keys((await loaded(store, "run1")).head.marks), ["__proto__"]);
    },
  },
  {
    title: "two transitions sent at once are recorded one after the other",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const replies = await Promise.all([
        store.append(ref, progress(2, { entries: [stepDone("a")] })),
        store.append(ref, progress(3, { entries: [stepDone("b")] })),
        store.append(ref, progress(2, { entries: [stepDone("a")] })),
      ]);
      for (const reply of replies) expectTag(reply, "OK");
      assert.deepEqual(namesOf((await loaded(store, "run1")).entries), ["a", "b"]);
    },
  },
  {
    title: "a run that is not there is lost, and its transitions change nothing",
    run: async (harness) => {
      const store = await harness.open();
      for (const runId of ["nowhere", "", "a/b", "run1/head", "\u0000", "x".repeat(5_000)]) {
        const ref = { runId, epoch: 1, token: "t" };
        assert.deepEqual(await store.claimRound(round(harness, runId, 0)), {
          tag: "LOST",
          reason: "missing",
        });
        expectTag(await store.claimKnown(known(harness, runId, "w")), "LOST");
        expectTag(await store.append(ref, progress(1)), "LEASE_LOST");
        expectTag(await store.renew(ref), "LEASE_LOST");
        assert.deepEqual(await store.leave(runId, 1, "w"), { stopping: false });
        assert.equal(await store.load(runId), undefined);
        await store.watch(runId, 1, 60_000, noSignal);
      }
    },
  },
  {
    title: "a failure keeps what was recorded before it",
    run: async (harness) => {
      const store = await harness.open();
      const ref = await createRunning(store, "run1");
      const last = progress(2, { entries: [stepDone("a")] });
      expectTag(await store.endRound(ref, last, failedWith("STEP_FAILED")), "OK");
      const reply = expectTag(await store.claimRound(round(harness, "run1", 0)), "RECORDED");
      assert.equal(reply.head.status, "failed");
      assert.equal(reply.head.response?.kind, "error");
      assert.deepEqual(namesOf((await loaded(store, "run1")).entries), ["a"]);
    },
  },
  {
    title: "runs do not mix: their ids may begin alike",
    run: async (harness) => {
      const store = await harness.open();
      const one = await createRunning(store, "run");
      const two = await createRunning(store, "run1");
      await createWaiting(store, harness, "run-1");
      expectTag(await store.append(one, progress(2, { entries: [stepDone("one")] })), "OK");
      expectTag(await store.append(two, progress(2, { entries: [stepDone("two")] })), "OK");
      assert.deepEqual(namesOf((await loaded(store, "run")).entries), ["one"]);
      assert.deepEqual(namesOf((await loaded(store, "run1")).entries), ["two"]);
      assert.deepEqual(namesOf((await loaded(store, "run-1")).entries), []);
    },
  },
];
