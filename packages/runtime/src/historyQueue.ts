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
 * Q4 A repeatable run that goes well within `PASSING_MS` leaves nothing, also where the history of such runs is kept.
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

  /** Takes events of one run in. @returns how many events were let go for want of room, perhaps these among them (Q3) */
  add(runId: string, events: readonly RunNews[]): number {
    const { all } = this.#limits;
    let lost = 0;
    while (this.#size + events.length > all) {
      const letGo = this.#letGo();
      if (letGo === 0) return lost + events.length;
      lost += letGo;
    }
    const due = this.#due.get(runId);
    const ended = this.#well.get(runId);
    if (ended !== undefined) this.#drop(runId, ended);
    const known = [...(due ?? ended ?? []), ...events];
    if (!wentWell(known)) {
      // A run that is here already keeps its place.
      this.#due.set(runId, known);
      this.#size += events.length + (ended?.length ?? 0);
      return lost;
    }
    if (this.#due.delete(runId)) this.#size -= due?.length ?? 0;
    if (mayPass(known, known.at(-1)?.at ?? 0)) return lost;
    if (this.#wellSize + known.length > this.#limits.well) return lost + known.length;
    this.#well.set(runId, known);
    this.#size += known.length;
    this.#wellSize += known.length;
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
    for (const [runId, events] of this.#well) {
      this.#drop(runId, events);
      return events.length;
    }
    return 0;
  }

  #drop(runId: string, { length }: readonly RunNews[]): void {
    this.#well.delete(runId);
    this.#size -= length;
    this.#wellSize -= length;
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
