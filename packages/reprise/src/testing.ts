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
  ServedWorld,
  SharedCase,
  SharedHarness,
  SharedPlace,
  SimulateOptions,
  SimulateServerOptions,
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
  simulateServer,
  storeSuite,
} from "@reprise/testing";
