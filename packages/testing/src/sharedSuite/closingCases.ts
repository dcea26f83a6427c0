/**
 * Closing what the records belong to.
 */
import assert from "node:assert/strict";
import { ear, late, roomy, type SharedCase, session, stream } from "./fixtures.ts";

export const closingCases: readonly SharedCase[] = [
  {
    title: "after the close every call fails with STORE_UNAVAILABLE, and other places go on",
    run: async (harness) => {
      const place = await harness.open();
      const other = await harness.open();
      if (place.close === undefined) return;
      const { shared } = place;
      await shared.put(session, 1, undefined, late(harness));
      await place.close();
      const refused = { code: "STORE_UNAVAILABLE" };
      await assert.rejects(shared.get(session), refused);
      await assert.rejects(shared.put(session, 2, undefined, late(harness)), refused);
      await assert.rejects(shared.remove(session, "1"), refused);
      await assert.rejects(shared.append(stream, ["a"], roomy(harness)), refused);
      await assert.rejects(shared.read(stream, 0, 1), refused);
      await assert.rejects(shared.publish("changes", "a"), refused);
      const nothing = (): void => undefined;
      await assert.rejects(shared.listen("changes", nothing), refused);
      assert.equal((await other.shared.get(session))?.value, 1);
      assert.equal(await other.shared.append(stream, ["a"], roomy(harness)), 1);
    },
  },
  {
    title: "the close ends listening: nothing is heard any more, and ending it then is harmless",
    run: async (harness) => {
      const place = await harness.open();
      const other = await harness.open();
      if (place.close === undefined) return;
      const closed = await ear(place.shared, "changes");
      const goesOn = await ear(other.shared, "changes");
      await place.close();
      await other.shared.publish("changes", "a");
      await goesOn.hears(harness, 1);
      assert.deepEqual(closed.heard, []);
      closed.end();
      goesOn.end();
    },
  },
];
