/**
 * Logs: numbers, trimming, expiry.
 */
import assert from "node:assert/strict";
import { contents, late, roomy, type SharedCase, stream, two } from "./fixtures.ts";

export const logCases: readonly SharedCase[] = [
  {
    title: "items are numbered from 1 and read by number, oldest first",
    run: async (harness) => {
      const [one, other] = await two(harness);
      assert.deepEqual(await other.read(stream, 0, 10), { items: [], last: 0 });
      assert.equal(await one.append(stream, ["a"], roomy(harness)), 1);
      assert.equal(await other.append(stream, ["b", "", "d"], roomy(harness)), 4);
      const all = ["a", "b", "", "d"].map((text, index) => ({ number: index + 1, text }));
      assert.deepEqual(await one.read(stream, 0, 10), { items: all, last: 4 });
      assert.deepEqual(await other.read(stream, 2, 10), { items: all.slice(2), last: 4 });
      assert.deepEqual(await other.read(stream, 1, 2), { items: all.slice(1, 3), last: 4 });
      assert.deepEqual(await one.read(stream, 4, 10), { items: [], last: 4 });
      assert.deepEqual(await one.read(stream, 99, 10), { items: [], last: 4 });
    },
  },
  {
    title: "what many append at once gets numbers without a gap, each append's items in a row",
    run: async (harness) => {
      const places = await two(harness);
      const ends = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (places[index % 2] ?? places[0]).append(
            stream,
            ["a", "b", "c"].map((part) => `${index}${part}`),
            roomy(harness),
          ),
        ),
      );
      const { texts, last } = await contents(places[0], stream);
      assert.equal(last, 60);
      for (const [index, end] of ends.entries()) {
        const own = ["a", "b", "c"].map((part) => `${index}${part}`);
        assert.deepEqual(texts.slice(end - 3, end), own);
      }
    },
  },
  {
    title: "only the newest items are kept, and numbers go on",
    run: async (harness) => {
      const [one, other] = await two(harness);
      await one.append(stream, ["a", "b", "c"], roomy(harness, { keep: 2 }));
      assert.deepEqual(await contents(other, stream), { texts: ["b", "c"], last: 3 });
      assert.equal(await other.append(stream, ["d"], roomy(harness, { keep: 2 })), 4);
      assert.deepEqual(await one.read(stream, 1, 9), {
        items: [
          { number: 3, text: "c" },
          { number: 4, text: "d" },
        ],
        last: 4,
      });
      const many = Array.from({ length: 2_500 }, (_, index) => `${index}`);
      assert.equal(await one.append(stream, many, roomy(harness, { keep: 1 })), 2_504);
      assert.deepEqual(await contents(other, stream), { texts: ["2499"], last: 2_504 });
      assert.equal(await one.append(stream, many, roomy(harness, { keep: 2_000 })), 5_004);
      assert.deepEqual((await contents(other, stream)).texts, many.slice(500));
      assert.equal(await one.append(stream, ["z"], roomy(harness, { keep: 5 })), 5_005);
      const texts = ["2496", "2497", "2498", "2499", "z"];
      assert.deepEqual(await contents(other, stream), { texts, last: 5_005 });
    },
  },
  {
    title: "an append extends the life of a log and never shortens it",
    run: async (harness) => {
      const [one, other] = await two(harness);
      await one.append(stream, ["a"], roomy(harness, { expiresAt: harness.now() + 100 }));
      await other.append(stream, ["b"], roomy(harness, { expiresAt: harness.now() + 5_000 }));
      await one.append(stream, ["c"], roomy(harness, { expiresAt: harness.now() + 10 }));
      await one.append(stream, ["d"], roomy(harness, { expiresAt: harness.now() - 10 }));
      await harness.advance(4_999);
      assert.deepEqual(await contents(other, stream), { texts: ["a", "b", "c", "d"], last: 4 });
      await harness.advance(1);
      assert.deepEqual(await contents(other, stream), { texts: [], last: 0 });
    },
  },
  {
    title: "a log that has expired begins anew, with nothing of the old one",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const expiresAt = harness.now() + 1_000;
      await one.append(stream, ["a", "b", "c"], roomy(harness, { expiresAt }));
      await harness.advance(1_000);
      assert.equal(await other.append(stream, ["d"], roomy(harness)), 1);
      assert.deepEqual(await contents(one, stream), { texts: ["d"], last: 1 });
    },
  },
  {
    title: "an append of nothing makes no log, and extends and trims the one that is there",
    run: async (harness) => {
      const [one, other] = await two(harness);
      assert.equal(await one.append(stream, [], roomy(harness)), 0);
      assert.deepEqual(await contents(other, stream), { texts: [], last: 0 });
      const expiresAt = harness.now() + 100;
      await one.append(stream, ["a", "b", "c"], roomy(harness, { expiresAt }));
      assert.equal(await other.append(stream, [], { expiresAt: late(harness), keep: 2 }), 3);
      await harness.advance(101);
      assert.deepEqual(await contents(one, stream), { texts: ["b", "c"], last: 3 });
    },
  },
  {
    title: "items come back as they were, whatever is in them",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const texts = ["\u0000", "\r\n\u2028", "é\u{1f9ff}\ufeff", "x".repeat(100_000), "OK", "1e3"];
      await one.append(stream, texts, roomy(harness));
      assert.deepEqual((await contents(other, stream)).texts, texts);
    },
  },
];
