/**
 * What must not go wrong when callers, disks and other releases do.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { anonymous, type RunOrigin } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import { open } from "lmdb";
import { describe, test } from "vitest";
import { completed, creation, first, known, origin, progress, waiting } from "./support/inputs.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

const MIB = 1024 * 1024;

function step(sequence: number, length: number): ReturnType<typeof progress> {
  const value = "x".repeat(length);
  const entry = { kind: "step_completed", name: `s${sequence}`, value, at: 1 } as const;
  return progress(sequence, { entries: [entry] });
}

describe("the embedded store under attack", () => {
  test("a transition that throws leaves nothing behind and spoils no other of the same commit", async () => {
    const store = await openStore({ directory: freshDirectory() });
    const newOrigin = (): RunOrigin => {
      throw new TypeError("no origin");
    };
    const replies = await Promise.allSettled([
      store.createRun(creation("before")),
      store.claimFirst(first("w1", { newOrigin })),
      store.createRun(creation("after")),
    ]);
    assert.deepEqual(
      replies.map((reply) => reply.status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const reply = await store.claimFirst(first("w2"));
    assert.equal(reply.tag === "CLAIMED" && reply.record.origin.key?.generation, 1);
    assert.ok((await store.load("before")) && (await store.load("after")));
  });

  test("a value that is no JSON is refused as a whole", async () => {
    const store = await openStore({ directory: freshDirectory() });
    await store.createRun(creation("run1"));
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    const bad = {
      kind: "read_completed",
      name: "b",
      value: 1n as unknown as string,
      at: 1,
    } as const;
    const mixed = progress(2, { entries: [...step(2, 1).entries, bad] });
    await assert.rejects(store.append(ref, mixed), { code: "STORE_UNAVAILABLE" });
    assert.deepEqual((await store.load("run1"))?.entries, []);
    assert.equal((await store.append(ref, step(2, 1))).tag, "OK");
  });

  test("a run id that spells another run's key is never written", async () => {
    const store = await openStore({ directory: freshDirectory() });
    await store.createRun(creation("run1"));
    for (const runId of ["run1/head", "run1/entry/00000000", "run1#key", "", "x".repeat(5_000)]) {
      await assert.rejects(store.createRun(creation(runId)), { code: "STORE_UNAVAILABLE" });
    }
    assert.deepEqual((await store.load("run1"))?.entries, []);
  });

  test("a record of a newer release is refused and kept", async () => {
    const store = await openStore({ directory: freshDirectory() });
    await store.createRun(creation("run1", { origin: origin("run1", { format: 99 }) }));
    const refused = { code: "FORMAT_UNKNOWN" };
    await assert.rejects(store.claimKnown(known("run1", "w2")), refused);
    await assert.rejects(store.load("run1"), refused);
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    assert.equal((await store.renew(ref)).tag, "OK");
  });

  test("a full store refuses new runs first, keeps room for those that exist, and says so before", async () => {
    const directory = freshDirectory();
    const limits = { maxBytes: 8 * MIB, reserveBytes: 2 * MIB };
    const clock = { monotonic: 0 };
    const store = await openStore({
      directory,
      ...limits,
      clock: {
        wallNow: () => 1_000_000,
        // Each look at the clock is a second later: the room is measured anew for each write.
        monotonicNow: () => (clock.monotonic += 1_000),
        setTimer: () => () => {},
      },
      leaseMs: 3_600_000,
    });
    await store.createRun(creation("run1"));
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    let sequence = 1;
    while ((await store.health()).ok) {
      sequence += 1;
      assert.equal((await store.append(ref, step(sequence, MIB / 4))).tag, "OK");
    }
    assert.match((await store.health()).reason ?? "", /kept for runs that exist/);
    await assert.rejects(store.createRun(creation("run2")), { code: "STORE_FULL" });
    await assert.rejects(store.claimFirst(first("w1")), { code: "STORE_FULL" });
    assert.equal(await store.load("run2"), undefined);
    assert.equal((await store.append(ref, step(sequence + 1, MIB / 4))).tag, "OK");
    const fill = async (): Promise<void> => {
      for (sequence += 2; ; sequence += 1) await store.append(ref, step(sequence, MIB / 4));
    };
    await assert.rejects(fill(), { code: "STORE_FULL" });
    assert.equal((await store.load("run1"))?.head.sequence, sequence - 1);
  });

  test("a disk that is nearly full turns health red and refuses new runs", async () => {
    let free = 2 ** 40;
    const fileSystem = {
      checkAccess: () => {},
      kindOf: () => ({ magic: 0xef53, mountType: "ext4" }),
      freeBytes: () => free,
    };
    const store = await openStore({ directory: freshDirectory(), fileSystem });
    assert.equal((await store.health()).ok, true);
    free = 1_000;
    assert.match((await store.health()).reason ?? "", /the disk has 1000 bytes left/);
    await assert.rejects(store.createRun(creation("run1")), { code: "STORE_FULL" });
    free = 2 ** 40;
    assert.equal((await store.health()).ok, true);
    assert.equal((await store.createRun(creation("run1"))).tag, "OK");
  });

  test("a caller whose waiting runs hold too many bytes starts no other until one is answered", async () => {
    const store = await openStore({ directory: freshDirectory(), maxBytesPerCaller: 20_000 });
    const hold = (runId: string, principal: string): ReturnType<typeof creation> =>
      creation(runId, {
        origin: origin(runId, {
          caller: { ...anonymous, principal },
          params: { text: "x".repeat(15_000) },
        }),
        end: waiting(Date.now() + 60_000),
      });
    assert.equal((await store.createRun(hold("run1", "alice"))).tag, "OK");
    assert.equal((await store.createRun(hold("run2", "alice"))).tag, "OK");
    assert.equal((await store.createRun(hold("run3", "alice"))).tag, "TOO_MANY_WAITING");
    assert.equal((await store.createRun(hold("run3", `bob ${"é".repeat(3_000)}`))).tag, "OK");
    const owner = creation("run4", { origin: origin("run4"), end: { to: "interrupted" } });
    assert.equal((await store.createRun(owner)).tag, "OK");
  });

  test("step 2000 is recorded like the first: the journal is not rewritten", async () => {
    const store = await openStore({ directory: freshDirectory() });
    await store.createRun(creation("run1"));
    const ref = { runId: "run1", epoch: 1, token: "token-run1" };
    const appends = Array.from({ length: 2_000 }, (_, index) =>
      store.append(ref, step(index + 2, 10)),
    );
    for (const reply of await Promise.all(appends)) assert.equal(reply.tag, "OK");
    const names = (await store.load("run1"))?.entries.map((entry) => "name" in entry && entry.name);
    assert.equal(names?.length, 2_000);
    assert.equal(names?.[1_999], "s2001");
  });

  test("stores that open and close at once neither block nor lose anything", async () => {
    const directory = freshDirectory();
    const rounds = Array.from({ length: 8 }, async (_, index) => {
      const store = await openLmdbStore({ directory });
      const made = store.createRun(creation(`run${index}`));
      await store.close();
      assert.equal((await made).tag, "OK");
    });
    await Promise.all(rounds);
    const store = await openStore({ directory });
    for (let index = 0; index < 8; index += 1) assert.ok(await store.load(`run${index}`));
  });

  test("indexes are exactly what the heads say, and removal leaves not one key of a run", async () => {
    const directory = freshDirectory();
    let now = Date.UTC(2026, 0, 1);
    const clock = { wallNow: () => now, monotonicNow: () => now, setTimer: () => () => {} };
    const store = await openLmdbStore({ directory, clock });
    const claim = await store.claimFirst(first("w1"));
    assert.ok(claim.tag === "CLAIMED");
    await store.append(claim.ref, step(1, 10));
    await store.createRun(creation("waits", { end: waiting(now + 1_000) }));
    await store.createRun(creation("ends", { end: completed }));
    await store.createRun(creation("unlike", { end: { to: "mismatched" } }));
    assert.equal(await keysOf(directory, "index/running/"), 1);
    assert.equal(await keysOf(directory, "index/mismatched/"), 1);
    assert.equal(await keysOf(directory, "index/expiry/"), 4);
    assert.equal(await keysOf(directory, "index/waiting/"), 1);
    now += 31 * 24 * 3_600_000;
    assert.equal(await store.removeExpired(100), 4);
    await store.close();
    assert.equal(await keysOf(directory, "run/"), 0);
    assert.equal(await keysOf(directory, "index/"), 0);
    assert.equal(await keysOf(directory, ""), 1, "only the layout's number is left");
  });
});

/** How many keys begin with `prefix`. */
async function keysOf(directory: string, prefix: string): Promise<number> {
  const raw = open<string, string>({
    path: join(directory, "reprise.mdb"),
    noSubdir: true,
    encoding: "string",
    overlappingSync: false,
  });
  const keys = [...raw.getKeys()].filter((key) => key.startsWith(prefix));
  await raw.close();
  return keys.length;
}
