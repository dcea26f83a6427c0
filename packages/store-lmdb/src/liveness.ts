/**
 * Which process holds a lease, and whether it is gone.
 *
 * Called inside transactions and by watches, so it must be quick: one small file read, not repeated within 10 ms.
 *
 * L1 A process is gone when this boot's /proc shows no process under its number, or one that started at another time.
 * L2 Across pid namespaces nothing is known: only the lease's end decides.
 * L3 Whatever an earlier boot held is gone.
 * L4 A holder that can't be read is never gone: only the lease's end decides.
 */
import { readFileSync, readlinkSync } from "node:fs";
import type { JsonValue } from "@reprise/journal";
import { isJsonObject } from "@reprise/journal";
import type { ProcessLiveness } from "./ports.ts";

const RECHECK_MS = 10;

/** The liveness of processes by /proc; undefined on systems without it. */
export function procLiveness(monotonicNow: () => number): ProcessLiveness | undefined {
  const boot = readWord("/proc/sys/kernel/random/boot_id");
  const namespace = readNamespace();
  const started = startOf(process.pid);
  if (boot === undefined || namespace === undefined || started === undefined) return undefined;
  const self = { boot, namespace, pid: process.pid, started };
  const gone = new Set<string>();
  const seenAlive = new Map<string, number>();

  const isGoneNow = (pid: number, start: string): boolean => {
    if (pid === self.pid && start === self.started) return false;
    const id = `${pid}/${start}`;
    if (gone.has(id)) return true;
    const now = monotonicNow();
    if (now - (seenAlive.get(id) ?? Number.NEGATIVE_INFINITY) < RECHECK_MS) return false;
    if (startOf(pid) === start) {
      if (seenAlive.size > 1_000) seenAlive.clear();
      seenAlive.set(id, now);
      return false;
    }
    if (gone.size > 10_000) gone.clear();
    gone.add(id);
    return true;
  };

  return {
    self,
    isGone: (holder: JsonValue) => {
      if (!isJsonObject(holder)) return false;
      const { boot: itsBoot, namespace: itsNamespace, pid, started: itsStart } = holder;
      if (typeof itsBoot !== "string") return false;
      if (itsBoot !== boot) return true;
      if (itsNamespace !== namespace || typeof pid !== "number" || typeof itsStart !== "string") {
        return false;
      }
      return isGoneNow(pid, itsStart);
    },
  };
}

/** For systems without /proc: only the lease's end decides. */
export const unknownLiveness: ProcessLiveness = {
  self: { pid: process.pid },
  isGone: () => false,
};

function readWord(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function readNamespace(): string | undefined {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}

/** Start time of a process in clock ticks of the boot: field 22 of its stat file. Undefined when there is none. */
function startOf(pid: number): string | undefined {
  const stat = readWord(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name stands in parentheses and may hold spaces and parentheses: count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // State is field 3. A zombie executes nothing: its parent may be slow to reap it.
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return fields[19];
}
