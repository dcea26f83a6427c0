/**
 * How many runs ended in the last minutes, as this process counted them: all of them, whatever history keeps.
 *
 * The recorder of history tells it of every event and says its figures with each beat, so that dashboards can add those of all
 * processes up. Without time of its own.
 *
 * T1 A run is counted once, by the process that recorded its end; one that is parked or interrupted has not ended.
 * T2 At most `MOST_MARKS` earlier counts are kept, one for each `mark`.
 */
import type { NewsOf, RunNews } from "./observer.ts";

/** What ended in a span of time. */
export interface EndedLately {
  /** Up to now, in milliseconds: 5 minutes, less in a process that began later, more after a pause. */
  readonly spanMs: number;
  readonly ended: number;
  /** Of those, with an error. */
  readonly failed: number;
  /** Events that history dropped meanwhile: its lists and counts lack what they told of. */
  readonly dropped: number;
}

interface Mark {
  readonly at: number;
  readonly ended: number;
  readonly failed: number;
  readonly dropped: number;
}

const WINDOW_MS = 5 * 60 * 1000;
const MOST_MARKS = 100;

const endings = new Set<string>(["completed", "failed", "cancelled", "undone"]);

/** Counts of one process. */
export class EndedRuns {
  readonly #marks: Mark[] = [];
  #ended = 0;
  #failed = 0;

  /** Counts what is told (T1). */
  note(event: RunNews): void {
    if (event.type !== "attempt_ended" && event.type !== "acted") return;
    // One that is undone now goes on.
    if (event.status === "running") return;
    const ending = event.type === "acted" ? endingOf(event) : event.outcome;
    if (!endings.has(ending ?? "")) return;
    this.#ended += 1;
    if (ending === "failed") this.#failed += 1;
  }

  /**
   * What came since the oldest mark of the last 5 minutes, and a new mark.
   * @param at of a clock that never goes back @param dropped all events that history has dropped
   * @returns undefined at the first mark
   */
  mark(at: number, dropped: number): EndedLately | undefined {
    const marks = this.#marks;
    // One stays: after a pause of the process its figures tell of the whole pause.
    while (marks.length > 1 && at - (marks[0]?.at ?? at) > WINDOW_MS) marks.shift();
    const [oldest] = marks;
    marks.push({ at, ended: this.#ended, failed: this.#failed, dropped });
    if (marks.length > MOST_MARKS) marks.shift();
    if (oldest === undefined || oldest.at >= at) return undefined;
    return {
      spanMs: Math.round(at - oldest.at),
      ended: this.#ended - oldest.ended,
      failed: this.#failed - oldest.failed,
      dropped: dropped - oldest.dropped,
    };
  }
}

/** How a run ended that was ended from outside. */
function endingOf({ action, status }: NewsOf<"acted">): string | undefined {
  return action === "cancelled" || action === "finished" ? status : undefined;
}
