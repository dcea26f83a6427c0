export type { ManualClock } from "./manualClock.ts";
export { createManualClock } from "./manualClock.ts";
export type { MemorySnapshot } from "./memoryRecords.ts";
export type { MemoryStore, MemoryStoreOptions, StoreMethod } from "./memoryStore.ts";
export { createMemoryStore } from "./memoryStore.ts";
export type { SharedCase, SharedHarness, SharedPlace } from "./sharedSuite/fixtures.ts";
export { sharedSuite } from "./sharedSuite.ts";
export type { StoreCase, StoreHarness } from "./storeSuite/fixtures.ts";
export { storeSuite } from "./storeSuite.ts";
