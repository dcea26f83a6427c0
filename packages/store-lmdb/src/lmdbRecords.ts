/**
 * Shared records on lmdb: one write transaction for each call that writes, of the same environment as runs.
 *
 * Called through the port; the store makes and ends it. Their keys stand beside those of runs in one database: opening another
 * in a file that processes are writing is what gate.ts keeps from happening, and room is counted once.
 *
 * S1 Writes by E1 of the environment. Reads use the read view, which shows a commit only after its flush (W3 of watches.ts).
 * S2 Compared inside the transaction. S3, S4, S6 by `sharedTable.ts` and the wall clock: what expires was dated by one.
 * S5 by `noticeBoard.ts`.
 */
import {
  checkAppended,
  checkExpiry,
  checkNotice,
  checkPart,
  type SharedRecords,
  sharedName,
  sharedText,
} from "@reprise/runtime";
import type { Capacity } from "./capacity.ts";
import type { Environment } from "./environment.ts";
import { NoticeBoard, Notices } from "./noticeBoard.ts";
import type { StoreClock } from "./ports.ts";
import { SharedTable } from "./sharedTable.ts";

/** What they are made of. */
export interface RecordParts {
  readonly environment: Environment;
  readonly capacity: Capacity;
  readonly clock: StoreClock;
  /** Runs a call that the store's `close` waits for; refuses it once the store is closed. */
  readonly tracked: <Value>(call: () => Promise<Value>) => Promise<Value>;
}

/** The shared records of one store. */
export class LmdbRecords implements SharedRecords {
  readonly #parts: RecordParts;
  readonly #table: SharedTable;
  readonly #board: NoticeBoard;
  readonly #notices: Notices;

  constructor(parts: RecordParts) {
    const { environment, clock } = parts;
    const { database } = environment;
    this.#parts = parts;
    this.#table = new SharedTable(database);
    this.#board = new NoticeBoard(database);
    this.#notices = new Notices(this.#board, () => database.resetReadTxn(), clock);
    noticesOf(environment).add(this.#notices);
  }

  get: SharedRecords["get"] = (key) =>
    this.#look((now) => {
      sharedName(key);
      return this.#table.get(key, now);
    });

  put: SharedRecords["put"] = async (key, value, expected, expiresAt) => {
    sharedName(key);
    const text = sharedText(value);
    const until = checkExpiry(expiresAt);
    return this.#write((now) => {
      const stands = this.#table.get(key, now);
      if (stands?.revision !== expected) return undefined;
      this.#parts.capacity.check(stands === undefined);
      return this.#table.put(key, text, until);
    });
  };

  remove: SharedRecords["remove"] = async (key, expected) => {
    sharedName(key);
    return this.#write((now) => {
      if (this.#table.get(key, now)?.revision !== expected) return false;
      this.#table.remove(key);
      return true;
    });
  };

  append: SharedRecords["append"] = async (log, items, limits) => {
    sharedName(log);
    checkAppended(items, limits);
    const whole = { keep: limits.keep, expiresAt: checkExpiry(limits.expiresAt) };
    return this.#write((now) => {
      this.#parts.capacity.check(!this.#table.hasLog(log, now));
      return this.#table.append(log, items, whole, now);
    });
  };

  read: SharedRecords["read"] = (log, after, limit) =>
    this.#look((now) => {
      sharedName(log);
      checkPart(after, limit);
      return this.#table.read(log, after, limit, now);
    });

  publish: SharedRecords["publish"] = async (channel, notice) => {
    checkNotice(channel, notice);
    await this.#write((now) => {
      this.#parts.capacity.check(false);
      this.#board.post(channel, notice, now);
    });
    for (const notices of noticesOf(this.#parts.environment)) notices.posted();
  };

  listen: SharedRecords["listen"] = (channel, listener) =>
    this.#look(() => {
      checkNotice(channel);
      return this.#notices.listen(channel, listener);
    });

  /** Deletes what has expired, at most `limit` records and items in one transaction; none when there is nothing. */
  async removeExpired(limit: number): Promise<void> {
    if (!(await this.#look((now) => this.#table.hasExpired(now)))) return;
    await this.#write((now) => this.#table.removeExpired(now, limit));
  }

  /** Ends all listening. Idempotent. */
  close(): void {
    this.#notices.close();
    noticesOf(this.#parts.environment).delete(this.#notices);
  }

  #write<Value>(decide: (now: number) => Value): Promise<Value> {
    const { environment, clock, tracked } = this.#parts;
    return tracked(() => environment.transact(() => decide(clock.wallNow())));
  }

  /** On the newest commit that this process can see. */
  #look<Value>(read: (now: number) => Value): Promise<Value> {
    const { environment, clock, tracked } = this.#parts;
    return tracked(async () => {
      try {
        environment.database.resetReadTxn();
        return read(clock.wallNow());
      } catch (failure) {
        if (failure instanceof RangeError) throw failure;
        throw await environment.errorOf(failure);
      }
    });
  }
}

/** The listening of all stores of this process on one database: what one posts the others hear at once. */
const noticesByEnvironment = new WeakMap<Environment, Set<Notices>>();

function noticesOf(environment: Environment): Set<Notices> {
  const known = noticesByEnvironment.get(environment);
  if (known !== undefined) return known;
  const made = new Set<Notices>();
  noticesByEnvironment.set(environment, made);
  return made;
}
