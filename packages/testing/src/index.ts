export type { Crash } from "./harness/crashingStore.ts";
export type { Harness, HarnessOptions } from "./harness/harness.ts";
export { harness } from "./harness/harness.ts";
export type { JournalFit } from "./harness/replayRecord.ts";
export type { Question, Reply } from "./harness/reply.ts";
export { costlyQueries, fillHistory } from "./historySuite/filled.ts";
export type { HistoryCase, HistoryHarness } from "./historySuite/fixtures.ts";
export { historySuite } from "./historySuite.ts";
export type { ManualClock } from "./manualClock.ts";
export { createManualClock } from "./manualClock.ts";
export { createMemoryHistory } from "./memoryHistory.ts";
export type { MemorySnapshot } from "./memoryRecords.ts";
export type { MemoryStore, MemoryStoreOptions, StoreMethod } from "./memoryStore.ts";
export { createMemoryStore } from "./memoryStore.ts";
export type { SharedCase, SharedHarness, SharedPlace } from "./sharedSuite/fixtures.ts";
export { sharedSuite } from "./sharedSuite.ts";
export type {
  PlayedSeed,
  SeedViolation,
  SimulateOptions,
  SimulationReport,
} from "./simulation/simulate.ts";
export { simulate } from "./simulation/simulate.ts";
export type { ServedWorld, SimulateServerOptions } from "./simulation/simulateServer.ts";
export { simulateServer } from "./simulation/simulateServer.ts";
export type { StoreCase, StoreHarness } from "./storeSuite/fixtures.ts";
export { storeSuite } from "./storeSuite.ts";
