/**
 * The formats of the embedded store, pinned: what a release has written, this one and later ones read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  claimGoldenRun,
  goldenEntries,
  makeGoldenRun,
  scope,
} from "../../../test/support/goldenRun.ts";
import { dump, restore, shape } from "../../../test/support/lmdbDump.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

const folder = new URL("./golden/", import.meta.url);
const files = readdirSync(folder);
const read = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Record<string, string>;

const withoutTimes = (key: string): string => key.replace(/index\/expiry\/\d+/, "index/expiry/#");

describe.each(files)("what %s holds", (file) => {
  // Long after any clock of a test machine: golden records must not expire.
  const clock = {
    wallNow: () => Date.UTC(2026, 0, 2, 3, 5),
    monotonicNow: () => 1000,
    setTimer: () => () => undefined,
  };

  // promise P3.9.7
  test("goes on today: the question is answered and every entry is there", async () => {
    const directory = freshDirectory();
    await restore(directory, read(file));
    const store = await openStore({ directory, clock });
    const runId = `${scope}-1-golden`;
    const record = await claimGoldenRun(store, runId);
    expect(record.entries).toEqual(goldenEntries);
    expect(record.head).toMatchObject({
      status: "running",
      round: 1,
      state: { tone: "kind" },
      marks: { mail: {} },
      brought: { elicit: { digest: "d2" } },
    });
    expect(record.origin.params).toEqual({
      name: "refund_order",
      arguments: { orderId: "1001" },
    });
  });

  test("keeps its key: the same call finds the run", async () => {
    const directory = freshDirectory();
    await restore(directory, read(file));
    const store = await openStore({ directory, clock });
    await expect(makeGoldenRun(store)).rejects.toThrow("RECORDED");
  });
});

test("Today's release writes the newest golden format: the same keys, the same members", async () => {
  const directory = freshDirectory();
  const store = await openStore({
    directory,
    clock: {
      wallNow: () => Date.UTC(2026, 0, 2, 3, 5),
      monotonicNow: () => 1000,
      setTimer: () => () => undefined,
    },
  });
  await store.stateKey();
  await makeGoldenRun(store);
  await store.close();
  const written = await dump(directory);
  const golden = read(files.toSorted().at(-1) ?? "");
  expect(Object.keys(written).map(withoutTimes)).toEqual(Object.keys(golden).map(withoutTimes));
  for (const [key, text] of Object.entries(written)) {
    const pinned = Object.entries(golden).find(
      ([name]) => withoutTimes(name) === withoutTimes(key),
    );
    expect(shape(text), key).toEqual(shape(pinned?.[1] ?? ""));
  }
});
