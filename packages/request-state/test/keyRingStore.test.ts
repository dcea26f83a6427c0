import { testKeyRingStore } from "../../../test/support/keyRingStoreSuite.ts";
import { createMemoryKeyRing } from "../../../test/support/memoryKeyRing.ts";
import { NOW_MS } from "./support/fixtures.ts";

testKeyRingStore("the double that the ring's rules are tested on", async () => {
  const ring = createMemoryKeyRing(() => NOW_MS);
  return {
    stores: [ring.connect().store, ring.connect().store],
    close: async () => undefined,
  };
});
