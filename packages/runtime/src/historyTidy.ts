/**
 * Goes through the questions that history lists as open, page by page, for those whose time is over: nobody who comes would tell.
 *
 * Made by `createRuntime` for a process that sweeps and keeps history; the sweep calls it on its beat.
 *
 * Y1 One page at a time, `PAUSE_MS` apart at least, whatever is kept. Of its rows only those whose own deadline has passed are held
 *    against their records (`checkedHistory.ts`).
 * Y2 It delays and fails no run. What can't be read or told now is met again when the list is gone through once more.
 * Y3 Any number of processes may do it: what each finds is the same.
 */
import { mendedRows } from "./checkedHistory.ts";
import type { Clock } from "./clock.ts";
import { type HistoryStore, MAX_HISTORY_PAGE } from "./historyPort.ts";
import type { RunStore } from "./storePort.ts";

const PAUSE_MS = 10_000;

/** One process's place in the list. */
export class HistoryTidy {
  readonly #history: HistoryStore;
  readonly #store: Pick<RunStore, "load">;
  readonly #clock: Clock;
  #cursor: string | undefined;
  /** When a page was looked at last; undefined: never. */
  #lookedAt: number | undefined;
  #isLooking = false;

  /** @param history as it is kept, unchecked */
  constructor(history: HistoryStore, store: Pick<RunStore, "load">, clock: Clock) {
    this.#history = history;
    this.#store = store;
    this.#clock = clock;
  }

  /** Looks at the next page, if it is time and no other look is under way. Never rejects. */
  async look(): Promise<void> {
    const at = this.#clock.monotonic();
    if (this.#isLooking || (this.#lookedAt !== undefined && at - this.#lookedAt < PAUSE_MS)) return;
    this.#isLooking = true;
    this.#lookedAt = at;
    try {
      await this.#page();
    } catch {
      // Y2: whoever records to this history says that it is not well.
    } finally {
      this.#isLooking = false;
    }
  }

  async #page(): Promise<void> {
    const { runs, next } = await this.#history.list({
      status: "waiting",
      limit: MAX_HISTORY_PAGE,
      cursor: this.#cursor,
    });
    this.#cursor = next;
    const now = this.#clock.now();
    const over = runs.filter(({ waiting }) => waiting !== undefined && waiting.until < now);
    await mendedRows(this.#history, this.#store, over, now);
  }
}
