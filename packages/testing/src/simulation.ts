/**
 * `@reprise/testing/simulation`: the parts of the simulator, for simulations on other stores and for tests of the checker.
 *
 * What most want is `simulate`, which the package root has as well.
 */
export type { Call, Fault, Reply } from "./simulation/calls.ts";
export type { CaseReport } from "./simulation/case.ts";
export { playCase } from "./simulation/case.ts";
export type { Fleet, FleetOptions, Sending } from "./simulation/fleet.ts";
export { Instance } from "./simulation/instance.ts";
export type { Program } from "./simulation/program.ts";
export type { Draw } from "./simulation/random.ts";
export type {
  PlayedSeed,
  SeedViolation,
  SimulateOptions,
  SimulationReport,
} from "./simulation/simulate.ts";
export { playSeed, simulate } from "./simulation/simulate.ts";
export type { Plant, PlantedIn } from "./simulation/simulatedFleet.ts";
export type { Timing } from "./simulation/timing.ts";
export type { Happening } from "./simulation/world.ts";
export { World } from "./simulation/world.ts";
