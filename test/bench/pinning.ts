/**
 * Which core a process of the bench runs on: servers on the first, the load generator on the second.
 *
 * A figure is then "per one core of the server", whatever the machine, and the load never takes the server's
 * time. Without `taskset`, or on one core, nothing is pinned and the report says so.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The part that a process plays. */
export type Part = "server" | "load";

const cores: Readonly<Record<Part, number>> = { server: 0, load: 1 };

/** Whether processes are pinned on this machine. */
const isPinned: boolean =
  availableParallelism() >= 2 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0;

/** The command that starts `command` on the core of its part. */
export function pinned(part: Part, command: readonly string[]): readonly string[] {
  return isPinned ? ["taskset", "-c", String(cores[part]), ...command] : command;
}

/** Pins a process that runs already, with its threads; what it starts later is pinned with it. */
export function pinRunning(part: Part, pid: number): void {
  if (!isPinned) return;
  const run = spawnSync("taskset", ["-a", "-c", "-p", String(cores[part]), String(pid)]);
  if (run.status !== 0)
    throw new Error(`process ${pid} could not be pinned: ${String(run.stderr)}`);
}

/** For the report. */
export const pinningText: string = isPinned
  ? `servers on core ${cores.server}, load on core ${cores.load} (taskset)`
  : "not pinned (needs taskset and two cores)";
