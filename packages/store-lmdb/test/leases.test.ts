/**
 * Whose lease is over: by process, pid namespace and boot, as this machine's /proc tells them.
 */
import assert from "node:assert/strict";
import { readFileSync, readlinkSync } from "node:fs";
import type { ClaimReply } from "@reprise/runtime";
import { describe, test } from "vitest";
import { creation, known } from "./support/inputs.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const namespace = readlinkSync("/proc/self/ns/pid");
const started = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
const self = { boot, namespace, pid: process.pid, started };

/** What a claim gets from a run whose attempt is held by `holder`, long before its lease ends. */
async function claimAgainst(holder: unknown): Promise<ClaimReply["tag"]> {
  const directory = freshDirectory();
  const liveness = { self: JSON.parse(JSON.stringify(holder)), isGone: () => false };
  const owner = await openStore({ directory, liveness });
  await owner.createRun(creation("run1"));
  const other = await openStore({ directory });
  return (await other.claimKnown(known("run1", "w2"))).tag;
}

describe("leases", () => {
  test("a living process keeps its lease", async () => {
    assert.equal(await claimAgainst(self), "RUNNING");
  });

  test("a process that is gone has lost it at once", async () => {
    // The largest pid that Linux gives out is 4194304.
    assert.equal(await claimAgainst({ ...self, pid: 4_194_305 }), "CLAIMED");
  });

  test("another process under the same number is not the holder", async () => {
    assert.equal(await claimAgainst({ ...self, started: "1" }), "CLAIMED");
    assert.equal(await claimAgainst({ ...self, pid: process.ppid, started: "1" }), "CLAIMED");
  });

  test("what an earlier boot held is over", async () => {
    assert.equal(await claimAgainst({ ...self, boot: "an earlier boot" }), "CLAIMED");
  });

  test("of another pid namespace only the lease's end decides", async () => {
    const elsewhere = { ...self, namespace: "pid:[1]", pid: 4_194_305 };
    assert.equal(await claimAgainst(elsewhere), "RUNNING");
  });

  test.each([[null], [7], ["x"], [{}], [{ boot: 1 }], [{ boot, namespace, pid: "1", started: 1 }]])(
    "a holder that can't be read (%j) is judged by its lease alone",
    async (holder) => {
      assert.equal(await claimAgainst(holder), "RUNNING");
    },
  );

  test("a wall clock that jumps ahead deletes no run that an attempt is writing", async () => {
    const directory = freshDirectory();
    let jump = 0;
    const clock = {
      wallNow: () => Date.now() + jump,
      monotonicNow: () => performance.now(),
      setTimer: () => () => undefined,
    };
    const store = await openStore({ directory, clock });
    await store.createRun(creation("run1"));
    await store.createRun(creation("run2", { end: { to: "interrupted" } }));
    jump = 400 * 24 * 60 * 60 * 1000;
    assert.equal(await store.removeExpired(10), 1);
    assert.ok((await store.load("run1")) !== undefined);
    assert.equal(await store.load("run2"), undefined);
  });

  test("two stores of one process are one process: neither takes the other's run over", async () => {
    const directory = freshDirectory();
    const one = await openStore({ directory });
    const two = await openStore({ directory });
    await one.createRun(creation("run1"));
    assert.equal((await two.claimKnown(known("run1", "w2"))).tag, "RUNNING");
  });
});
