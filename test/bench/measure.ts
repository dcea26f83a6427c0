/**
 * Measures cases in interleaved rounds: every case once per round, so that a slow minute hits all alike.
 */

import type { Sample } from "./loadProcess.ts";
import type { OperationSpec } from "./operations.ts";
import type { LoadGenerator } from "./processes.ts";
import { freeze, type System, thaw } from "./systems.ts";

/** One thing to measure. */
export interface Case {
  /** Unique in its suite; shown in the report. */
  readonly name: string;
  readonly server: System;
  readonly url: string;
  readonly operation: OperationSpec;
  readonly concurrency: number;
}

/** How long and how often. */
export interface Timing {
  readonly rounds: number;
  readonly durationMs: number;
  /** Once per case, before the first round: until the JIT compilers have settled. */
  readonly warmUpMs: number;
}

/** Before each counted time: connections are new and queues must fill. */
const settleMs = 250;

/** The samples of a case, one per round. */
export interface Measured {
  readonly name: string;
  readonly concurrency: number;
  readonly samples: readonly Sample[];
}

/** How a suite wants its rounds. */
export interface MeasureOptions {
  /** Stop the processes of every system but the one that is loaded: idle ones of others take a seventh of the core. */
  readonly freezeIdle?: boolean;
}

/** Warms every case up, then runs the rounds. `onProgress` gets one line per round. */
export async function measure(
  cases: readonly Case[],
  load: LoadGenerator,
  timing: Timing,
  onProgress: (line: string) => void,
  { freezeIdle = false }: MeasureOptions = {},
): Promise<readonly Measured[]> {
  const systems = new Set(cases.map(({ server }) => server));
  const run = async (each: Case, warmUpMs: number, durationMs: number): Promise<Sample> => {
    if (freezeIdle) for (const system of systems) if (system !== each.server) freeze(system);
    thaw(each.server);
    try {
      return await load.run(job(each, warmUpMs, durationMs));
    } catch (cause) {
      throw new Error(`case "${each.name}" failed`, { cause });
    }
  };
  const samples = cases.map((): Sample[] => []);
  try {
    for (const each of cases) {
      onProgress(`warm-up: ${each.name}`);
      await run(each, timing.warmUpMs, settleMs);
    }
    for (let round = 1; round <= timing.rounds; round += 1) {
      onProgress(`round ${round} of ${timing.rounds}`);
      for (const [index, each] of cases.entries()) {
        samples[index]?.push(await run(each, settleMs, timing.durationMs));
      }
    }
  } finally {
    for (const system of systems) thaw(system);
  }
  return cases.map(({ name, concurrency }, index) => ({
    name,
    concurrency,
    samples: samples[index] ?? [],
  }));
}

function job(
  each: Case,
  warmUpMs: number,
  durationMs: number,
): Parameters<LoadGenerator["run"]>[0] {
  return {
    url: each.url,
    operation: each.operation,
    concurrency: each.concurrency,
    warmUpMs,
    durationMs,
    serverPids: each.server.pids,
  };
}
