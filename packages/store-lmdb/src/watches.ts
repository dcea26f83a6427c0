/**
 * Who waits for the outcome of an attempt, and what wakes them; and who wants to hear of an attempt's stop.
 *
 * Called by the store's `watch` and `onStopping`, by its transitions (`changed`) and by its `close`. It only reads: whoever
 * wakes looks again inside a write transaction, so a wake-up never has to be right.
 *
 * W1 A change by this process wakes at once; one by another process, or a lease that is over, within the longest pause.
 * W2 While nobody waits there is no timer and nothing is read; stops are looked for seldom, and told once each.
 * W3 A pause starts short and doubles while no process commits anything. The count of commits decides nothing else:
 *    lmdb shows it from the meta page, which is there before the flush, while read transactions get to see the commit
 *    only after it. Whoever looked in between and remembered the count would miss that commit for good.
 */
import { type RunHead, type StopReason, stopOf } from "@reprise/runtime";
import type { StoreClock } from "./ports.ts";

const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;
/** A stop by another process may take a second to be heard, and every running attempt is looked at. */
const STOP_PAUSE_MS = 400;

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

interface StopListener {
  readonly runId: string;
  readonly epoch: number;
  readonly listener: (why: StopReason) => void;
  hasLeft: boolean;
}

/** The watches of one store. */
export class Watches {
  readonly #view: WatchView;
  readonly #clock: StoreClock;
  readonly #watches = new Set<Watch>();
  #pauseMs = SHORTEST_PAUSE_MS;
  #seenCommit = -1;
  #takeBackTick: (() => void) | undefined;
  readonly #stops = new Set<StopListener>();
  #takeBackStopLook: (() => void) | undefined;
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

  /** Calls `listener` as `RunStore.onStopping` says. */
  onStopping(runId: string, epoch: number, listener: StopListener["listener"]): () => void {
    const one: StopListener = { runId, epoch, listener, hasLeft: false };
    this.#stops.add(one);
    if (!this.#closed)
      this.#takeBackStopLook ??= this.#clock.setTimer(STOP_PAUSE_MS, this.#seekStops);
    return () => this.#dropStop(one);
  }

  /** This process has written the run. */
  changed(runId: string): void {
    for (const one of [...this.#stops]) {
      if (one.runId === runId) this.#seekStop(one);
    }
    for (const watch of [...this.#watches]) {
      if (watch.runId === runId) this.#look(watch);
    }
  }

  /** Resolves all watches; later ones resolve at once. */
  close(): void {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.wake();
    for (const one of [...this.#stops]) this.#dropStop(one);
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

  readonly #seekStops = (): void => {
    this.#takeBackStopLook = undefined;
    for (const one of [...this.#stops]) this.#seekStop(one);
    if (this.#stops.size > 0) {
      this.#takeBackStopLook = this.#clock.setTimer(STOP_PAUSE_MS, this.#seekStops);
    }
  };

  #seekStop(one: StopListener): void {
    const head = this.#readHead(one.runId);
    const why = head && stopOf(head, one.epoch);
    if (why === "cancelled") {
      this.#dropStop(one);
      one.listener("cancelled");
    } else if (why === "left" && !one.hasLeft) {
      one.hasLeft = true;
      one.listener("left");
    }
  }

  #dropStop(one: StopListener): void {
    this.#stops.delete(one);
    if (this.#stops.size > 0) return;
    this.#takeBackStopLook?.();
    this.#takeBackStopLook = undefined;
  }

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
