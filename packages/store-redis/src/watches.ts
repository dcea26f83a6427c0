/**
 * Who waits for the outcome of an attempt, and what wakes them; and who wants to hear of an attempt's stop.
 *
 * Called by the store's `watch` and `onStopping`, and with what its channel hears.
 *
 * W1 A watch tells Redis first that this instance wants to hear, in the script that looks whether the attempt stands: an end
 *    before it is seen, an end after it is told.
 * W2 A message that was lost costs at most `LOOK_AGAIN_MS`; a lease that ends is looked at when it ends.
 * W3 While nobody waits there is no timer and nothing is read.
 * W4 A stop is told once, by message or by the look that makes up for a lost one.
 */
import type { StopReason } from "@reprise/runtime";
import type { StoreClock } from "./storeClock.ts";

const LOOK_AGAIN_MS = 1_000;
/** How long Redis remembers the wish; it is said again long before. */
export const WATCHER_KEPT_MS: number = 30_000;

/** How long an attempt that stands has to be left alone; undefined when it no longer stands. */
export type Look = (
  runId: string,
  epoch: number,
) => Promise<{ readonly leaseMs: number | undefined } | undefined>;

interface Watch {
  readonly epoch: number;
  readonly wake: () => void;
}

/** Why an attempt is to end; undefined when it is not. */
export type StopLook = (runId: string, epoch: number) => Promise<StopReason | undefined>;

interface StopListener {
  readonly epoch: number;
  readonly listener: (why: StopReason) => void;
  hasLeft: boolean;
}

/** The watches of one store. */
export class Watches {
  readonly #look: Look;
  readonly #lookForStop: StopLook;
  readonly #clock: StoreClock;
  readonly #watches = new Map<string, Set<Watch>>();
  readonly #stops = new Map<string, Set<StopListener>>();
  #takeBackStopLook: (() => void) | undefined;
  #closed = false;

  constructor(look: Look, lookForStop: StopLook, clock: StoreClock) {
    this.#look = look;
    this.#lookForStop = lookForStop;
    this.#clock = clock;
  }

  /** Resolves as `RunStore.watch` says. */
  watch(runId: string, epoch: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || this.#closed) {
        resolve();
        return;
      }
      let takeBackLook = (): void => {};
      let awake = false;
      const wake = (): void => {
        awake = true;
        takeBackLook();
        takeBackTimeout();
        signal.removeEventListener("abort", wake);
        drop(this.#watches, runId, watch);
        resolve();
      };
      const watch: Watch = { epoch, wake };
      const look = async (): Promise<void> => {
        const delayMs = await this.#delayOf(runId, epoch);
        if (awake) return;
        if (delayMs === undefined) wake();
        else if (delayMs <= 0) void look();
        else takeBackLook = this.#clock.setTimer(delayMs, () => void look());
      };
      const takeBackTimeout = this.#clock.setTimer(timeoutMs, wake);
      signal.addEventListener("abort", wake);
      add(this.#watches, runId, watch);
      void look();
    });
  }

  /** Calls `listener` as `RunStore.onStopping` says. */
  onStopping(runId: string, epoch: number, listener: StopListener["listener"]): () => void {
    const one: StopListener = { epoch, listener, hasLeft: false };
    add(this.#stops, runId, one);
    if (!this.#closed) this.#takeBackStopLook ??= this.#clock.setTimer(LOOK_AGAIN_MS, this.#seek);
    return () => this.#dropStop(runId, one);
  }

  /** An attempt, and so every earlier one, no longer stands. */
  ended(runId: string, epoch: number): void {
    for (const watch of [...(this.#watches.get(runId) ?? [])]) {
      if (watch.epoch <= epoch) watch.wake();
    }
  }

  /** The stop of an attempt is final, or its run was cancelled. */
  stopped(runId: string, epoch: number, why: StopReason): void {
    for (const one of [...(this.#stops.get(runId) ?? [])]) {
      if (one.epoch !== epoch) continue;
      // Who was stopped may yet be cancelled.
      if (why === "cancelled") this.#dropStop(runId, one);
      else if (one.hasLeft) continue;
      else one.hasLeft = true;
      one.listener(why);
    }
  }

  /** Resolves all watches; later ones resolve at once. */
  close(): void {
    this.#closed = true;
    for (const watches of [...this.#watches.values()]) {
      for (const watch of [...watches]) watch.wake();
    }
    this.#stops.clear();
    this.#takeBackStopLook?.();
  }

  /** Looks at every attempt of this process (W2). */
  readonly #seek = (): void => {
    this.#takeBackStopLook = this.#clock.setTimer(LOOK_AGAIN_MS, this.#seek);
    for (const [runId, listeners] of this.#stops) {
      for (const { epoch } of listeners) void this.#seekStop(runId, epoch);
    }
  };

  /** A store that is away tells nothing: the next look does. */
  async #seekStop(runId: string, epoch: number): Promise<void> {
    try {
      const why = await this.#lookForStop(runId, epoch);
      if (why !== undefined) this.stopped(runId, epoch, why);
    } catch {
      return;
    }
  }

  #dropStop(runId: string, one: StopListener): void {
    drop(this.#stops, runId, one);
    if (this.#stops.size > 0) return;
    this.#takeBackStopLook?.();
    this.#takeBackStopLook = undefined;
  }

  /** When to look again; undefined when there is nothing to wait for. A store that is away decides nothing. */
  async #delayOf(runId: string, epoch: number): Promise<number | undefined> {
    const askedAt = this.#clock.monotonicNow();
    try {
      const standing = await this.#look(runId, epoch);
      if (standing === undefined) return undefined;
      if (standing.leaseMs === undefined) return LOOK_AGAIN_MS;
      // The lease went on while the reply was on its way.
      const leftMs = standing.leaseMs - (this.#clock.monotonicNow() - askedAt);
      return Math.min(LOOK_AGAIN_MS, leftMs);
    } catch {
      return LOOK_AGAIN_MS;
    }
  }
}

function add<Member>(map: Map<string, Set<Member>>, runId: string, member: Member): void {
  const members = map.get(runId) ?? new Set();
  map.set(runId, members.add(member));
}

function drop<Member>(map: Map<string, Set<Member>>, runId: string, member: Member): void {
  const members = map.get(runId);
  members?.delete(member);
  if (members?.size === 0) map.delete(runId);
}
