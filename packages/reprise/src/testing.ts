/**
 * `reprise/testing`: what authors and adapters test with.
 */
export type {
  ManualClock,
  MemoryStore,
  SharedCase,
  SharedHarness,
  SharedPlace,
  StoreCase,
  StoreHarness,
} from "@reprise/testing";
export { createManualClock, createMemoryStore, sharedSuite, storeSuite } from "@reprise/testing";
