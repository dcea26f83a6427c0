/**
 * `reprise/testing`: what authors and adapters test with.
 */
export type {
  Crash,
  Harness,
  HarnessOptions,
  JournalFit,
  ManualClock,
  MemoryStore,
  PlayedSeed,
  Question,
  Reply,
  SeedViolation,
  SharedCase,
  SharedHarness,
  SharedPlace,
  SimulateOptions,
  SimulationReport,
  StoreCase,
  StoreHarness,
} from "@reprise/testing";
export {
  createManualClock,
  createMemoryStore,
  harness,
  sharedSuite,
  simulate,
  storeSuite,
} from "@reprise/testing";
