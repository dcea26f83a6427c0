/**
 * What this process knows of the attempts that it owns: the head and revision it wrote last.
 *
 * Called by the store, so that progress, renewals and ends cost one script and no read.
 *
 * A1 It is a guess that Redis checks: a revision that is not the newest one changes nothing there.
 * A2 A write that fails or conflicts drops what is known; the next one reads.
 */
import type { AttemptRef } from "@reprise/runtime";
import type { WrittenOn } from "./runWriter.ts";

/** An attempt that outlives this many others is read again. */
const REMEMBERED = 20_000;

/** A run as its owner wrote it last. */
export interface OwnedRun extends WrittenOn {
  readonly principal: string;
  readonly originBytes: number;
}

/** The attempts of one store. */
export class Attempts {
  readonly #owned = new Map<string, OwnedRun>();

  find(ref: AttemptRef): OwnedRun | undefined {
    const owned = this.#owned.get(ref.runId);
    if (owned?.head.epoch !== ref.epoch || owned.head.token !== ref.token) return undefined;
    return owned;
  }

  keep(owned: OwnedRun): void {
    this.#owned.delete(owned.runId);
    this.#owned.set(owned.runId, owned);
    for (const oldest of this.#owned.keys()) {
      if (this.#owned.size <= REMEMBERED) break;
      this.#owned.delete(oldest);
    }
  }

  drop(runId: string): void {
    this.#owned.delete(runId);
  }
}
