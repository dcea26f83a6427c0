/**
 * Records: compare-and-set, revisions, expiry.
 */
import assert from "node:assert/strict";
import type { JsonValue } from "@reprise/journal";
import type { SharedRecords } from "@reprise/runtime";
import {
  LONG_MS,
  late,
  type SharedCase,
  type SharedHarness,
  session,
  standing,
  stream,
  two,
  written,
} from "./fixtures.ts";

const WRITERS = 16;

/** What one writer of a counter does until its write is taken. */
async function countUp(shared: SharedRecords, harness: SharedHarness): Promise<void> {
  for (;;) {
    const { value, revision } = await standing(shared, session);
    const next = Number(value) + 1;
    if ((await shared.put(session, next, revision, late(harness))) !== undefined) return;
  }
}

export const recordCases: readonly SharedCase[] = [
  {
    title:
      "a record is read everywhere as it was written, under the revision that its writer was given",
    run: async (harness) => {
      const [one, other] = await two(harness);
      assert.equal(await one.get(session), undefined);
      const values: readonly JsonValue[] = [
        {
          ended: true,
          subscriptions: ["a://b", "é \u0000 \u{1f9ff}"],
          nothing: null,
          deep: [[{}]],
        },
        "",
        0,
        false,
        null,
        [],
        "x".repeat(200_000),
      ];
      let revision: string | undefined;
      for (const value of values) {
        revision = written(await one.put(session, value, revision, late(harness)));
        assert.deepEqual(await other.get(session), { value, revision });
        assert.deepEqual(await one.get(session), { value, revision });
      }
    },
  },
  {
    title:
      "a write that expects another revision, or none, or any where none stands, writes nothing",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const until = late(harness);
      assert.equal(await one.put(session, 1, "1", until), undefined);
      assert.equal(await one.put(session, 1, "", until), undefined);
      assert.equal(await one.get(session), undefined);
      const first = written(await one.put(session, 1, undefined, until));
      const second = written(await other.put(session, 2, first, until));
      for (const stale of [undefined, first, `${second}0`, ""]) {
        assert.equal(await one.put(session, 3, stale, until), undefined);
      }
      for (const stale of [first, `${second}0`, ""]) {
        assert.equal(await one.remove(session, stale), false);
      }
      assert.deepEqual(await one.get(session), { value: 2, revision: second });
    },
  },
  {
    title: "of many who make the same record at once, one does",
    run: async (harness) => {
      const places = await two(harness);
      const made = await Promise.all(
        Array.from({ length: WRITERS }, (_, index) =>
          (places[index % 2] ?? places[0]).put(session, index, undefined, late(harness)),
        ),
      );
      const winner = made.findIndex((revision) => revision !== undefined);
      assert.equal(made.filter((revision) => revision !== undefined).length, 1);
      const record = await standing(places[1], session);
      assert.deepEqual(record, { value: winner, revision: made[winner] });
    },
  },
  {
    title: "of many who change or remove the revision that they read, one does",
    run: async (harness) => {
      const places = await two(harness);
      const revision = written(await places[0].put(session, "first", undefined, late(harness)));
      const done = await Promise.all(
        Array.from({ length: WRITERS }, async (_, index) => {
          const shared = places[index % 2] ?? places[0];
          return index % 3 === 0
            ? await shared.remove(session, revision)
            : (await shared.put(session, index, revision, late(harness))) !== undefined;
        }),
      );
      assert.equal(done.filter(Boolean).length, 1);
      const winner = done.indexOf(true);
      const record = await places[0].get(session);
      assert.equal(record?.value, winner % 3 === 0 ? undefined : winner);
    },
  },
  {
    title: "no change of writers that race and repeat is lost",
    run: async (harness) => {
      const places = await two(harness);
      written(await places[0].put(session, 0, undefined, late(harness)));
      await Promise.all(
        Array.from({ length: WRITERS }, (_, index) =>
          countUp(places[index % 2] ?? places[0], harness),
        ),
      );
      assert.equal((await standing(places[1], session)).value, WRITERS);
    },
  },
  {
    title: "a revision is never given again, also not after removal and expiry",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const given: string[] = [];
      for (let life = 0; life < 6; life += 1) {
        const until = harness.now() + 1_000;
        const made = written(await one.put(session, "same", undefined, until));
        const changed = written(await other.put(session, "same", made, until));
        given.push(made, changed);
        if (life % 2 === 0) assert.equal(await one.remove(session, changed), true);
        else await harness.advance(1_001);
        assert.equal(await one.get(session), undefined);
        for (const gone of given) {
          assert.equal(await other.put(session, "late", gone, until), undefined);
          assert.equal(await other.remove(session, gone), false);
        }
      }
      assert.equal(new Set(given).size, given.length);
      const stands = written(await other.put(session, "new", undefined, late(harness)));
      for (const gone of given) {
        assert.equal(await one.put(session, "late", gone, late(harness)), undefined);
        assert.equal(await one.remove(session, gone), false);
      }
      assert.deepEqual(await one.get(session), { value: "new", revision: stands });
    },
  },
  {
    title: "a record lives exactly as long as its last write says, longer or shorter",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const first = written(await one.put(session, 1, undefined, harness.now() + 1_000));
      const longer = written(await other.put(session, 2, first, harness.now() + 5_000));
      await harness.advance(4_999);
      assert.deepEqual(await one.get(session), { value: 2, revision: longer });
      written(await one.put(session, 3, longer, harness.now() + 10));
      await harness.advance(9);
      assert.equal((await standing(other, session)).value, 3);
      await harness.advance(1);
      assert.equal(await other.get(session), undefined);
      written(await other.put(session, 4, undefined, late(harness)));
      await harness.advance(LONG_MS - 1);
      assert.equal((await standing(one, session)).value, 4);
    },
  },
  {
    title: "a record that had expired when it was written is not there",
    run: async (harness) => {
      const [one, other] = await two(harness);
      written(await one.put(session, 1, undefined, harness.now()));
      assert.equal(await other.get(session), undefined);
      const made = written(await other.put(session, 2, undefined, late(harness)));
      written(await one.put(session, 3, made, harness.now() - 1));
      assert.equal(await other.get(session), undefined);
      written(await one.put(session, 4, undefined, late(harness)));
      assert.equal((await standing(other, session)).value, 4);
    },
  },
  {
    title: "kinds, ids, records and logs are apart, up to the longest names",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const long = "k".repeat(200);
      const keys = [
        { kind: "a", id: "b" },
        { kind: "b", id: "a" },
        { kind: "a_b", id: "c" },
        { kind: "a", id: "b_c" },
        { kind: "A", id: "b" },
        { kind: long, id: long },
        { kind: long, id: "k".repeat(199) },
      ];
      for (const [index, key] of keys.entries()) {
        written(await one.put(key, index, undefined, late(harness)));
        await other.append(key, [`${index}`], { expiresAt: late(harness), keep: 1 });
      }
      for (const [index, key] of keys.entries()) {
        const { value, revision } = await standing(other, key);
        assert.equal(value, index);
        assert.equal(await one.remove(key, revision), true);
        const { items } = await one.read(key, 0, 9);
        assert.deepEqual(items, [{ number: 1, text: `${index}` }]);
      }
    },
  },
  {
    title: "a place that is opened later finds what was acknowledged before",
    run: async (harness) => {
      const first = await harness.open();
      const revision = written(await first.shared.put(session, "kept", undefined, late(harness)));
      await first.shared.append(stream, ["a", "b"], { expiresAt: late(harness), keep: 1 });
      await first.close?.();
      const { shared } = await harness.open();
      assert.deepEqual(await shared.get(session), { value: "kept", revision });
      assert.deepEqual(await shared.read(stream, 0, 9), {
        items: [{ number: 2, text: "b" }],
        last: 2,
      });
    },
  },
];
