/**
 * Notices: who hears them.
 */
import assert from "node:assert/strict";
import { ear, type SharedCase, two } from "./fixtures.ts";

export const noticeCases: readonly SharedCase[] = [
  {
    title: "a notice is heard once by each who listens, in every process, and on no other channel",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const ears = await Promise.all([
        ear(one, "changes"),
        ear(one, "changes"),
        ear(other, "changes"),
      ]);
      const calls = await Promise.all([ear(one, "calls"), ear(other, "calls")]);
      await one.publish("changes", "a");
      await other.publish("changes", "b");
      for (const each of ears) await each.hears(harness, 2);
      await other.publish("calls", "c");
      for (const each of calls) await each.hears(harness, 1);
      for (const each of ears) assert.deepEqual([...each.heard].sort(), ["a", "b"]);
      for (const each of calls) assert.deepEqual(each.heard, ["c"]);
      for (const each of [...ears, ...calls]) each.end();
    },
  },
  {
    title: "a notice comes through as it was, up to the longest",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const notices = ["", '{"kind":"toolsChanged"}', "é\u0000\r\n \u{1f9ff}", "é".repeat(4_096)];
      const listening = await ear(other, "changes");
      for (const notice of notices) await one.publish("changes", notice);
      await listening.hears(harness, notices.length);
      assert.deepEqual([...listening.heard].sort(), [...notices].sort());
      listening.end();
    },
  },
  {
    title: "who ends listening hears nothing more, may say so twice, and takes nothing from others",
    run: async (harness) => {
      const [one, other] = await two(harness);
      const ends = await ear(one, "changes");
      const goesOn = await ear(one, "changes");
      const elsewhere = await ear(other, "changes");
      ends.end();
      ends.end();
      await other.publish("changes", "a");
      await goesOn.hears(harness, 1);
      await elsewhere.hears(harness, 1);
      goesOn.end();
      elsewhere.end();
      // Nobody listens in between; who begins again hears what comes then.
      const again = await ear(one, "changes");
      await other.publish("changes", "b");
      await again.hears(harness, 1);
      assert.deepEqual([ends.heard, goesOn.heard, again.heard], [[], ["a"], ["b"]]);
      again.end();
    },
  },
  {
    title: "who begins while others end on the same channel hears what comes after",
    run: async (harness) => {
      const [one, other] = await two(harness);
      for (let turn = 0; turn < 8; turn += 1) {
        const before = await ear(one, "changes");
        const beginning = ear(one, "changes");
        before.end();
        const listening = await beginning;
        await other.publish("changes", `${turn}`);
        await listening.hears(harness, 1);
        assert.deepEqual(listening.heard, [`${turn}`]);
        listening.end();
      }
    },
  },
];
