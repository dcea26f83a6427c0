/**
 * The Redis store and the memory store are one store: every sequence of calls, by several processes, gets the same replies and
 * leaves the same records.
 */
import assert from "node:assert/strict";
import type { AttemptRef, PendingAsk, RoundEnd, RunStore } from "@reprise/runtime";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { createManualClock, createMemoryStore } from "@reprise/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { longRun, manyCasesMs, seed } from "../../../test/support/config.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { claimFirst, createRun, progress, stepDone, stepFailed } from "./support/inputs.ts";
import { freshNamespace, openStore } from "./support/stores.ts";

const LIFETIME_MS = 20_000;
const limits = { retentionMs: 3_600_000, maxWaitingRuns: 2 };

let server: RedisServer;
let connection: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

/** A step of a sequence. Numbers choose among what the sequence has made so far. */
interface Step {
  readonly call:
    | "create"
    | "first"
    | "known"
    | "round"
    | "queued"
    | "append"
    | "end"
    | "renew"
    | "leave"
    | "cancel"
    | "retry"
    | "finish"
    | "release"
    | "advance"
    | "remove"
    | "abandoned";
  /** Which of the two processes. */
  readonly process: number;
  readonly run: number;
  readonly variant: number;
  readonly flag: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  call: fc.constantFrom(
    "create",
    "first",
    "first",
    "known",
    "known",
    "round",
    "round",
    "queued",
    "append",
    "append",
    "end",
    "end",
    "renew",
    "leave",
    "leave",
    "cancel",
    "retry",
    "finish",
    "release",
    "advance",
    "remove",
    "abandoned",
  ),
  process: fc.nat({ max: 1 }),
  run: fc.nat({ max: 3 }),
  variant: fc.nat({ max: 7 }),
  flag: fc.boolean(),
});

/** One kind of store, opened by two processes, under a sequence of steps. */
class Player {
  readonly #stores: readonly RunStore[];
  readonly #now: () => number;
  readonly #runIds: string[] = ["run0", "run1"];
  readonly #attempts: AttemptRef[] = [];
  #count = 0;

  constructor(stores: readonly RunStore[], now: () => number) {
    this.#stores = stores;
    this.#now = now;
  }

  /** The reply, as JSON has it. */
  async play(one: Step): Promise<unknown> {
    this.#count += 1;
    const reply = await this.#call(one, this.#stores[one.process] ?? assert.fail());
    return plain(reply);
  }

  async records(): Promise<unknown> {
    const store = this.#stores[0] ?? assert.fail();
    return plain(await Promise.all(this.#runIds.map((runId) => store.load(runId))));
  }

  async #call({ call, run, variant, flag }: Step, store: RunStore): Promise<unknown> {
    // A token now and then again: claims are re-sent.
    const token = `token${this.#count - (variant === 7 ? 1 : 0)}`;
    const waiterId = `w${this.#count}`;
    const runId = this.#runIds[run] ?? "nowhere";
    const common = {
      version: `${variant % 2}`,
      token,
      stateExpiresAt: this.#now() + LIFETIME_MS,
      ...(flag ? { queue: true } : {}),
    };
    const ref = this.#attempts[run] ?? { runId, epoch: 1, token: "none" };
    switch (call) {
      case "create": {
        const id = this.#runIds[run % 2] ?? "run0";
        const end = flag ? { end: this.#ends(0) } : {};
        return this.#kept(await store.createRun(createRun(id, { token, waiterId, ...end })));
      }
      case "first":
        return this.#kept(
          await store.claimFirst(
            claimFirst({
              ...common,
              waiterId,
              scope: `scope${run % 2}`,
              argsDigest: `args${variant % 3 === 0 ? 1 : 0}`,
              principal: variant === 5 ? "bob" : "alice",
              perCaller: run < 2,
              idSuffix: `x${this.#count}`,
            }),
          ),
        );
      case "known": {
        const sweeps = variant > 4;
        return this.#kept(
          await store.claimKnown({ ...common, runId, waiterId: sweeps ? undefined : waiterId }),
        );
      }
      case "round":
        return this.#kept(
          await store.claimRound({
            ...common,
            runId,
            waiterId,
            round: variant % 3,
            asked: ["k:q"],
            answers: variant < 5 ? { k: { value: flag, digest: String(flag) } } : {},
            stateExpired: variant === 6,
          }),
        );
      case "queued": {
        const { queue: _queue, ...plainly } = { queue: undefined, ...common };
        return this.#kept(await store.claimQueued({ ...plainly, runId, epoch: 1 + (variant % 4) }));
      }
      case "append":
        return store.append(
          ref,
          progress(variant, {
            entries: [flag ? stepDone(`s${this.#count}`) : stepFailed(`f${this.#count}`)],
            stepStarts: variant > 2,
            marks: variant > 5 ? { m: { firstTriedAt: 3 } } : {},
            ...(variant % 2 === 0 ? {} : { undoable: [`s${this.#count}`], stepsMarked: flag }),
          }),
        );
      case "end":
        return store.endRound(ref, progress(variant + 1), this.#ends(this.#count));
      case "renew":
        return store.renew(ref);
      case "leave":
        return store.leave(ref.runId, ref.epoch, `w${this.#count - variant - 1}`);
      case "cancel": {
        const principal = variant > 4 ? undefined : variant === 4 ? "bob" : "alice";
        return store.cancel({ runId, principal, reason: flag ? "unwanted" : undefined });
      }
      case "release":
        return store.release(runId);
      case "retry":
        return store.retry({ runId, token });
      case "finish": {
        const response = { kind: "complete", result: { n: variant } } as const;
        return store.finish({ runId, as: flag ? "completed" : "failed", response });
      }
      case "remove":
        return store.removeExpired(100);
      case "abandoned":
        return [...(await store.findAbandoned(100))].sort();
      case "advance":
        return undefined;
    }
  }

  /** Remembers the attempt that a reply gives. */
  #kept<Reply extends { readonly tag: string; readonly ref?: AttemptRef; readonly runId?: string }>(
    reply: Reply,
  ): Reply {
    const { ref } = reply;
    const runId = ref?.runId ?? reply.runId;
    if (ref !== undefined) this.#attempts.unshift(ref);
    if (runId !== undefined && !this.#runIds.includes(runId)) this.#runIds.unshift(runId);
    return reply;
  }

  #ends(index: number): RoundEnd {
    const ask: PendingAsk = {
      key: "k",
      question: "q",
      asked: "k:q",
      wire: { method: "m" },
      text: "q",
      changes: 0,
      unfinished: 0,
    };
    const result = { kind: "complete", result: { n: index } } as const;
    const ends: readonly RoundEnd[] = [
      {
        to: "waiting",
        pending: [ask],
        state: { a: `${index}` },
        stateExpiresAt: this.#now() + LIFETIME_MS,
      },
      { to: "completed", response: result, state: {}, keyFree: false },
      { to: "completed", response: result, state: { b: "1" }, keyFree: true },
      {
        to: "failed",
        response: { kind: "error", code: "X", message: "m", data: undefined },
        state: {},
        keyFree: index % 2 === 0,
      },
      { to: "interrupted" },
      { to: "mismatched" },
      { to: "released" },
      { to: "parked", response: result },
      { to: "undoing", undo: { why: index % 2 === 0 ? "failed" : "cancelled", response: result } },
      { to: "undone", response: result, keyFree: index % 2 === 0 },
    ];
    return ends[index % ends.length] ?? assert.fail();
  }
}

/** As JSON has it. Processes have their own names and waiters no order; a lease's end is compared by what it leads to. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value), (key, member: unknown) => {
    if (key === "lease" || key === "holder") return member !== undefined;
    if (key !== "waiters" || !Array.isArray(member)) return member;
    return member.map((waiter) => JSON.stringify(waiter)).sort();
  });
}

const moves = [1, 4_000, 9_999, 10_001, 30_000, 700_000, 3_700_000, 86_400_000];

describe("the Redis store and the memory store", () => {
  test("agree on every reply and every record", { timeout: manyCasesMs }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60, size: "max" }),
        async (steps) => {
          const { now, advance, setTimer } = createManualClock();
          const memory = createMemoryStore({ ...limits, now, setTimer });
          const namespace = freshNamespace();
          const clock = { playedNow: now, monotonicNow: now, setTimer };
          const open = () => openStore({ connection, namespace, clock, ...limits });
          const expected = new Player([memory, memory.another()], now);
          const actual = new Player([await open(), await open()], now);
          for (const one of steps) {
            if (one.call === "advance") advance(moves[one.variant] ?? 1);
            assert.deepEqual(await actual.play(one), await expected.play(one));
          }
          assert.deepEqual(await actual.records(), await expected.records());
        },
      ),
      { numRuns: longRun ? 2_000 : 60, seed },
    );
  });
});
