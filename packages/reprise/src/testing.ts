/**
 * `reprise/testing`: what authors and adapters test with.
 */
export type { ManualClock, MemoryStore, StoreCase, StoreHarness } from "@reprise/testing";
export { createManualClock, createMemoryStore, storeSuite } from "@reprise/testing";
