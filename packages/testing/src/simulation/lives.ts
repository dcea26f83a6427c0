/**
 * How often a failed run was gone on with before one of its rounds began.
 *
 * Its journal was cut at the failure then, and what ran again may have gone another way: questions that are made of it may
 * differ from those of the life before. Within one life nothing may.
 */
import type { Happening } from "./world.ts";

/** Cuts of the run's journal in rounds before `round`. */
export function livesBefore(log: readonly Happening[], run: string, round: number): number {
  let entries: readonly string[] = [];
  let isCut = false;
  let cuts = 0;
  for (const one of log) {
    if (!("run" in one) || one.run !== run) continue;
    switch (one.is) {
      case "recorded":
        entries = [...entries, ...one.entries.filter((entry) => !entries.includes(entry))];
        break;
      case "claimed":
        isCut ||= entries.some((entry, index) => one.entries[index] !== entry);
        entries = one.entries;
        break;
      case "attempt":
        // The attempt tells the round that the cut was made in: questions of later rounds come after it.
        if (isCut && one.round < round) cuts += 1;
        isCut = false;
        break;
      default:
    }
  }
  return cuts;
}
