/**
 * Who waits for the outcome of an attempt, and what wakes them.
 *
 * Called by the store's `watch`, by its transitions (`changed`) and by its `close`. It only reads: whoever wakes looks
 * again inside a write transaction, so a wake-up never has to be right.
 *
 * W1 A change by this process wakes at once; one by another process, or a lease that is over, within the longest pause.
 * W2 While nobody waits there is no timer and nothing is read.
 * W3 A pause starts short and doubles while no process commits anything. The count of commits decides nothing else:
 *    lmdb shows it from the meta page, which is there before the flush, while read transactions get to see the commit
 *    only after it. Whoever looked in between and remembered the count would miss that commit for good.
 */
import type { RunHead } from "@reprise/runtime";
import type { StoreClock } from "./ports.ts";

const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;

/** What a watch needs to see. */
export interface WatchView {
  /** Changes with every commit of any process; must be cheap. */
  lastCommit(): number;
  readHead(runId: string): RunHead | undefined;
  /** Whether the attempt that the head speaks of is known to be over. */
  isDead(head: RunHead): boolean;
}

interface Watch {
  readonly runId: string;
  readonly epoch: number;
  readonly wake: () => void;
}

/** The watches of one store. */
export class Watches {
  readonly #view: WatchView;
  readonly #clock: StoreClock;
  readonly #watches = new Set<Watch>();
  #pauseMs = SHORTEST_PAUSE_MS;
  #seenCommit = -1;
  #takeBackTick: (() => void) | undefined;
  #closed = false;

  constructor(view: WatchView, clock: StoreClock) {
    this.#view = view;
    this.#clock = clock;
  }

  /** Resolves as `RunStore.watch` says. */
  watch(runId: string, epoch: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isStanding(runId, epoch) || signal.aborted || this.#closed) {
        resolve();
        return;
      }
      const wake = (): void => {
        this.#watches.delete(watch);
        takeBackTimeout();
        signal.removeEventListener("abort", wake);
        if (this.#watches.size === 0) this.#stopTicking();
        resolve();
      };
      const watch: Watch = { runId, epoch, wake };
      const takeBackTimeout = this.#clock.setTimer(timeoutMs, wake);
      signal.addEventListener("abort", wake);
      this.#watches.add(watch);
      this.#pauseMs = SHORTEST_PAUSE_MS;
      this.#takeBackTick ??= this.#clock.setTimer(this.#pauseMs, this.#tick);
    });
  }

  /** This process has written the run. */
  changed(runId: string): void {
    for (const watch of [...this.#watches]) {
      if (watch.runId === runId) this.#look(watch);
    }
  }

  /** Resolves all watches; later ones resolve at once. */
  close(): void {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.wake();
  }

  readonly #tick = (): void => {
    this.#takeBackTick = undefined;
    const commit = this.#lastCommit();
    const hasNews = commit === undefined || commit !== this.#seenCommit;
    this.#seenCommit = commit ?? -1;
    for (const watch of [...this.#watches]) this.#look(watch);
    this.#pauseMs = hasNews ? SHORTEST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    if (this.#watches.size > 0) {
      this.#takeBackTick = this.#clock.setTimer(this.#pauseMs, this.#tick);
    }
  };

  #stopTicking(): void {
    this.#takeBackTick?.();
    this.#takeBackTick = undefined;
  }

  #look(watch: Watch): void {
    if (!this.#isStanding(watch.runId, watch.epoch)) watch.wake();
  }

  /** Whether the attempt stands: live, not stopped, of that epoch. */
  #isStanding(runId: string, epoch: number): boolean {
    const head = this.#readHead(runId);
    if (head?.status !== "running" || head.epoch !== epoch || head.stopping) return false;
    return !this.#view.isDead(head);
  }

  /** A view that can't be read wakes: the caller's next transition tells why. */
  #readHead(runId: string): RunHead | undefined {
    try {
      return this.#view.readHead(runId);
    } catch {
      return undefined;
    }
  }

  #lastCommit(): number | undefined {
    try {
      return this.#view.lastCommit();
    } catch {
      return undefined;
    }
  }
}
