/**
 * Real processes on one directory: killed, stopped, racing, out of disk.
 */
import assert from "node:assert/strict";
import { nameOf } from "@reprise/journal";
import { describe, test } from "vitest";
import { longRun } from "../../../test/support/config.ts";
import { completed, creation, known, progress } from "./support/inputs.ts";
import { remoteStore } from "./support/remoteStore.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

/** Far longer than any test: what ends such a lease is not its time. */
const LONG_LEASE_MS = 3_600_000;
/** Each open comes between two commits at another moment. */
const opens = longRun ? 1000 : 60;
const noSignal = new AbortController().signal;

describe("several processes on one directory", { timeout: 120_000 }, () => {
  test("processes that ask for the state key at once agree, and a restart finds it again", async () => {
    const directory = freshDirectory();
    const remotes = await Promise.all([1, 2, 3].map(() => remoteStore({ directory })));
    const keys = await Promise.all(remotes.map((remote) => remote.call("stateKey")));
    assert.equal(new Set(keys).size, 1);
    for (const remote of remotes) await remote.kill();
    const store = await openStore({ directory });
    const key = await store.stateKey();
    assert.equal(Buffer.from(key).toString("hex"), keys[0]);
    assert.ok(key.length >= 32);
  });

  test("of claims at once by several processes one owns the attempt", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory });
    await store.createRun(creation("run1", { end: { to: "interrupted" } }));
    const remotes = await Promise.all([1, 2].map(() => remoteStore({ directory })));
    const claims = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        remotes[index % 2]?.call("claimKnown", known("run1", `w${index}`)),
      ),
    );
    const tags = claims.map((reply) => (reply as { tag: string }).tag).sort();
    assert.deepEqual(tags, ["CLAIMED", ...Array.from({ length: 11 }, () => "RUNNING")]);
    const waiters = (await store.load("run1"))?.head.waiters.map((waiter) => waiter.id) ?? [];
    assert.equal(new Set(waiters).size, 12);
  });

  test("a watch wakes for an end that another process recorded", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory, leaseMs: LONG_LEASE_MS });
    const remote = await remoteStore({ directory, leaseMs: LONG_LEASE_MS });
    await remote.call("createRun", creation("run1"));
    const woken = store.watch("run1", 1, 60_000, noSignal);
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    await remote.call("endRound", ref, progress(2), completed);
    await woken;
    assert.equal((await store.claimKnown(known("run1", "w2"))).tag, "RECORDED");
  });

  test("a killed process's run is taken over at once, long before its lease would end", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory, leaseMs: LONG_LEASE_MS });
    const remote = await remoteStore({ directory, leaseMs: LONG_LEASE_MS });
    await remote.call("createRun", creation("run1"));
    assert.equal((await store.claimKnown(known("run1", "w2"))).tag, "RUNNING");
    const woken = store.watch("run1", 1, 60_000, noSignal);
    await remote.kill();
    await woken;
    assert.deepEqual(await store.findAbandoned(10), ["run1"]);
    const reply = await store.claimKnown(known("run1", "w2"));
    assert.ok(reply.tag === "CLAIMED" && reply.takeover);
    // The dead process's waiter is gone as well: the last living one stops the attempt.
    assert.deepEqual(await store.leave("run1", 2, "w2"), { stopping: true });
  });

  test("what a process was told is recorded is there after it is killed in the middle of its writes", async () => {
    const directory = freshDirectory();
    for (const count of [3, 17, 40]) {
      const runId = `run${count}`;
      const remote = await remoteStore({ directory, leaseMs: LONG_LEASE_MS });
      await remote.call("createRun", creation(runId));
      await remote.flood({ runId, epoch: 1, token: `token-${runId}` }, count);
      await remote.kill();
      const store = await openStore({ directory });
      const record = await store.load(runId);
      assert.ok(record);
      const { head, entries } = record;
      assert.ok(head.sequence >= remote.acknowledged(), "an acknowledged append is gone");
      assert.equal(head.entryCount, entries.length);
      const expected = Array.from({ length: head.sequence - 1 }, (_, index) => `s${index + 2}`);
      assert.deepEqual(
        entries.map((entry) => ("name" in entry ? entry.name : "")),
        expected,
      );
      assert.equal((await store.claimKnown(known(runId, "w2"))).tag, "CLAIMED");
      await store.close();
    }
  });

  test("what was acknowledged stays while other processes open and close the store", async () => {
    const directory = freshDirectory();
    const remote = await remoteStore({ directory, leaseMs: LONG_LEASE_MS });
    await remote.call("createRun", creation("run1"));
    await remote.flood({ runId: "run1", epoch: 1, token: "token-run1" }, 1);
    for (let opened = 0; opened < opens; opened += 1) {
      const store = await openStore({ directory });
      await store.close();
    }
    await remote.kill();
    const record = await (await openStore({ directory })).load("run1");
    const names = record?.entries.map((entry) => nameOf(entry)) ?? [];
    const acknowledged = Array.from({ length: remote.acknowledged() - 1 }, (_, at) => `s${at + 2}`);
    assert.deepEqual(names.slice(0, acknowledged.length), acknowledged);
  });

  // promise P4.5.9
  test("an attempt hears within a second that another process has cancelled its run", async () => {
    const directory = freshDirectory();
    const owner = await openStore({ directory, leaseMs: LONG_LEASE_MS });
    await owner.createRun(creation("run1"));
    const heard = new Promise((resolve) => owner.onStopping("run1", 1, resolve));
    const remote = await remoteStore({ directory });
    const cancelled = remote.call("cancel", { runId: "run1" }).then(() => performance.now());
    assert.equal(await heard, "cancelled");
    const lateMs = performance.now() - (await cancelled);
    assert.ok(lateMs < 1_000, `${Math.round(lateMs)} ms`);
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    assert.deepEqual(await owner.renew(ref), { tag: "CANCELLED" });
  });

  test("a stopped process whose lease ran out finds its record refused when it goes on", async () => {
    const directory = freshDirectory();
    const remote = await remoteStore({ directory, leaseMs: LONG_LEASE_MS });
    await remote.call("createRun", creation("run1"));
    remote.signal("SIGSTOP");
    const later = {
      wallNow: Date.now,
      monotonicNow: () => Number(process.hrtime.bigint() / 1_000_000n) + LONG_LEASE_MS + 1,
      setTimer: (delayMs: number, run: () => void) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
    };
    const store = await openStore({ directory, leaseMs: LONG_LEASE_MS, clock: later });
    const reply = await store.claimKnown(known("run1", "w2"));
    assert.ok(reply.tag === "CLAIMED" && reply.takeover);
    remote.signal("SIGCONT");
    const old = { runId: "run1", epoch: 1, token: "token-run1" };
    assert.deepEqual(await remote.call("append", old, progress(2)), { tag: "LEASE_LOST" });
    assert.deepEqual(await remote.call("endRound", old, progress(2), completed), {
      tag: "LEASE_LOST",
    });
    assert.equal((await store.load("run1"))?.head.status, "running");
  });

  test("a disk that is full fails the write with STORE_FULL, keeps what was recorded and harms no later one", async () => {
    const directory = freshDirectory();
    const local = await openStore({ directory });
    // The files may grow to 1 MiB; the probe says that the disk has nothing left.
    const remote = await remoteStore({ directory, freeBytes: 1, maxFileBlocks: 2_048 });
    await local.createRun(creation("run1"));
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    const big = (sequence: number, length: number): unknown => {
      const entry = {
        kind: "step_completed",
        name: `s${sequence}`,
        value: "x".repeat(length),
        at: 1,
      };
      return { ...progress(sequence), entries: [entry] };
    };
    await assert.rejects(remote.call("append", ref, big(2, 2_000_000)), { code: "STORE_FULL" });
    assert.equal((await local.load("run1"))?.head.sequence, 1);
    assert.deepEqual(await remote.call("append", ref, big(2, 10)), { tag: "OK", stopping: false });
    assert.deepEqual(await local.append(ref, progress(3)), { tag: "OK", stopping: false });
    assert.equal((await local.load("run1"))?.entries.length, 1);
  });
});
