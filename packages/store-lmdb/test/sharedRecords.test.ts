/**
 * Shared records on lmdb beyond the suite: several processes, sweeps, no room, and what an older release left.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { dump, restore, shape } from "../../../test/support/lmdbDump.ts";
import { creation } from "./support/inputs.ts";
import { type RemoteStore, remoteStore } from "./support/remoteStore.ts";
import { freshDirectory, openStore, playedClock } from "./support/stores.ts";

const session = { kind: "session", id: "a" };
const stream = { kind: "stream", id: "a" };
const late = (): number => Date.now() + 3_600_000;

/** What is kept of shared records, without the notice that always stays. */
async function keptIn(directory: string): Promise<readonly string[]> {
  return Object.keys(await dump(directory)).filter((key) => /^shared\/(?!notice)/.test(key));
}

describe("several processes on one directory", { timeout: 120_000 }, () => {
  test("no change of a record is lost while they race", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory });
    const remotes = await Promise.all([1, 2].map(() => remoteStore({ directory })));
    const until = late();
    await Promise.all(remotes.map((remote) => remote.call("countUp", session, 30, until)));
    assert.equal((await store.shared.get(session))?.value, 60);
  });

  test("a notice of one is heard by the others, without a commit of theirs", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory });
    const remote = await remoteStore({ directory });
    const first = new Promise<string>((resolve) => {
      void store.shared.listen("changes", resolve);
    });
    await remote.call("listen", "changes");
    await remote.call("publish", "changes", "from the other");
    assert.equal(await first, "from the other");
    await store.shared.publish("calls", "nobody listens to this");
    await store.shared.publish("changes", "from this one");
    await heardBy(remote, ["from the other", "from this one"]);
  });

  test("what a process was told is in the log is there after it is killed in the middle", async () => {
    const directory = freshDirectory();
    const limits = { expiresAt: late(), keep: 5 };
    const store = await openStore({ directory });
    for (const count of [3, 20]) {
      const remote = await remoteStore({ directory });
      await remote.floodLog(stream, limits, count);
      await remote.kill();
      const { items, last } = await store.shared.read(stream, 0, 99);
      assert.ok(last >= remote.acknowledged(), "an acknowledged item is gone");
      assert.deepEqual(
        items.map(({ number }) => number),
        Array.from(
          { length: Math.min(5, last) },
          (_, index) => last - Math.min(5, last) + 1 + index,
        ),
      );
    }
  });
});

async function heardBy(remote: RemoteStore, expected: readonly string[]): Promise<void> {
  for (;;) {
    const heard = (await remote.call("heard")) as readonly string[];
    if (heard.length < expected.length) continue;
    assert.deepEqual(heard, expected);
    return;
  }
}

describe("while nobody listens", () => {
  test("no timer runs, and one alone does while somebody does", async () => {
    const { clock, advance, pendingTimers } = playedClock();
    const store = await openStore({ directory: freshDirectory(), clock });
    await store.shared.publish("changes", "a");
    assert.equal(pendingTimers(), 0);
    const ends = [await store.shared.listen("changes", () => undefined)];
    ends.push(await store.shared.listen("calls", () => undefined));
    advance(1_000);
    assert.equal(pendingTimers(), 1);
    for (const end of ends) end();
    assert.equal(pendingTimers(), 0);
    await store.shared.listen("changes", () => undefined);
    await store.close();
    assert.equal(pendingTimers(), 0);
  });

  test("notices leave a bounded board, and whoever listens later hears the next one", async () => {
    const { clock, advance } = playedClock();
    const directory = freshDirectory();
    const store = await openStore({ directory, clock });
    await Promise.all(
      Array.from({ length: 1_200 }, (_, index) => store.shared.publish("changes", `${index}`)),
    );
    advance(10_001);
    for (let more = 0; more < 150; more += 1) await store.shared.publish("changes", "later");
    const heard: string[] = [];
    await store.shared.listen("changes", (notice) => heard.push(notice));
    await store.shared.publish("changes", "heard");
    assert.deepEqual(heard, ["heard"]);
    await store.close();
    const kept = Object.keys(await dump(directory)).filter((key) =>
      key.startsWith("shared/notice"),
    );
    assert.equal(kept.length, 151);
  });
});

describe("a sweep", () => {
  test("removes expired records and logs in portions, to the last key, and nothing that stands", async () => {
    const { clock, advance } = playedClock();
    const directory = freshDirectory();
    const store = await openStore({ directory, clock });
    const { shared } = store;
    const soon = clock.wallNow() + 1_000;
    const long = clock.wallNow() + 3_600_000;
    for (let index = 0; index < 5; index += 1) {
      await shared.put({ kind: "session", id: `${index}` }, index, undefined, soon);
    }
    const longer = await shared.put(session, 1, undefined, soon);
    await shared.put(session, 2, longer, long);
    const items = Array.from({ length: 30 }, (_, index) => `${index}`);
    await shared.append({ kind: "stream", id: "old" }, items, { expiresAt: soon, keep: 99 });
    await shared.append(stream, items, { expiresAt: long, keep: 9 });
    advance(61_000);
    assert.equal(await store.removeExpired(8), 0);
    assert.deepEqual(await shared.read({ kind: "stream", id: "old" }, 0, 99), {
      items: [],
      last: 0,
    });
    await store.close();
    const half = (await keptIn(directory)).length;
    const again = await openStore({ directory, clock });
    for (let beat = 0; beat < 5; beat += 1) await again.removeExpired(8);
    assert.equal((await again.shared.get(session))?.value, 2);
    assert.equal((await again.shared.read(stream, 0, 99)).items.length, 9);
    await again.close();
    const left = await keptIn(directory);
    // A record and its index entry; a log, its entry and its 9 items.
    assert.equal(left.length, 2 + 11);
    assert.ok(half > left.length, "one portion took everything");
  });

  test("of half a log leaves nothing of it to the log that begins anew", async () => {
    const { clock, advance } = playedClock();
    const directory = freshDirectory();
    const store = await openStore({ directory, clock });
    const items = Array.from({ length: 30 }, (_, index) => `${index}`);
    await store.shared.append(stream, items, { expiresAt: clock.wallNow() + 1, keep: 99 });
    advance(61_000);
    await store.removeExpired(10);
    const limits = { expiresAt: clock.wallNow() + 3_600_000, keep: 99 };
    assert.equal(await store.shared.append(stream, ["new"], limits), 1);
    await store.removeExpired(10);
    const { items: left } = await store.shared.read(stream, 0, 99);
    assert.deepEqual(left, [{ number: 1, text: "new" }]);
    await store.close();
    assert.equal((await keptIn(directory)).length, 3);
  });
});

describe("a store without room", () => {
  test("refuses new records with STORE_FULL before changes of those that exist, and still removes", async () => {
    const MIB = 1024 * 1024;
    const limits = { maxBytes: 8 * MIB, reserveBytes: 4 * MIB };
    const { clock, advance } = playedClock();
    const store = await openStore({ directory: freshDirectory(), clock, ...limits });
    const until = clock.wallNow() + 3_600_000;
    const revision = await store.shared.put(session, "small", undefined, until);
    const full = { code: "STORE_FULL" };
    const fill = async (): Promise<never> => {
      for (let index = 0; ; index += 1) {
        advance(300);
        await store.shared.put({ kind: "big", id: `${index}` }, "x".repeat(MIB), undefined, until);
      }
    };
    await assert.rejects(fill(), full);
    await assert.rejects(store.createRun(creation("run1")), full);
    await assert.rejects(store.shared.append(stream, ["a"], { expiresAt: until, keep: 1 }), full);
    const changed = await store.shared.put(session, "changed", revision, until);
    assert.ok(changed);
    const big = await store.shared.get({ kind: "big", id: "0" });
    assert.equal(await store.shared.remove({ kind: "big", id: "0" }, big?.revision ?? ""), true);
    await nextTurn();
  });
});

describe("the format", () => {
  const folder = new URL("./goldenShared/", import.meta.url);
  const files = readdirSync(folder);
  const read = (file: string): Record<string, string> =>
    JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Record<string, string>;
  const clock = {
    wallNow: () => Date.UTC(2026, 0, 2, 3, 5),
    monotonicNow: () => 1000,
    setTimer: () => () => undefined,
  };
  const withoutDrawn = (key: string): string => key.replace(/expiry\/\d+/, "expiry/#");

  test.each(files)("%s is read today, and written over", async (file) => {
    const directory = freshDirectory();
    await restore(directory, read(file));
    const { shared } = await openStore({ directory, clock });
    const record = await shared.get(session);
    assert.deepEqual(record?.value, { ended: true });
    assert.deepEqual(await shared.read(stream, 0, 9), {
      items: [
        { number: 2, text: "b" },
        { number: 3, text: "c" },
      ],
      last: 3,
    });
    assert.ok(await shared.put(session, 1, record?.revision, clock.wallNow() + 1));
    const limits = { expiresAt: clock.wallNow() + 1, keep: 9 };
    assert.equal(await shared.append(stream, ["d"], limits), 4);
  });

  test("that today's release writes is the newest one", async () => {
    const directory = freshDirectory();
    const store = await openStore({ directory, clock });
    const until = clock.wallNow() + 3_600_000;
    await store.shared.put(session, { ended: true }, undefined, until);
    await store.shared.append(stream, ["a", "b", "c"], { expiresAt: until, keep: 2 });
    await store.shared.publish("changes", "toolsChanged");
    await store.close();
    const written = await dump(directory);
    const golden = read(files.toSorted().at(-1) ?? "");
    expect(Object.keys(written).map(withoutDrawn)).toEqual(Object.keys(golden).map(withoutDrawn));
    for (const [key, text] of Object.entries(written)) {
      const pinned = Object.entries(golden).find(
        ([name]) => withoutDrawn(name) === withoutDrawn(key),
      );
      expect(shape(text), key).toEqual(shape(pinned?.[1] ?? ""));
    }
  });

  test("of a directory from before shared records takes them", async () => {
    const directory = freshDirectory();
    await restore(directory, { layout: "1" });
    const { shared } = await openStore({ directory, clock });
    assert.equal(await shared.get(session), undefined);
    assert.ok(await shared.put(session, 1, undefined, clock.wallNow() + 1));
  });
});
