/**
 * CPU time from Linux's /proc: of a process tree and of the whole machine.
 *
 * Time per operation is the figure least touched by what else runs on the machine, so it stands beside every
 * throughput. Ticks are 10 ms; a round of seconds makes that less than a percent. Elsewhere than on Linux all
 * readings are NaN and the report says that they are missing.
 */
import { readdirSync, readFileSync } from "node:fs";

const msPerTick = 10;

/** CPU milliseconds that a process and its descendants have used so far, user and system; of the dead those waited for. */
export function cpuMsOfTree(pid: number): number {
  try {
    let total = cpuMsOf(pid);
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8");
      for (const child of children.split(" "))
        if (child !== "") total += cpuMsOfTree(Number(child));
    }
    return total;
  } catch {
    // No /proc, or the process ended between two reads.
    return Number.NaN;
  }
}

/** CPU milliseconds that all cores have spent on anything so far. */
export function cpuMsOfMachine(): number {
  try {
    const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
    // user nice system idle iowait irq softirq steal
    const ticks = line.split(/\s+/).slice(1, 9).map(Number);
    const [user, nice, system, , , irq, softIrq] = ticks;
    const busy = [user, nice, system, irq, softIrq].map((value) => value ?? Number.NaN);
    return busy.reduce((sum, value) => sum + value, 0) * msPerTick;
  } catch {
    return Number.NaN;
  }
}

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the command in parentheses and may hold spaces; counting begins after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // utime, stime, and both of the children that ended and were waited for, or a database's total would shrink.
  const ticks = fields.slice(11, 15).map(Number);
  return ticks.reduce((sum, value) => sum + value, 0) * msPerTick;
}
