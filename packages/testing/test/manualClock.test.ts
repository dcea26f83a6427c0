/**
 * The manual clock and what the memory store offers beyond the port.
 */
import assert from "node:assert/strict";
import { createManualClock, createMemoryStore } from "@reprise/testing";
import { describe, test } from "vitest";

const sweep = { version: "1", token: "t", stateExpiresAt: 0, runId: "run1", waiterId: undefined };

describe("the manual clock", () => {
  test("fires timers in the order of their time, each at its time, also those set by others", () => {
    const clock = createManualClock(0);
    const fired: string[] = [];
    const note = (name: string): void => {
      fired.push(`${name}@${clock.now()}`);
    };
    clock.setTimer(20, () => note("late"));
    clock.setTimer(10, () => {
      note("early");
      clock.setTimer(5, () => note("nested"));
    });
    const takeBack = clock.setTimer(12, () => note("never"));
    takeBack();
    clock.advance(9);
    assert.deepEqual(fired, []);
    clock.advance(11);
    assert.deepEqual(fired, ["early@10", "nested@15", "late@20"]);
    assert.equal(clock.now(), 20);
    assert.equal(clock.pendingTimers(), 0);
  });

  test("never goes back", () => {
    const clock = createManualClock(5);
    for (const ms of [-1, Number.NaN]) assert.throws(() => clock.advance(ms), RangeError);
    assert.equal(clock.now(), 5);
  });
});

describe("the memory store's faults", () => {
  test("a fault before the commit changes nothing, one after it leaves the change", async () => {
    let fault: "before" | "after" | undefined;
    const failAt = (moment: "before" | "after") => (): void => {
      if (fault === moment) throw new Error(moment);
    };
    const store = createMemoryStore({
      beforeCommit: failAt("before"),
      afterCommit: failAt("after"),
    });
    const first = {
      ...sweep,
      scope: "s",
      perCaller: true,
      argsDigest: "a",
      principal: "p",
      idSuffix: "x",
      waiterId: "w",
      newOrigin: (runId: string, generation: number) => ({
        format: 1,
        runId,
        method: "tools/call" as const,
        handler: { kind: "tool", name: "t" },
        target: "t",
        params: {},
        caller: { principal: "p", person: "p", scopes: [], claims: {} },
        client: { info: undefined, capabilities: {}, protocolVersion: "2026-07-28" },
        seed: "s",
        key: { scope: "s", generation, argsDigest: "a" },
        startedAt: 0,
      }),
    };
    fault = "before";
    await assert.rejects(store.claimFirst(first), /before/);
    assert.deepEqual(store.snapshot(), { runs: [], keys: {} });
    fault = "after";
    await assert.rejects(store.claimFirst(first), /after/);
    assert.deepEqual(Object.keys(store.snapshot().keys), ["s"]);
    fault = undefined;
    assert.equal((await store.claimFirst({ ...first, token: "t2" })).tag, "RUNNING");
  });

  test("what a snapshot shows can be changed without changing the store", async () => {
    const store = createMemoryStore();
    const snapshot = store.snapshot();
    Object.assign(snapshot.keys, { s: 1 });
    assert.deepEqual(store.snapshot().keys, {});
  });
});
