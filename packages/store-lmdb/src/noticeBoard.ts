/**
 * Notices between the processes of a directory: a short board in the database, and who looks at it.
 *
 * Called by `lmdbRecords.ts`. `NoticeBoard` is what is kept, `Notices` one store's listening.
 *
 * B1 Numbers on the board grow by one, of whichever process. The newest notice stays, because the next number comes from it.
 * B2 Others go once they are `KEPT_MS` old or `MOST` newer ones are there: who looked at nothing for so long misses them (S5).
 * B3 This process's own notices are heard at once; those of others by looking, every `PAUSE_MS`.
 * B4 While nobody listens there is no timer and nothing is read.
 * B5 Each look reads. The count of commits can't stand in for it: lmdb shows it before the commit is to be seen (W3 of watches.ts).
 */
import { NoticeListeners } from "@reprise/runtime";
import type { TextDatabase } from "./environment.ts";
import { noticeKey, noticeRange, numberOfNotice } from "./keys.ts";
import type { StoreClock } from "./ports.ts";

/** The port says 50 ms; each look wakes an idle process. */
const PAUSE_MS = 40;
const KEPT_MS = 10_000;
const MOST = 1_000;
/** More than come with one notice, so that the board shrinks. */
const DROPPED_AT_ONCE = 8;

/** A notice on the board. */
interface Posted {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly channel: string;
  readonly notice: string;
}

/** The board of one database. */
export class NoticeBoard {
  readonly #database: TextDatabase;

  constructor(database: TextDatabase) {
    this.#database = database;
  }

  /** Posts, and drops what is old. Inside a write transaction. */
  post(channel: string, notice: string, now: number): void {
    const number = this.newest() + 1;
    const posted: Posted = { at: now, channel, notice };
    const oldest = this.#database.getRange({ ...noticeRange(0), limit: DROPPED_AT_ONCE });
    for (const { key, value } of [...oldest]) {
      const isOld = (JSON.parse(value) as Posted).at < now - KEPT_MS;
      if (isOld || numberOfNotice(key) <= number - MOST) void this.#database.remove(key);
    }
    void this.#database.put(noticeKey(number), JSON.stringify(posted));
  }

  /** Number of the newest notice; 0: there never was one. */
  newest(): number {
    const { start, end } = noticeRange(0);
    for (const key of this.#database.getKeys({ start: end, end: start, reverse: true, limit: 1 })) {
      return numberOfNotice(key);
    }
    return 0;
  }

  /** What was posted after a number, oldest first. */
  after(number: number): readonly Posted[] {
    const posted: Posted[] = [];
    for (const { value } of this.#database.getRange(noticeRange(number + 1))) {
      posted.push(JSON.parse(value) as Posted);
    }
    return posted;
  }
}

/** The listening of one store. */
export class Notices {
  readonly #board: NoticeBoard;
  /** Makes the newest commit visible. */
  readonly #refresh: () => void;
  readonly #clock: StoreClock;
  readonly #listeners = new NoticeListeners();
  #seen = 0;
  #takeBackTick: (() => void) | undefined;

  constructor(board: NoticeBoard, refresh: () => void, clock: StoreClock) {
    this.#board = board;
    this.#refresh = refresh;
    this.#clock = clock;
  }

  /** As `SharedRecords.listen`, for a channel that was checked. Throws what the database throws. */
  listen(channel: string, listener: (notice: string) => void): () => void {
    this.#refresh();
    if (this.#listeners.isEmpty) this.#seen = this.#board.newest();
    // What was posted before is for those who listened then.
    else this.#tellNews();
    const end = this.#listeners.add(channel, listener);
    this.#takeBackTick ??= this.#clock.setTimer(PAUSE_MS, this.#tick);
    return () => {
      end();
      if (this.#listeners.isEmpty) this.#stop();
    };
  }

  /** This process has posted. */
  posted(): void {
    if (!this.#listeners.isEmpty) this.#look();
  }

  /** Nobody hears anything more. */
  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  readonly #tick = (): void => {
    this.#takeBackTick = undefined;
    this.#look();
    if (this.#listeners.isEmpty) return;
    this.#takeBackTick ??= this.#clock.setTimer(PAUSE_MS, this.#tick);
  };

  /** A board that can't be read now is looked at again: a notice is a hint. */
  #look(): void {
    try {
      this.#refresh();
      this.#tellNews();
    } catch {
      return;
    }
  }

  /** Listeners don't throw here (L3 of NoticeListeners), and may listen, which tells of later news only. */
  #tellNews(): void {
    const newest = this.#board.newest();
    if (newest <= this.#seen) return;
    const posted = this.#board.after(this.#seen);
    this.#seen = newest;
    for (const { channel, notice } of posted) this.#listeners.tell(channel, notice);
  }

  #stop(): void {
    this.#takeBackTick?.();
    this.#takeBackTick = undefined;
  }
}
