/**
 * The transition functions by themselves: what each returns and what it writes.
 */
import assert from "node:assert/strict";
import {
  ATTENTION_RETENTION_MS,
  append,
  claimFirst,
  claimKnown,
  claimRound,
  createRun,
  endRound,
  leave,
  MAX_TAKEOVERS,
  MISMATCH_GRACE_MS,
  renew,
} from "@reprise/runtime";
import { beforeEach, describe, test } from "vitest";
import {
  completed,
  first,
  LEASE_MS,
  OneRun,
  origin,
  progress,
  RETENTION_MS,
  round,
  stepDone,
  waitingFor,
} from "./transitionsFixtures.ts";

const yes = { a: { value: true, digest: "yes" } };
const ref = { runId: "run1", epoch: 1, token: "t1" };
let run: OneRun;

function create(over: Partial<Parameters<typeof createRun>[1]> = {}): void {
  const base = { origin: origin("run1"), version: "1", token: "t1", waiterId: "w0" };
  const input = { ...base, progress: progress(1), ...over };
  run.keep(createRun(run.stored(), input, run.env()));
}

beforeEach(() => {
  run = new OneRun();
});

describe("creation", () => {
  test("a run is born with a lease, a waiter and an expiry", () => {
    create();
    assert.deepEqual(run.known.lease, { holder: "p1", until: run.now + LEASE_MS });
    assert.deepEqual(run.known.waiters, [{ id: "w0", holder: "p1" }]);
    assert.equal(run.known.expiresAt, run.now + RETENTION_MS);
    assert.equal(run.known.epoch, 1);
  });

  test("a refused creation writes nothing", () => {
    run.limit = 3;
    create();
    assert.equal(run.writes, 0);
  });

  test("a re-sent creation is not refused for the limit that it reached itself", () => {
    create({ end: waitingFor("a") });
    run.limit = 1;
    const input = { origin: origin("run1"), version: "1", token: "t1", waiterId: "w0" };
    const again = createRun(run.stored(), { ...input, progress: progress(1) }, run.env());
    assert.equal(again.reply.tag, "OK");
    assert.equal(again.write, undefined);
  });
});

describe("progress", () => {
  beforeEach(() => create());

  test("entries go behind those that are there", () => {
    run.keep(append(run.stored(), ref, progress(2, { entries: [stepDone("a")] }), run.env()));
    const { write } = append(
      run.stored(),
      ref,
      progress(3, { entries: [stepDone("b")] }),
      run.env(),
    );
    assert.equal(write?.appendAt, 1);
    assert.equal(write?.head.entryCount, 2);
  });

  // promise P4.2.15
  test("R2: a lower or equal sequence is a re-send, whatever it carries", () => {
    run.keep(append(run.stored(), ref, progress(5), run.env()));
    for (const sequence of [0, 1, 4, 5]) {
      const again = append(
        run.stored(),
        ref,
        progress(sequence, { entries: [stepDone("x")] }),
        run.env(),
      );
      assert.deepEqual(again, { reply: { tag: "OK", stopping: false } });
    }
  });

  test("R1: epoch and token must both be the newest attempt's", () => {
    for (const wrong of [{ epoch: 0 }, { epoch: 2 }, { token: "" }, { token: "t2" }]) {
      const stale = { ...ref, ...wrong };
      const env = run.env();
      assert.deepEqual(append(run.stored(), stale, progress(2), env), {
        reply: { tag: "LEASE_LOST" },
      });
      assert.deepEqual(endRound(run.stored(), stale, progress(2), completed(), env), {
        reply: { tag: "LEASE_LOST" },
      });
      assert.deepEqual(renew(run.stored(), stale, env), { reply: { tag: "LEASE_LOST" } });
    }
  });

  test("the times of a mark are those of the first try until it is cleared", () => {
    const mark = (at: number): Parameters<typeof append>[2]["marks"] => ({
      pay: { firstTriedAt: at },
    });
    run.keep(append(run.stored(), ref, progress(2, { marks: mark(1) }), run.env()));
    run.keep(append(run.stored(), ref, progress(3, { marks: mark(2) }), run.env()));
    assert.deepEqual(run.known.marks, mark(1));
    run.keep(append(run.stored(), ref, progress(4, { marks: { pay: null } }), run.env()));
    run.keep(append(run.stored(), ref, progress(5, { marks: mark(5) }), run.env()));
    assert.deepEqual(run.known.marks, mark(5));
  });

  test("an expiry never comes nearer", () => {
    run.keep(endRound(run.stored(), ref, progress(2), { to: "interrupted" }, run.env()));
    const far = run.now + ATTENTION_RETENTION_MS;
    assert.equal(run.known.expiresAt, far);
    run.keep(claimKnown(run.stored(), { ...round(0), waiterId: "w" }, run.env()));
    assert.equal(run.known.expiresAt, far);
  });
});

describe("waiters", () => {
  beforeEach(() => create());

  test("the waiters of processes that are gone do not count", () => {
    run.keep(claimKnown(run.stored(), round(0, { waiterId: "w1" }), run.env("p2")));
    run.goneHolders.add("p2");
    assert.deepEqual(run.keep(leave(run.stored(), 1, "w0", run.env())), { stopping: true });
  });

  test("a waiter that joins twice leaves once", () => {
    for (const waiterId of ["w1", "w1"]) {
      run.keep(claimKnown(run.stored(), round(0, { waiterId }), run.env()));
    }
    assert.deepEqual(run.keep(leave(run.stored(), 1, "w0", run.env())), { stopping: false });
    assert.deepEqual(run.keep(leave(run.stored(), 1, "w1", run.env())), { stopping: true });
  });

  test("who comes after the stop is not let in, and leaving again changes nothing", () => {
    run.keep(leave(run.stored(), 1, "w0", run.env()));
    const writes = run.writes;
    const late = run.keep(claimKnown(run.stored(), round(0, { waiterId: "w1" }), run.env()));
    assert.equal(late.tag === "RUNNING" && late.joined, false);
    assert.deepEqual(run.keep(leave(run.stored(), 1, "w1", run.env())), { stopping: true });
    assert.equal(run.writes, writes);
  });
});

describe("claims", () => {
  // promise P3.6.4
  test("K2: a contradiction is found in every status, before anything else is decided", () => {
    create({ end: waitingFor("a") });
    const claim = run.keep(claimRound(run.stored(), round(1, { answers: yes }), run.env()));
    assert.equal(claim.tag, "CLAIMED");
    const answers = { a: { value: false, digest: "no" } };
    const no = round(1, { token: "other", answers, stateExpired: true });
    const isSettled = (): boolean => {
      const before = run.writes;
      const { tag } = run.keep(claimRound(run.stored(), no, run.env()));
      return tag === "SETTLED" && run.writes === before;
    };
    assert.ok(isSettled(), "live");
    run.now += LEASE_MS;
    assert.ok(isSettled(), "dead");
    const own = { runId: "run1", epoch: 2, token: "retry" };
    const settled = { a: { asked: "a/a?", answer: "yes" } };
    const ends = [
      { to: "interrupted" },
      { to: "mismatched" },
      completed(),
      waitingFor("b"),
    ] as const;
    const claimedHead = run.known;
    for (const end of ends) {
      run.head = claimedHead;
      run.keep(endRound(run.stored(), own, progress(1, { settled }), end, run.env()));
      assert.ok(isSettled(), end.to);
    }
  });

  test("K5: the sixth death of a round parks it, and its possible step is remembered", () => {
    create({ progress: progress(1, { stepStarts: true }) });
    for (let death = 0; death < MAX_TAKEOVERS; death += 1) {
      run.now += LEASE_MS;
      const claim = claimKnown(run.stored(), round(0, { token: `t${death}` }), run.env());
      assert.equal(run.keep(claim).tag, "CLAIMED");
    }
    run.now += LEASE_MS;
    const last = claimKnown(run.stored(), round(0, { token: "last" }), run.env());
    assert.equal(run.keep(last).tag, "PARKED");
    assert.equal(run.known.openStepPossible, true);
    assert.equal(run.known.openStepSince, 1_000);
    assert.equal(run.known.lease, undefined);
  });

  test("a mismatch is parked only by who comes after the grace", () => {
    create();
    run.keep(endRound(run.stored(), ref, progress(2), { to: "mismatched" }, run.env()));
    run.now += MISMATCH_GRACE_MS;
    assert.equal(claimKnown(run.stored(), round(0), run.env()).reply.tag, "CLAIMED");
    run.now += 1;
    assert.equal(claimKnown(run.stored(), round(0), run.env()).reply.tag, "PARKED");
  });

  test("R3: what an attempt took from a mismatched one stays when the next one mismatches at once", () => {
    create({ end: waitingFor("a") });
    run.keep(claimRound(run.stored(), round(1, { answers: yes }), run.env()));
    for (let epoch = 2; epoch < 5; epoch += 1) {
      const own = { runId: "run1", epoch, token: "retry" };
      run.keep(endRound(run.stored(), own, progress(1), { to: "mismatched" }, run.env()));
      assert.equal(run.known.mismatchedAt, 1_000, "the grace must not start anew with each try");
      run.now += 1_000;
      run.keep(claimKnown(run.stored(), round(1), run.env()));
      assert.deepEqual(run.known.brought, yes);
    }
  });

  test("a sweep never claims a run that nobody will come back for", () => {
    create();
    run.now += LEASE_MS;
    const sweep = { ...round(0), waiterId: undefined };
    const reply = run.keep(claimKnown(run.stored(), sweep, run.env()));
    assert.equal(reply.tag === "RECORDED" && reply.head.status, "interrupted");
    assert.equal(run.known.epoch, 1);
  });
});

describe("first calls", () => {
  // promise P4.3.3
  test("F1: run and key are written in one transition and expire together", () => {
    const made = claimFirst(undefined, undefined, first(), run.env());
    assert.ok(made.write?.origin && made.key);
    assert.equal(made.key.expiresAt, made.write.head.expiresAt);
    assert.equal(made.write.origin.runId, "scope-1-x");
  });

  test("a key whose run is gone is lost, never run anew", () => {
    run.keep(claimFirst(undefined, undefined, first(), run.env()));
    const reply = claimFirst(run.key, undefined, first(), run.env());
    assert.deepEqual(reply, { reply: { tag: "LOST", reason: "missing" } });
  });

  test("F2: an expired key starts anew and still counts its generation up", () => {
    run.keep(claimFirst(undefined, undefined, first(), run.env()));
    run.now += RETENTION_MS + 1;
    const reply = run.keep(claimFirst(run.key, run.stored(), first({ idSuffix: "y" }), run.env()));
    assert.equal(reply.tag === "CLAIMED" && reply.ref.runId, "scope-2-y");
  });

  test("a run that is gone on with after a failure holds its key again", () => {
    const claim = run.keep(claimFirst(undefined, undefined, first(), run.env()));
    assert.ok(claim.tag === "CLAIMED");
    const response = { kind: "error", code: "STEP_FAILED", message: "m", data: undefined } as const;
    const end = { to: "failed", response, state: {}, keyFree: false } as const;
    run.keep(endRound(run.stored(), claim.ref, progress(1, { stepStarts: true }), end, run.env()));
    const again = run.keep(claimFirst(run.key, run.stored(), first({ token: "t2" }), run.env()));
    assert.equal(again.tag, "CLAIMED");
    assert.equal(run.key?.free, false);
    assert.equal(run.known.response, undefined);
  });

  test("F3: another caller's refusal says nothing of the run but whether it is done", () => {
    run.keep(claimFirst(undefined, undefined, first({ perCaller: false }), run.env()));
    const theirs = first({
      perCaller: false,
      token: "theirs",
      principal: "bob",
      argsDigest: "other",
    });
    const reply = claimFirst(run.key, run.stored(), theirs, run.env());
    assert.deepEqual(reply, { reply: { tag: "OTHER_CALLER", done: false } });
  });

  test("a question gives way only when its newest state has expired, and not when the newcomer is over the limit", () => {
    const claim = run.keep(
      claimFirst(undefined, undefined, first({ perCaller: false }), run.env()),
    );
    assert.ok(claim.tag === "CLAIMED");
    run.keep(endRound(run.stored(), claim.ref, progress(1), waitingFor("a"), run.env()));
    const theirs = first({ perCaller: false, principal: "bob" });
    run.now = 60_000;
    assert.equal(claimFirst(run.key, run.stored(), theirs, run.env()).reply.tag, "OTHER_CALLER");
    run.now = 60_001;
    run.limit = 1;
    const refused = claimFirst(run.key, run.stored(), theirs, run.env());
    assert.deepEqual(refused, { reply: { tag: "TOO_MANY_WAITING", limit: 1 } });
    run.limit = undefined;
    const made = claimFirst(run.key, run.stored(), theirs, run.env());
    assert.equal(made.displaced?.head.status, "failed");
    assert.deepEqual(made.displaced?.head.pending, []);
    assert.equal(made.key?.principal, "bob");
  });
});
