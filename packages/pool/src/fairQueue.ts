/**
 * Waiting jobs in lists per caller, taken in turns: who has ten thousand waiting keeps nobody else waiting.
 *
 * F1 The highest priority goes first; among those, callers take turns, and each caller's jobs keep their order.
 * F2 Taking, adding and withdrawing cost the same however many wait.
 */

/** One waiting job. */
export interface Waiting {
  readonly id: string;
  readonly principal: string;
  /** 0 is normal; higher goes first. */
  readonly priority: number;
}

/** The callers of one priority, in the order of their turns, and each one's jobs by id. */
interface Class<Job> {
  readonly priority: number;
  readonly callers: Map<string, Map<string, Job>>;
}

/** The lists of one queue. */
export class FairQueue<Job extends Waiting> {
  /** By priority, highest first: callers in the order of their turns. */
  #classes: readonly Class<Job>[] = [];
  readonly #counts = new Map<string, number>();
  #size = 0;

  /** Jobs that wait. */
  get size(): number {
    return this.#size;
  }

  /** Jobs of one caller that wait. */
  sizeOf(principal: string): number {
    return this.#counts.get(principal) ?? 0;
  }

  add(job: Job): void {
    const { callers } = this.#classOf(job.priority);
    const own = callers.get(job.principal);
    if (own === undefined) callers.set(job.principal, new Map([[job.id, job]]));
    else own.set(job.id, job);
    this.#count(job.principal, 1);
  }

  /** The next job, without taking it. */
  peek(): Job | undefined {
    for (const { callers } of this.#classes) {
      for (const own of callers.values()) {
        for (const job of own.values()) return job;
      }
    }
    return undefined;
  }

  /** Takes the next job; its caller's next turn comes after those of all others. */
  take(): Job | undefined {
    const job = this.peek();
    if (job === undefined) return undefined;
    const { callers } = this.#classOf(job.priority);
    const own = callers.get(job.principal);
    this.withdraw(job);
    if (own !== undefined && own.size > 0) {
      callers.delete(job.principal);
      callers.set(job.principal, own);
    }
    return job;
  }

  /** Takes a job out wherever it stands; false when it does not wait any more. */
  withdraw(job: Job): boolean {
    const { callers } = this.#classOf(job.priority);
    const own = callers.get(job.principal);
    if (own?.delete(job.id) !== true) return false;
    if (own.size === 0) callers.delete(job.principal);
    if (callers.size === 0) {
      this.#classes = this.#classes.filter((one) => one.callers !== callers);
    }
    this.#count(job.principal, -1);
    return true;
  }

  /** Takes all jobs. */
  clear(): readonly Job[] {
    const all: Job[] = [];
    for (let job = this.take(); job !== undefined; job = this.take()) all.push(job);
    return all;
  }

  #classOf(priority: number): Class<Job> {
    const known = this.#classes.find((one) => one.priority === priority);
    if (known !== undefined) return known;
    const made = { priority, callers: new Map<string, Map<string, Job>>() };
    this.#classes = [...this.#classes, made].sort((a, b) => b.priority - a.priority);
    return made;
  }

  #count(principal: string, by: number): void {
    this.#size += by;
    const count = this.sizeOf(principal) + by;
    if (count === 0) this.#counts.delete(principal);
    else this.#counts.set(principal, count);
  }
}
