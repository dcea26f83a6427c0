/**
 * When a front looks for jobs that no worker holds, and when it takes them for lost: pure but for the clock and the look.
 *
 * Made by the dispatcher, which tells what is open and hears what is lost.
 *
 * J1 A job is lost when two looks in a row find nobody who has it: its mail may be on the way when the first one does.
 * J2 A lost job is told at most `LOOK_EVERY_MS + 2 * SURE_AFTER_MS` and some round trips after its worker's lock is over, however
 *    long a lease is. With the half second that a front needs to queue a run again that is 2 s of the 5 s that design 7 allows
 *    beyond the lease; the rest is the next worker's.
 * J3 A look that fails says nothing, and the next one comes as if it had not been.
 */
import type { Clock } from "@reprise/runtime";

/** Longest time between two looks at a job. Shorter leases are looked at more often. */
const LOOK_EVERY_MS = 1_000;
/** How long after a job was first missed it is looked at again. */
const SURE_AFTER_MS = 250;

/** What a watch asks and tells. */
export interface WatchedJobs {
  /** Jobs that BullMQ has had for at least `forMs`. */
  open(forMs: number): readonly string[];
  /** Those of them that nobody has. Rejects when nobody can tell. */
  missing(ids: readonly string[]): Promise<readonly string[]>;
  /** Told once for each job that is lost. */
  lost(id: string): void;
  /** A look has failed. */
  failed(error: unknown): void;
}

/** The looks of one front. */
export class JobWatch {
  readonly #clock: Clock;
  readonly #jobs: WatchedJobs;
  readonly #everyMs: number;
  readonly #sureAfterMs: number;
  #cancel: (() => void) | undefined;
  #closed = false;

  /** @param leaseMs how long a worker's lock on a job lasts */
  constructor(clock: Clock, leaseMs: number, jobs: WatchedJobs) {
    this.#clock = clock;
    this.#jobs = jobs;
    this.#everyMs = Math.min(LOOK_EVERY_MS, leaseMs / 4);
    this.#sureAfterMs = Math.min(SURE_AFTER_MS, leaseMs / 16);
  }

  /** Looks from now on. */
  start(): void {
    this.#schedule(this.#everyMs, () => this.#look());
  }

  /** Looks no more. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #schedule(ms: number, work: () => Promise<void>): void {
    if (this.#closed) return;
    this.#cancel = this.#clock.after(ms, () => {
      work().catch((error: unknown) => {
        if (this.#closed) return;
        this.#jobs.failed(error);
        this.start();
      });
    });
  }

  async #look(): Promise<void> {
    const missing = await this.#missingOf(this.#jobs.open(this.#everyMs));
    if (missing.length === 0) return this.start();
    this.#schedule(this.#sureAfterMs, () => this.#makeSure(missing));
  }

  async #makeSure(suspects: readonly string[]): Promise<void> {
    const open = new Set(this.#jobs.open(0));
    const missing = await this.#missingOf(suspects.filter((id) => open.has(id)));
    for (const id of missing) this.#jobs.lost(id);
    this.start();
  }

  async #missingOf(ids: readonly string[]): Promise<readonly string[]> {
    return ids.length === 0 ? [] : await this.#jobs.missing(ids);
  }
}
