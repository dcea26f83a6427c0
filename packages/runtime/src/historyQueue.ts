/**
 * What waits to be handed to the history store: events by run, bounded.
 *
 * Called by the recorder only. Knows no store, and no time but what it is told and what events say.
 *
 * Q1 A run's events leave in their order, with everything that is here of the run; more than a whole batch leaves in parts.
 * Q2 What somebody may wait for leaves first: runs with an open question, a failure or a doubt. Then those that went well.
 * Q3 Of runs that went well and of which nothing has left yet only so many are kept as leave soon. Beyond that they are let go as a
 *    whole, and so is one for each new event when the queue is full, so that nothing half-told stays in the lists. Only where there
 *    is none does a new event itself not fit.
 * Q4 A repeatable run that goes well within `PASSING_MS` leaves nothing: it touches no store, and history is no reason to.
 */
import type { RunNews } from "./observer.ts";

/** Nobody sees a question that is answered sooner. */
const PASSING_MS = 1_000;

/** How many events are kept. */
export interface QueueLimits {
  readonly all: number;
  /** Of runs that went well. */
  readonly well: number;
}

/** Events of runs with an id. */
export class HistoryQueue {
  readonly #limits: QueueLimits;
  /** What must be told: otherwise lists say what is no longer so, or not what is. */
  readonly #due = new Map<string, RunNews[]>();
  /** Whole runs that went well. */
  readonly #well = new Map<string, RunNews[]>();
  #size = 0;
  #wellSize = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Events that wait. */
  get size(): number {
    return this.#size;
  }

  /** Takes an event in. @returns how many events were let go for want of room, perhaps this one among them (Q3) */
  add(runId: string, event: RunNews): number {
    const { all, well } = this.#limits;
    const lost = this.#size < all ? 0 : this.#letGo();
    if (this.#size >= all) return lost + 1;
    this.#size += 1;
    const known = this.#due.get(runId);
    if (known !== undefined) {
      known.push(event);
      if (!wentWell(known)) return lost;
      this.#due.delete(runId);
      const isPassing = mayPass(known, event.at);
      if (isPassing || this.#wellSize + known.length > well) {
        this.#size -= known.length;
        return isPassing ? lost : lost + known.length;
      }
      this.#well.set(runId, known);
      this.#wellSize += known.length;
      return lost;
    }
    const ended = this.#well.get(runId);
    if (ended !== undefined) {
      this.#well.delete(runId);
      this.#wellSize -= ended.length;
    }
    this.#due.set(runId, ended === undefined ? [event] : [...ended, event]);
    return lost;
  }

  /**
   * What leaves next: whole runs, as many as fit into `limit` events (Q1, Q2). Empty when nothing waits, or only what may yet pass.
   * @param now in epoch milliseconds; Infinity: everything leaves
   */
  take(limit: number, now: number): readonly RunNews[] {
    const taken: RunNews[] = [];
    for (const runs of [this.#due, this.#well]) {
      for (const [runId, events] of runs) {
        if (mayPass(events, now)) continue;
        const fits = taken.length + events.length <= limit;
        if (!fits && taken.length > 0) break;
        runs.delete(runId);
        if (runs === this.#well) this.#wellSize -= events.length;
        taken.push(...events.splice(0, limit));
        if (events.length > 0) this.#due.set(runId, events);
      }
    }
    this.#size -= taken.length;
    return taken;
  }

  /** Lets the oldest run go that went well. @returns how many events it had; 0: there is none */
  #letGo(): number {
    for (const [runId, { length }] of this.#well) {
      this.#well.delete(runId);
      this.#size -= length;
      this.#wellSize -= length;
      return length;
    }
    return 0;
  }
}

/** Whether these are all the events of a repeatable run so far, and it is younger at `at` than what counts. */
function mayPass([first]: readonly RunNews[], at: number): boolean {
  if (first?.type !== "attempt_started" || first.cause !== "call") return false;
  return first.run.effects === "repeatable" && at - first.at < PASSING_MS;
}

/** Whether these are all the events of a run, and nobody has to look at it. */
function wentWell(events: readonly RunNews[]): boolean {
  const last = events.at(-1);
  if (last?.type !== "attempt_ended" || last.outcome !== "completed") return false;
  const [first] = events;
  if (first?.type !== "attempt_started" || first.cause !== "call") return false;
  return !events.some((event) => event.type === "step_ended" && event.outcome !== "completed");
}
