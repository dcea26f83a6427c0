/**
 * What a suite measures: a system of one or more processes, all on the servers' core.
 *
 * Used by measure.ts, which stops the processes of systems that are not loaded, and by the suites, which compose them.
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** A started system. */
export interface System {
  /** What the load is sent to. */
  readonly url: string;
  /** Its processes, without those that these start. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** One system of several; the first gives the URL. They are stopped in this order. */
export function joined(front: System, ...others: readonly Omit<System, "url">[]): System {
  const parts = [front, ...others];
  return {
    url: front.url,
    pids: parts.flatMap(({ pids }) => pids),
    stop: () => stopAll(parts),
  };
}

/** Stops systems one after the other, all of them whatever fails. */
export async function stopAll(systems: readonly Pick<System, "stop">[]): Promise<void> {
  const failures: unknown[] = [];
  for (const system of systems) {
    await system.stop().catch((failure: unknown) => failures.push(failure));
  }
  if (failures.length > 0) throw new AggregateError(failures, "systems could not be stopped");
}

/** Stops a system's processes where they are. */
export function freeze(system: System): void {
  signalTrees(system.pids, "SIGSTOP");
}

/** Lets them go on. */
export function thaw(system: System): void {
  signalTrees(system.pids, "SIGCONT");
}

function signalTrees(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      signalTrees(childrenOf(pid), signal);
    } catch {
      // It ended by itself, as a database's helper processes do.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).flatMap((task) =>
    readFileSync(`${tasks}/${task}/children`, "utf8")
      .split(" ")
      .filter((text) => text !== "")
      .map(Number),
  );
}
