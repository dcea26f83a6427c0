/**
 * Finds the questions that nobody answered: those that this process asked and whose run still waits when their deadline has passed.
 *
 * Each was asked by one process, which looks once, at the deadline: an answer that another instance took is seen in the record. What
 * a process that has stopped meanwhile had asked is not counted by anybody.
 *
 * N1 At most `MAX_WATCHED` questions are watched; more are not counted.
 * N2 One look-up at a time, and none on the path of a run.
 */
import type { Clock, RunRecord } from "@reprise/runtime";

/** Where runs are looked up. */
export interface AbandonmentOptions {
  readonly clock: Clock;
  /** A run's record; `RunStore.load`. A rejection leaves its questions uncounted. */
  readonly load: (runId: string) => Promise<Pick<RunRecord, "head"> | undefined>;
}

/** The open questions of one round. */
export interface Watched {
  readonly runId: string;
  /** Of the run while it waits. */
  readonly round: number;
  /** Epoch milliseconds. */
  readonly until: number;
  readonly client: string;
  readonly questions: number;
}

const MAX_WATCHED = 100_000;
const LOOK_EVERY_MS = 30_000;

/** One process's watch. */
export class Abandonments {
  readonly #options: AbandonmentOptions;
  readonly #found: (client: string) => void;
  /** By run: a later round takes the place of an earlier one. */
  readonly #watched = new Map<string, Watched>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** @param found called for each question that was abandoned */
  constructor(options: AbandonmentOptions, found: (client: string) => void) {
    this.#options = options;
    this.#found = found;
  }

  watch(watched: Watched): void {
    const { runId } = watched;
    if (this.#watched.size >= MAX_WATCHED && !this.#watched.has(runId)) return;
    this.#watched.set(runId, watched);
    if (this.#cancel === undefined) this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#watched.clear();
  }

  #schedule(): void {
    if (this.#isClosed || this.#watched.size === 0) return;
    this.#cancel = this.#options.clock.after(LOOK_EVERY_MS, () => {
      void this.#look().then(() => {
        this.#cancel = undefined;
        this.#schedule();
      });
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const now = this.#options.clock.now();
    for (const watched of [...this.#watched.values()]) {
      if (this.#isClosed) return;
      if (watched.until < now) await this.#settle(watched, now);
    }
  }

  async #settle(watched: Watched, now: number): Promise<void> {
    const { runId, round, client, questions } = watched;
    const record = await this.#options.load(runId).catch(() => undefined);
    // Asked again meanwhile, by this process: watched anew.
    if (this.#watched.get(runId) !== watched) return;
    const head = record?.head;
    // What it did may be undone by now, because nobody answered.
    const isUndone = head?.undo?.why === "expired";
    const stillWaits = head !== undefined && head.status === "waiting" && head.round === round;
    // Another request got the same question with a later deadline.
    if (stillWaits && head.stateExpiresAt > now) {
      this.#watched.set(runId, { ...watched, until: head.stateExpiresAt });
      return;
    }
    this.#watched.delete(runId);
    if (stillWaits || isUndone)
      for (let count = 0; count < questions; count += 1) this.#found(client);
  }
}
