/**
 * Plays seeds: each a random handler, a client and a fleet in trouble, judged by `checker.ts` and the client.
 *
 * Called by tests and by `npm run simulate`. A seed says everything: the same seed gives the same program, the same conversation
 * and the same order of events, on every machine.
 */
import { type CaseReport, playCase, type StoryError } from "./case.ts";
import type { FleetOptions } from "./fleet.ts";
import { type Plant, SimulatedFleet } from "./simulatedFleet.ts";
import type { Happening } from "./world.ts";

/** What to play. */
export interface SimulateOptions {
  /** How many seeds. */
  readonly seeds: number;
  /** The first; the others follow it. 0 to 2^31 - 1. Default 1. */
  readonly firstSeed?: number;
  /** Something wrong on purpose, in every process; for tests of the checker. */
  readonly plant?: Plant;
  /** Violations after which no further seed is played. Default: all are played. */
  readonly stopAfter?: number;
  /** Called after each seed. */
  readonly onSeed?: (seed: number, played: PlayedSeed) => void;
}

/** How one seed ended. */
export type PlayedSeed =
  | {
      readonly kind: "kept";
      readonly report: CaseReport;
      /** How many events there were. */
      readonly events: number;
      readonly log: readonly Happening[];
    }
  | { readonly kind: "violated"; readonly violation: SeedViolation };

/** A seed that shows a broken promise. */
export interface SeedViolation {
  readonly seed: number;
  /** The promise. */
  readonly message: string;
  /** Program, conversation and everything that happened, for a person. */
  readonly story: string;
}

/** The sums of all seeds. */
export interface SimulationReport {
  readonly seeds: number;
  readonly violations: readonly SeedViolation[];
  readonly events: number;
  readonly reports: readonly CaseReport[];
}

/** Plays seeds one after the other. Never rejects for a violation. */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  const { seeds, firstSeed = 1, plant, stopAfter = Number.POSITIVE_INFINITY, onSeed } = options;
  if (!Number.isSafeInteger(seeds) || seeds < 1) {
    throw new RangeError(`seeds must be a whole number of 1 or more, not ${seeds}`);
  }
  const violations: SeedViolation[] = [];
  const reports: CaseReport[] = [];
  let events = 0;
  let count = 0;
  while (count < seeds && violations.length < stopAfter) {
    const seed = (firstSeed + count) % 2 ** 31;
    count += 1;
    const played = await playSeed(seed, plant);
    if (played.kind === "violated") violations.push(played.violation);
    else {
      reports.push(played.report);
      events += played.events;
    }
    onSeed?.(seed, played);
  }
  return { seeds: count, violations, events, reports };
}

/** Plays one seed. */
export async function playSeed(seed: number, plant?: Plant): Promise<PlayedSeed> {
  let fleet: SimulatedFleet | undefined;
  try {
    const open = (given: FleetOptions): SimulatedFleet => {
      fleet = new SimulatedFleet(given, plant);
      return fleet;
    };
    const report = await playCase(seed, open, true);
    return { kind: "kept", report, events: fleet?.events ?? 0, log: fleet?.world.log ?? [] };
  } catch (error) {
    const { message, why } = error as StoryError;
    return { kind: "violated", violation: { seed, message: why ?? message, story: message } };
  }
}
