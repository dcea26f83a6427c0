/**
 * Whatever callers send in whatever order: what the transition functions never do.
 */
import assert from "node:assert/strict";
import {
  type AttemptRef,
  append,
  claimFirst,
  claimKnown,
  claimRound,
  endRound,
  leave,
  type RoundEnd,
  type RunHead,
  renew,
} from "@reprise/runtime";
import fc from "fast-check";
import { describe, test } from "vitest";
import { longRun, seed } from "../../../test/support/config.ts";
import {
  completed,
  first,
  LEASE_MS,
  OneRun,
  progress,
  round,
  stepDone,
  waitingFor,
} from "./transitionsFixtures.ts";

const failed: RoundEnd = {
  to: "failed",
  response: { kind: "error", code: "STEP_FAILED", message: "m", data: undefined },
  state: {},
  keyFree: false,
};
const ends: readonly RoundEnd[] = [
  completed(),
  failed,
  waitingFor("a"),
  waitingFor("a", "b"),
  { to: "interrupted" },
  { to: "mismatched" },
  { to: "parked", response: { kind: "question" } },
];
const entries = [
  stepDone("s"),
  {
    kind: "step_failed",
    name: "f",
    error: { name: "Error", message: "m" },
    outcome: "uncertain",
    at: 1,
  },
  { kind: "answer_taken", key: "a", question: "a?", answer: true, at: 1 },
] as const;

interface Move {
  readonly kind:
    | "first"
    | "round"
    | "known"
    | "sweep"
    | "append"
    | "end"
    | "renew"
    | "leave"
    | "wait";
  /** Which of the choices of the move. */
  readonly pick: number;
  /** Which of the attempts that were given out, the newest first. */
  readonly attempt: number;
  readonly sequence: number;
}

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.constantFrom(
    "first" as const,
    "round" as const,
    "known" as const,
    "sweep" as const,
    "append" as const,
    "append" as const,
    "end" as const,
    "end" as const,
    "renew" as const,
    "leave" as const,
    "wait" as const,
  ),
  pick: fc.nat({ max: 6 }),
  attempt: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat({ max: 3 }) },
  ),
  sequence: fc.nat({ max: 6 }),
});

/** Makes one move; returns what it replied. */
function make(
  run: OneRun,
  attempts: AttemptRef[],
  step: Move,
  number: number,
): { readonly tag: string } {
  const ref = attempts[step.attempt] ?? { runId: "scope-1-x", epoch: 1, token: "none" };
  const runId = run.origin?.runId ?? "scope-1-x";
  const token = `token${number}`;
  const waiterId = `w${number}`;
  const env = run.env(`p${step.pick % 3}`);
  const choice = entries[step.pick % entries.length] ?? stepDone("s");
  const settled =
    choice.kind === "answer_taken" && !Object.hasOwn(run.head?.settled ?? {}, "a")
      ? { a: { asked: "a/a?", answer: run.head?.brought["a"]?.digest ?? "yes" } }
      : {};
  const change = progress(step.sequence, { entries: [choice], settled, stepStarts: step.pick > 2 });
  switch (step.kind) {
    case "first": {
      const over =
        step.pick === 0 ? { argsDigest: "other" } : step.pick === 1 ? { principal: "bob" } : {};
      const input = first({ ...over, token, waiterId, perCaller: false, idSuffix: `x${number}` });
      return run.keep(claimFirst(run.key, run.stored(), input, env));
    }
    case "round": {
      const answer =
        step.pick % 2 === 0 ? { value: true, digest: "yes" } : { value: false, digest: "no" };
      const answers = step.pick > 4 ? {} : { [step.pick > 2 ? "b" : "a"]: answer };
      const input = round(step.sequence % 3, {
        runId,
        token,
        waiterId,
        answers,
        stateExpired: step.pick === 3,
      });
      return run.keep(claimRound(run.stored(), input, env));
    }
    case "known":
      return run.keep(claimKnown(run.stored(), { ...round(0), runId, token, waiterId }, env));
    case "sweep":
      return run.keep(
        claimKnown(run.stored(), { ...round(0), runId, token, waiterId: undefined }, env),
      );
    case "append":
      return run.keep(append(run.stored(), ref, change, env));
    case "end":
      return run.keep(endRound(run.stored(), ref, change, ends[step.pick] ?? failed, env));
    case "renew":
      return run.keep(renew(run.stored(), ref, env));
    case "leave":
      run.keep(leave(run.stored(), ref.epoch, `w${number - step.sequence}`, env));
      return { tag: "LEFT" };
    case "wait":
      run.now += step.pick < 4 ? 1 : LEASE_MS;
      if (step.pick === 6) run.goneHolders.add("p1");
      return { tag: "WAITED" };
  }
}

/** What must hold between a head and the next one of the same run. */
function checkStep(before: RunHead, after: RunHead, reply: { readonly tag: string }): void {
  assert.ok(after.epoch >= before.epoch, "an epoch went back");
  assert.ok(after.epoch <= before.epoch + 1, "an epoch was skipped");
  assert.equal(after.epoch > before.epoch, reply.tag === "CLAIMED", "an attempt without a claim");
  assert.ok(after.round >= before.round, "a round went back");
  assert.ok(after.expiresAt >= before.expiresAt, "an expiry came nearer");
  assert.ok(after.stateExpiresAt >= before.stateExpiresAt, "a given-out state was forgotten");
  assert.ok(!before.stepStarted || after.stepStarted, "a started step was forgotten");
  assert.ok(!before.openStepPossible || after.openStepPossible, "an open step was forgotten");
  for (const [key, settled] of Object.entries(before.settled)) {
    assert.deepEqual(after.settled[key], settled, "a settled answer changed");
  }
  if (after.status === "running") assert.ok(after.lease, "a running attempt without a lease");
  else {
    assert.equal(after.lease, undefined, "a lease without an attempt");
    assert.deepEqual(after.waiters, []);
  }
  if (after.status === "parked" && before.status === "parked") assert.deepEqual(after, before);
  const isFinal = before.status === "completed" && (before.stepCompleted || !before.stepStarted);
  if (isFinal) assert.deepEqual(after, before, "a finished run changed");
}

describe("any sequence of transitions", () => {
  const params = { numRuns: longRun ? 20_000 : 1_000, seed };

  // promise P4.2.1
  test("K1 K3 K4: keeps what was recorded, and gives out attempts one at a time", () => {
    fc.assert(
      fc.property(fc.array(move, { minLength: 10, maxLength: 60, size: "max" }), (moves) => {
        const run = new OneRun();
        const attempts: AttemptRef[] = [];
        moves.forEach((step, number) => {
          const { head: before, origin: ofRun, writes, entries: had } = run;
          const isLive =
            before?.status === "running" &&
            before.lease !== undefined &&
            !run.env().isLeaseOver(before.lease);
          const reply = make(run, attempts, step, number);
          const { head: after } = run;
          if (reply.tag === "CLAIMED" && "ref" in reply) {
            assert.ok(!isLive || run.origin !== ofRun, "two attempts at a time");
            attempts.unshift(reply.ref as AttemptRef);
          }
          if (
            [
              "LEASE_LOST",
              "SETTLED",
              "LOST",
              "EXPIRED",
              "OTHER_CALLER",
              "OTHER_ARGUMENTS",
            ].includes(reply.tag)
          ) {
            assert.equal(run.writes, writes, `${reply.tag} wrote`);
          }
          if (before === undefined || after === undefined || run.origin !== ofRun) return;
          checkStep(before, after, reply);
          assert.equal(after.entryCount, run.entries.length, "the count of entries is wrong");
          // Only a repeated first call cuts, and never a completed step.
          const completedBefore = had.filter((entry) => entry.kind === "step_completed").length;
          const completedAfter = run.entries.filter(
            (entry) => entry.kind === "step_completed",
          ).length;
          assert.ok(completedAfter >= completedBefore, "a completed step was lost");
          if (step.kind !== "first") {
            assert.deepEqual(run.entries.slice(0, had.length), had, "recorded entries changed");
          }
          assert.equal(run.key?.free, after.keyFree, "key and run disagree");
          assert.equal(run.key?.expiresAt, after.expiresAt, "key and run expire apart");
        });
      }),
      params,
    );
  });

  test("answers a re-sent append and a re-sent end as the first time, and writes nothing", () => {
    fc.assert(
      fc.property(fc.array(move, { minLength: 5, maxLength: 40, size: "max" }), (moves) => {
        const run = new OneRun();
        const attempts: AttemptRef[] = [];
        moves.forEach((step, number) => {
          const reply = make(run, attempts, step, number);
          if (reply.tag === "CLAIMED" && "ref" in reply) attempts.unshift(reply.ref as AttemptRef);
          if (reply.tag !== "OK" || (step.kind !== "append" && step.kind !== "end")) return;
          const { writes } = run;
          assert.deepEqual(make(run, attempts, step, number), reply);
          assert.equal(run.writes, writes, "a re-send wrote");
        });
      }),
      params,
    );
  });
});

describe("a run id and keys that name an object's insides", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "%s is an ask key like any other",
    (key) => {
      const run = new OneRun();
      const claim = run.keep(claimFirst(undefined, undefined, first(), run.env()));
      assert.ok(claim.tag === "CLAIMED");
      run.keep(endRound(run.stored(), claim.ref, progress(1), waitingFor(key), run.env()));
      const answer = { value: 1, digest: "1" };
      const bare = round(1, { asked: [`${key}/${key}?`] });
      assert.equal(claimRound(run.stored(), bare, run.env()).reply.tag, "RECORDED");
      const reply = run.keep(
        claimRound(run.stored(), { ...bare, answers: { [key]: answer } }, run.env()),
      );
      assert.ok(reply.tag === "CLAIMED");
      assert.deepEqual(Object.entries(reply.record.head.brought), [[key, answer]]);
      const settled = { [key]: { asked: `${key}/${key}?`, answer: "1" } };
      run.keep(endRound(run.stored(), reply.ref, progress(1, { settled }), completed(), run.env()));
      const other = round(1, { asked: bare.asked, answers: { [key]: { value: 2, digest: "2" } } });
      assert.equal(claimRound(run.stored(), other, run.env()).reply.tag, "SETTLED");
    },
  );
});
