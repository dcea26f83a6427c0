/**
 * Hands what happens to runs to a history store, in the background, and says every few seconds that this process lives.
 *
 * Made by `createRuntime` when it is given a history; an observer like any other (observer.ts).
 *
 * R1 `run` only puts the event into a queue of bounded length (historyQueue.ts). What does not fit is dropped and counted; that is
 *    logged at most once a minute.
 * R2 One call to the store at a time, of at most `BATCH` events every `GATHER_MS`: runs share the store, so history may cost a small,
 *    fixed part of what it can do and no more, whatever happens. What comes faster for longer than the queue can hold is dropped.
 * R3 What the store refuses for now is sent again; what it keeps refusing is dropped, so that one bad batch does not hold up all that
 *    comes after it.
 * R4 Each beat says how many runs ended lately, also of those that are dropped, left out or never had an id (endedRuns.ts).
 * R5 Of repeatable runs nothing is kept unless that is wanted: they touch no store, and history is no reason to.
 * R6 `close` gives what is queued a bounded time and then lets it go. Nothing is told after it.
 */
import { hostname } from "node:os";
import { isRepriseError } from "@reprise/errors";
import { type Clock, pause } from "./clock.ts";
import { EndedRuns } from "./endedRuns.ts";
import type { HistoryStore, InstanceInfo } from "./historyPort.ts";
import { HistoryQueue } from "./historyQueue.ts";
import type { Logger } from "./logger.ts";
import { eventOf, type RunEvent, type RunNews, type RunObserver } from "./observer.ts";
import type { RuntimeOptions } from "./runtimeOptions.ts";

const MAX_QUEUED = 10_000;
const MAX_UNSORTED = 64;
/** With `GATHER_MS` 1,000 events a second: some 160 dialogues with one question. */
const BATCH = 250;
/** A call that writes costs more by itself than by what it writes, and events of one run mostly come together. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
const MAX_TRIES = 10;
const CLOSE_MS = 2_000;
const BEAT_MS = 10_000;
const LOG_PAUSE_MS = 60_000;

/** What a process says of itself. */
interface Process {
  readonly clock: Clock;
  readonly log: Logger;
  readonly instance: string;
  readonly running: { readonly size: number };
  isDraining(): boolean;
}

/** The recorder of a runtime; undefined when it was given no history. */
export function recorderOf(
  { history, repeatableHistory = false, role, dispatcher, server }: RuntimeOptions,
  { clock, log, instance, running, isDraining }: Process,
): HistoryRecorder | undefined {
  if (history === undefined) return undefined;
  const startedAt = clock.now();
  const about = (): InstanceInfo => ({
    // Whoever names an instance may write what is no word.
    instance: instance.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 200),
    role: role ?? (dispatcher === undefined ? "embedded" : "front"),
    version: server.version ?? "",
    host: hostname(),
    pid: process.pid,
    startedAt,
    seenAt: clock.now(),
    running: running.size,
    draining: isDraining(),
  });
  return new HistoryRecorder(history, { clock, log, about, repeatableHistory });
}

/** What a recorder needs. */
export interface RecorderParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is said of this process at each beat. */
  readonly about: () => InstanceInfo;
  /** R5 */
  readonly repeatableHistory: boolean;
}

/** The recorder of one process. */
export class HistoryRecorder implements RunObserver {
  readonly #history: HistoryStore;
  readonly #parts: RecorderParts;
  readonly #ended = new EndedRuns();
  readonly #queue = new HistoryQueue({ all: MAX_QUEUED, well: BATCH });
  /** Newer than what is in the queue. */
  #unsorted: RunNews[] = [];
  /** What left the queue and is not yet kept. */
  #batch: readonly RunEvent[] = [];
  /** The call under way; resolves to whether its batch is done with. */
  #sending: Promise<boolean> | undefined;
  #tries = 0;
  #dropped = 0;
  #droppedUnlogged = 0;
  /** When something was logged last; undefined: never. */
  #loggedAt: number | undefined;
  #closed = false;
  #takeBackBeat: () => void = () => undefined;
  #takeBackFlush: (() => void) | undefined;

  constructor(history: HistoryStore, parts: RecorderParts) {
    this.#history = history;
    this.#parts = parts;
  }

  /** Events that were never kept. */
  get dropped(): number {
    return this.#dropped;
  }

  run(news: RunNews): void {
    if (this.#closed) return;
    if (news.run.effects === "repeatable" && !this.#parts.repeatableHistory) {
      this.#ended.note(news);
      return;
    }
    this.#unsorted.push(news);
    if (this.#unsorted.length >= MAX_UNSORTED) this.#sort();
    if (this.#sending === undefined) this.#flushIn(GATHER_MS);
  }

  /** Many at once: most runs that pass are whole by then and never come into the queue. */
  #sort(): void {
    const unsorted = this.#unsorted;
    if (unsorted.length === 0) return;
    this.#unsorted = [];
    const runs = new Map<string, RunNews[]>();
    for (const news of unsorted) {
      this.#ended.note(news);
      const { runId } = news.run;
      if (runId === undefined) continue;
      const known = runs.get(runId);
      if (known === undefined) runs.set(runId, [news]);
      else known.push(news);
    }
    let lost = 0;
    for (const [runId, events] of runs) lost += this.#queue.add(runId, events);
    if (lost > 0) this.#drop(lost, undefined);
  }

  /** Beats from now on. */
  start(): void {
    void this.#beat();
  }

  /** Sends what is queued for a bounded time. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#takeBackBeat();
    this.#takeBackFlush?.();
    const { clock } = this.#parts;
    const until = clock.monotonic() + CLOSE_MS;
    while (this.#waiting > 0) {
      const left = until - clock.monotonic();
      if (left <= 0) break;
      // The call itself is waited for: a clock's timers alone do not keep a process from ending.
      const isDone = await Promise.race([this.#sent(), pause(clock, left)]);
      if (isDone === false) await pause(clock, 5);
    }
    if (this.#waiting > 0) this.#drop(this.#waiting, undefined);
  }

  #flushIn(ms: number): void {
    if (this.#takeBackFlush !== undefined || this.#closed) return;
    this.#takeBackFlush = this.#parts.clock.after(ms, () => {
      this.#takeBackFlush = undefined;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const isDone = await this.#sent();
    if (this.#waiting > 0) this.#flushIn(isDone ? GATHER_MS : RETRY_MS);
  }

  get #waiting(): number {
    return this.#batch.length + this.#queue.size + this.#unsorted.length;
  }

  /** Sends one batch, or waits for the one that is on its way. Never rejects. */
  #sent(): Promise<boolean> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<boolean> {
    this.#sort();
    if (this.#batch.length === 0) {
      const now = this.#closed ? Number.POSITIVE_INFINITY : this.#parts.clock.now();
      this.#batch = this.#queue.take(BATCH, now).map(eventOf);
    }
    if (this.#batch.length > 0 && !(await this.#record(this.#batch))) return false;
    this.#batch = [];
    this.#tries = 0;
    return true;
  }

  /** Whether the batch is done with: kept, or given up. */
  async #record(batch: readonly RunEvent[]): Promise<boolean> {
    try {
      await this.#history.record(batch);
      return true;
    } catch (error) {
      this.#tries += 1;
      const mayHelp = isRepriseError(error) && error.spec.retryable && this.#tries < MAX_TRIES;
      if (mayHelp) {
        this.#warn(error);
        return false;
      }
      this.#drop(batch.length, error);
      return true;
    }
  }

  #drop(count: number, error: unknown): void {
    this.#dropped += count;
    this.#droppedUnlogged += count;
    this.#warn(error);
  }

  #warn(error: unknown): void {
    const now = this.#parts.clock.monotonic();
    if (this.#loggedAt !== undefined && now - this.#loggedAt < LOG_PAUSE_MS) return;
    this.#loggedAt = now;
    const dropped = this.#droppedUnlogged;
    this.#droppedUnlogged = 0;
    this.#parts.log.warn(
      { event: "history_behind", dropped, ...(error === undefined ? {} : { err: error }) },
      "the history of runs can't be kept for now; runs go on, and operators see less of them",
    );
  }

  async #beat(): Promise<void> {
    const { about, clock } = this.#parts;
    this.#sort();
    const lately = this.#ended.mark(clock.monotonic(), this.#dropped);
    try {
      await this.#history.beat({ ...about(), ...(lately === undefined ? {} : { lately }) });
    } catch (error) {
      if (!this.#closed) this.#warn(error);
    }
    if (this.#closed) return;
    this.#takeBackBeat = clock.after(BEAT_MS, () => {
      void this.#beat();
    });
  }
}
