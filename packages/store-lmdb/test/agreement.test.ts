/**
 * The embedded store and the memory store are the same store: every sequence of calls gets the same replies and leaves the
 * same records.
 */
import assert from "node:assert/strict";
import type {
  AttemptRef,
  ClaimReply,
  QueuedClaimReply,
  RoundEnd,
  RunStore,
} from "@reprise/runtime";
import { createMemoryStore } from "@reprise/testing";
import fc from "fast-check";
import { describe, test } from "vitest";
import { longRun, manyCasesMs, seed } from "../../../test/support/config.ts";
import { completed, creation, first, known, progress } from "./support/inputs.ts";
import { freshDirectory, openStore, playedClock } from "./support/stores.ts";

const runIds = ["run1", "run2"] as const;

type Operation =
  | { readonly kind: "create"; readonly run: number; readonly waits: boolean }
  | {
      readonly kind: "first";
      readonly scope: number;
      readonly argument: number;
      readonly queue: boolean;
    }
  | {
      readonly kind: "known";
      readonly run: number;
      readonly sweep: boolean;
      readonly queue: boolean;
    }
  | { readonly kind: "take"; readonly attempt: number }
  | {
      readonly kind: "round";
      readonly run: number;
      readonly round: number;
      readonly value: boolean;
      readonly queue: boolean;
    }
  | {
      readonly kind: "append";
      readonly attempt: number;
      readonly sequence: number;
      readonly fails: boolean;
      readonly undo: boolean;
    }
  | {
      readonly kind: "end";
      readonly attempt: number;
      readonly sequence: number;
      readonly to: number;
    }
  | { readonly kind: "leave"; readonly attempt: number; readonly waiter: number }
  | { readonly kind: "renew"; readonly attempt: number }
  | { readonly kind: "cancel"; readonly attempt: number; readonly own: boolean }
  | { readonly kind: "release"; readonly run: number }
  | { readonly kind: "retry"; readonly run: number }
  | { readonly kind: "finish"; readonly run: number; readonly fails: boolean }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "expire" }
  | { readonly kind: "abandoned" };

const small = fc.nat({ max: 3 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), run: fc.nat({ max: 1 }), waits: fc.boolean() }),
  fc.record({
    kind: fc.constant("first" as const),
    scope: fc.nat({ max: 1 }),
    argument: fc.nat({ max: 1 }),
    queue: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("known" as const),
    run: small,
    sweep: fc.boolean(),
    queue: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("take" as const), attempt: small }),
  fc.record({
    kind: fc.constant("round" as const),
    run: small,
    round: fc.nat({ max: 2 }),
    value: fc.boolean(),
    queue: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("append" as const),
    attempt: small,
    sequence: fc.nat({ max: 5 }),
    fails: fc.boolean(),
    undo: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("end" as const),
    attempt: small,
    sequence: fc.nat({ max: 5 }),
    to: fc.nat({ max: 8 }),
  }),
  fc.record({ kind: fc.constant("leave" as const), attempt: small, waiter: small }),
  fc.record({ kind: fc.constant("renew" as const), attempt: small }),
  fc.record({ kind: fc.constant("cancel" as const), attempt: small, own: fc.boolean() }),
  fc.record({ kind: fc.constant("release" as const), run: small }),
  fc.record({ kind: fc.constant("retry" as const), run: small }),
  fc.record({ kind: fc.constant("finish" as const), run: small, fails: fc.boolean() }),
  fc.record({
    kind: fc.constant("advance" as const),
    ms: fc.constantFrom(1, 9_000, 11_000, 3_700_000),
  }),
  fc.record({ kind: fc.constant("expire" as const) }),
  fc.record({ kind: fc.constant("abandoned" as const) }),
);

/** One store under a sequence of operations; what it says is compared with the other's. */
function driver(store: RunStore, now: () => number): (operation: Operation) => Promise<unknown> {
  const attempts: AttemptRef[] = [];
  const jobs: { readonly runId: string; readonly epoch: number }[] = [];
  const seen = new Set<string>(runIds);
  let waiters = 0;
  const note = (reply: ClaimReply | QueuedClaimReply): unknown => {
    if (reply.tag === "QUEUED") {
      jobs.unshift({ runId: reply.runId, epoch: reply.epoch });
      seen.add(reply.runId);
    }
    if (reply.tag === "CLAIMED") {
      attempts.unshift(reply.ref);
      seen.add(reply.ref.runId);
    }
    return plain(reply);
  };
  const attemptAt = (index: number): AttemptRef =>
    attempts[index] ?? { runId: "run1", epoch: 1, token: "token-run1" };
  const runAt = (index: number): string => [...seen][index] ?? "nowhere";
  const ends = (): readonly RoundEnd[] => [
    completed,
    { to: "completed", response: { kind: "complete", result: {} }, state: {}, keyFree: true },
    { to: "failed", response: { kind: "question" }, state: {}, keyFree: false },
    { to: "interrupted" },
    { to: "mismatched" },
    {
      to: "waiting",
      pending: [
        {
          key: "k",
          question: "q",
          asked: "kq",
          wire: { method: "m" },
          text: "q",
          changes: 0,
          unfinished: 0,
        },
      ],
      state: { n: "1" },
      stateExpiresAt: now() + 20_000,
    },
    { to: "parked", response: { kind: "complete", result: {} } },
    { to: "undoing", undo: { why: "failed", response: { kind: "complete", result: {} } } },
    { to: "undone", response: { kind: "complete", result: {} }, keyFree: true },
  ];
  return async (step) => {
    waiters += 1;
    const waiterId = `w${waiters}`;
    switch (step.kind) {
      case "create": {
        const end = ends()[5];
        const over = step.waits && end !== undefined ? { end } : {};
        return plain(await store.createRun(creation(runIds[step.run] ?? "run1", over)));
      }
      case "first":
        return note(
          await store.claimFirst(
            first(waiterId, {
              scope: `scope${step.scope}`,
              argsDigest: `args${step.argument}`,
              stateExpiresAt: now() + 20_000,
              queue: step.queue,
            }),
          ),
        );
      case "known":
        return note(
          await store.claimKnown({
            ...known(runAt(step.run), step.sweep ? undefined : waiterId),
            token: `token-${waiterId}`,
            queue: step.queue,
          }),
        );
      case "take": {
        const { runId, epoch } = jobs[step.attempt] ?? { runId: "run1", epoch: 1 };
        const common = { version: "2", token: `token-${waiterId}`, stateExpiresAt: now() + 20_000 };
        return note(await store.claimQueued({ ...common, runId, epoch }));
      }
      case "round":
        return note(
          await store.claimRound({
            ...known(runAt(step.run), waiterId),
            waiterId,
            round: step.round,
            asked: ["kq"],
            answers: { k: { value: step.value, digest: String(step.value) } },
            stateExpired: false,
            queue: step.queue,
          }),
        );
      case "append": {
        const error = { name: "Error", message: "m" };
        const entry = step.fails
          ? ({
              kind: "step_failed",
              name: `s${step.sequence}`,
              error,
              outcome: "uncertain",
              at: 1,
            } as const)
          : ({ kind: "step_completed", name: `s${step.sequence}`, value: "1", at: 1 } as const);
        const { name } = entry;
        const undoable = step.undo ? { undoable: [name], stepsMarked: true } : {};
        const undone =
          step.undo && step.fails ? [{ kind: "step_undone", name, at: 1 } as const] : [];
        const change = progress(step.sequence, {
          entries: [entry, ...undone],
          stepStarts: true,
          ...undoable,
        });
        return plain(await store.append(attemptAt(step.attempt), change));
      }
      case "end": {
        const end = ends()[step.to] ?? completed;
        return plain(await store.endRound(attemptAt(step.attempt), progress(step.sequence), end));
      }
      case "leave": {
        const { runId, epoch } = attemptAt(step.attempt);
        return store.leave(runId, epoch, `w${waiters - step.waiter}`);
      }
      case "renew":
        return plain(await store.renew(attemptAt(step.attempt)));
      case "cancel": {
        const { runId } = attemptAt(step.attempt);
        const principal = step.own ? undefined : "nobody";
        return plain(await store.cancel({ runId, principal, reason: "unwanted" }));
      }
      case "release":
        return store.release(runAt(step.run));
      case "retry":
        return plain(await store.retry({ runId: runAt(step.run), token: `token-${waiterId}` }));
      case "finish": {
        const response = { kind: "complete", result: {} } as const;
        const as = step.fails ? "failed" : "completed";
        return plain(await store.finish({ runId: runAt(step.run), as, response }));
      }
      case "advance":
        return undefined;
      case "expire": {
        const count = await store.removeExpired(100);
        const left = await Promise.all(
          [...seen].map(async (runId) => plain(await store.load(runId))),
        );
        return { count, left };
      }
      case "abandoned":
        return [...(await store.findAbandoned(100))].sort();
    }
  };
}

/** As JSON has it; leases name their own clocks and processes. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value), (key, member: unknown) =>
    key === "lease" || key === "holder" ? member !== undefined : member,
  );
}

describe("the embedded store and the memory store", { timeout: manyCasesMs }, () => {
  test("agree on every reply and every record", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 5, maxLength: 40, size: "max" }),
        async (operations) => {
          const { clock, advance } = playedClock();
          const limits = { retentionMs: 3_600_000, maxWaitingRuns: 2 };
          const memory = createMemoryStore({
            ...limits,
            now: clock.wallNow,
            setTimer: clock.setTimer,
          });
          const lmdb = await openStore({ directory: freshDirectory(), clock, ...limits });
          const expected = driver(memory, clock.wallNow);
          const actual = driver(lmdb, clock.wallNow);
          for (const step of [...operations, { kind: "expire" } as const]) {
            if (step.kind === "advance") advance(step.ms);
            assert.deepEqual(await actual(step), await expected(step));
          }
          await lmdb.close();
        },
      ),
      { numRuns: longRun ? 500 : 30, seed },
    );
  });
});
