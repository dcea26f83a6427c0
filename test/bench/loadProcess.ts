/**
 * The load generator's process: takes jobs from its parent over IPC and answers each with a sample.
 *
 * Started by `processes.ts` on a core of its own, so that its work never takes time from the server measured.
 */
import { cpuMsOfMachine, cpuMsOfTree } from "./cpuTime.ts";
import { type Load, type LoadResult, runLoad } from "./loadClient.ts";

/** A load and the processes of the server, whose CPU time is read at its edges. */
export interface Job extends Load {
  readonly serverPids: readonly number[];
}

/** What one job saw. CPU times are those of the counted time alone. */
export interface Sample extends LoadResult {
  readonly serverCpuMs: number;
  readonly loadCpuMs: number;
  /** Of all other processes of the machine: how disturbed the sample is. */
  readonly otherCpuMs: number;
}

/** The process's answer to a job. */
export type Answer = { readonly sample: Sample } | { readonly error: string };

interface Reading {
  readonly serverMs: number;
  readonly loadMs: number;
  readonly machineMs: number;
}

async function answer(job: Job): Promise<Answer> {
  const readings: Reading[] = [];
  try {
    const result = await runLoad(job, () => readings.push(read(job.serverPids)));
    const [begin, end] = readings;
    if (begin === undefined || end === undefined) throw new Error("a load without edges");
    const serverCpuMs = end.serverMs - begin.serverMs;
    const loadCpuMs = end.loadMs - begin.loadMs;
    const otherCpuMs = end.machineMs - begin.machineMs - serverCpuMs - loadCpuMs;
    return { sample: { ...result, serverCpuMs, loadCpuMs, otherCpuMs } };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function read(serverPids: readonly number[]): Reading {
  return {
    serverMs: serverPids.reduce((sum, pid) => sum + cpuMsOfTree(pid), 0),
    loadMs: cpuMsOfTree(process.pid),
    machineMs: cpuMsOfMachine(),
  };
}

process.on("message", (job: Job) => {
  void answer(job).then((reply) => process.send?.(reply));
});
