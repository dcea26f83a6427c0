/**
 * What the port refuses as a mistake of its caller.
 */
import assert from "node:assert/strict";
import type { SharedKey, SharedRecords } from "@reprise/runtime";
import { contents, late, roomy, type SharedCase, session, stream } from "./fixtures.ts";

const noWords = ["", "a b", "a:b", "{a}", "a/b", "é", "a\n", "x".repeat(201)];
const malformed: readonly SharedKey[] = noWords.flatMap((word) => [
  { kind: word, id: "a" },
  { kind: "a", id: word },
]);
const half = "\ud83e";

/** Rejects, and does not throw, with a RangeError. */
async function refuses(call: () => Promise<unknown>): Promise<void> {
  await assert.rejects(call(), RangeError);
}

async function refusesKey(shared: SharedRecords, key: SharedKey, until: number): Promise<void> {
  await refuses(() => shared.get(key));
  await refuses(() => shared.put(key, 1, undefined, until));
  await refuses(() => shared.remove(key, "1"));
  await refuses(() => shared.append(key, ["a"], { expiresAt: until, keep: 1 }));
  await refuses(() => shared.read(key, 0, 1));
}

export const refusalCases: readonly SharedCase[] = [
  {
    title: "a key that is no pair of words is refused by every call",
    run: async (harness) => {
      const { shared } = await harness.open();
      for (const key of malformed) await refusesKey(shared, key, late(harness));
    },
  },
  {
    title: "times, limits and texts that can't be meant are refused and write nothing",
    run: async (harness) => {
      const { shared } = await harness.open();
      for (const expiresAt of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300]) {
        await refuses(() => shared.put(session, 1, undefined, expiresAt));
        await refuses(() => shared.append(stream, ["a"], roomy(harness, { expiresAt })));
      }
      for (const keep of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await refuses(() => shared.append(stream, ["a"], roomy(harness, { keep })));
      }
      await refuses(() => shared.append(stream, ["a", half], roomy(harness)));
      for (const after of [-1, 0.5, Number.NaN]) await refuses(() => shared.read(stream, after, 1));
      for (const limit of [0, -1, 0.5, Number.NaN]) {
        await refuses(() => shared.read(stream, 0, limit));
      }
      assert.equal(await shared.get(session), undefined);
      assert.deepEqual(await contents(shared, stream), { texts: [], last: 0 });
    },
  },
  {
    title: "a channel that is no word and a notice over 8 KB are refused",
    run: async (harness) => {
      const { shared } = await harness.open();
      for (const channel of noWords) {
        await refuses(() => shared.publish(channel, "a"));
        await refuses(() => shared.listen(channel, () => undefined));
      }
      for (const notice of ["x".repeat(8_193), "é".repeat(4_097), half]) {
        await refuses(() => shared.publish("changes", notice));
      }
    },
  },
];
