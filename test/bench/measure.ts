/**
 * Measures cases in interleaved rounds: every case once per round, so that a slow minute hits all alike.
 */

import type { Sample } from "./loadProcess.ts";
import type { OperationSpec } from "./operations.ts";
import type { LoadGenerator, ServerProcess } from "./processes.ts";

/** One thing to measure. */
export interface Case {
  /** Unique in its suite; shown in the report. */
  readonly name: string;
  readonly server: ServerProcess;
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

/** Warms every case up, then runs the rounds. `onProgress` gets one line per round. */
export async function measure(
  cases: readonly Case[],
  load: LoadGenerator,
  timing: Timing,
  onProgress: (line: string) => void,
): Promise<readonly Measured[]> {
  for (const each of cases) {
    onProgress(`warm-up: ${each.name}`);
    await load.run(job(each, timing.warmUpMs, settleMs));
  }
  const samples = cases.map((): Sample[] => []);
  for (let round = 1; round <= timing.rounds; round += 1) {
    onProgress(`round ${round} of ${timing.rounds}`);
    for (const [index, each] of cases.entries()) {
      samples[index]?.push(await load.run(job(each, settleMs, timing.durationMs)));
    }
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
    serverPid: each.server.pid,
  };
}
