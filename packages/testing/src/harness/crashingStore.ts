/**
 * A store port through which a process dies at a chosen step: what was to be written then is lost, or its reply is.
 */
import type { Progress, RunStore } from "@reprise/runtime";

/** Where a process dies. */
export interface Crash {
  /** Name of the step whose function has just ended. */
  readonly step: string;
  /** Before its result is recorded, or after that and before anybody learns of it. */
  readonly when: "before record" | "after record";
}

/** @param dies ends the process and never resolves; called at most once */
export function crashingStore(
  store: RunStore,
  next: () => Crash | undefined,
  dies: () => Promise<never>,
): RunStore {
  const through = async <T>(progress: Progress, write: () => Promise<T>): Promise<T> => {
    const crash = next();
    const isHere = progress.entries.some(
      (entry) =>
        (entry.kind === "step_completed" || entry.kind === "step_failed") &&
        entry.name === crash?.step,
    );
    if (!isHere) return write();
    if (crash?.when === "after record") await write();
    return dies();
  };
  return {
    ...store,
    append: (ref, progress) => through(progress, () => store.append(ref, progress)),
    endRound: (ref, progress, end) => through(progress, () => store.endRound(ref, progress, end)),
  };
}
