/**
 * Reading a run, deciding by the runtime's pure function, writing; and again when the writing found that somebody else
 * went on meanwhile.
 *
 * Called by the claims and by the transitions of attempts.
 *
 * D1 A decision is made on one consistent reading, under the server's time of that reading.
 * D2 A conflict is decided anew, at most `MAX_TRIES` times; then it is STORE_UNAVAILABLE, and nothing was written.
 */
import { RepriseError } from "@reprise/errors";
import type { Lease, Transition, TransitionEnv } from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import { isWord, type Keys } from "./keys.ts";
import { EntriesWanted, type ReadRun, runOf } from "./readRun.ts";
import type { RecordText } from "./recordText.ts";
import { readRun } from "./runScripts.ts";
import { runScript } from "./script.ts";
import type { ServerTime } from "./storeClock.ts";

/** So many conflicts in a row are an overload. */
export const MAX_TRIES: number = 32;

/** A run as of one moment; undefined when there is none. */
export interface Reading {
  readonly run: ReadRun | undefined;
  /** The server's time of the reading. */
  readonly now: number;
}

/** What decisions need to know of the store. */
export interface DecisionFacts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly text: RecordText;
  readonly instance: string;
  readonly leaseMs: number;
  readonly retentionMs: number;
}

/** Decisions of one store. */
export class Decisions {
  readonly #facts: DecisionFacts;

  constructor(facts: DecisionFacts) {
    this.#facts = facts;
  }

  /** @param withEntries whether to read the journal as well */
  async read(runId: string, withEntries: boolean): Promise<Reading> {
    const { client, keys, time, text } = this.#facts;
    if (!isWord(runId)) return { run: undefined, now: time.now() };
    const reply = await runScript(client, readRun, keys.ofRun(runId), {
      clock: time.argument,
      entries: withEntries ? "1" : "",
    });
    return { run: runOf(runId, reply, withEntries, text), now: time.note(reply.now) };
  }

  /** What transition functions see of the store at `now`. @param limit of waiting runs, if the decision's principal has reached it */
  env(now: number, limit?: number): TransitionEnv {
    return new StoreEnv(this.#facts, now, limit);
  }

  /**
   * The reply of a decision that stood.
   *
   * @param withEntries whether the first reading should hold the journal: a decision that turns out to need it costs a reading
   * @param write writes what was decided; false when it no longer held
   */
  async decide<Reply>(
    runId: string,
    withEntries: boolean,
    decide: (run: ReadRun | undefined, env: TransitionEnv) => Transition<Reply>,
    write: (run: ReadRun, decided: Transition<Reply>) => Promise<boolean>,
  ): Promise<Reply> {
    let entries = withEntries;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { run, now } = await this.read(runId, entries);
      const decided = withEntriesIfWanted(() => decide(run, this.env(now)));
      if (decided === undefined) {
        entries = true;
        continue;
      }
      if (decided.write === undefined || run === undefined) return decided.reply;
      if (await write(run, decided)) return decided.reply;
    }
    throw overload(runId);
  }
}

/** A class and no object of functions: one is made for every transition. */
class StoreEnv implements TransitionEnv {
  readonly now: number;
  readonly retentionMs: number;
  readonly holder: string;
  readonly #leaseMs: number;
  readonly #limit: number | undefined;

  constructor(facts: DecisionFacts, now: number, limit: number | undefined) {
    this.now = now;
    this.retentionMs = facts.retentionMs;
    this.holder = facts.instance;
    this.#leaseMs = facts.leaseMs;
    this.#limit = limit;
  }

  newLease(): Lease {
    return { holder: this.holder, until: this.now + this.#leaseMs };
  }

  isLeaseOver(lease: Lease): boolean {
    return lease.until <= this.now;
  }

  /** Of another machine's process nothing can be known but that its lease ends. */
  isGone(): boolean {
    return false;
  }

  waitingLimit(): number | undefined {
    return this.#limit;
  }
}

/** What `decide` decides; undefined when it needs entries that were not read. */
export function withEntriesIfWanted<Value>(decide: () => Value): Value | undefined {
  try {
    return decide();
  } catch (wanted) {
    if (wanted instanceof EntriesWanted) return undefined;
    throw wanted;
  }
}

/** Too many conflicts in a row. */
export function overload(runId: string): RepriseError {
  const message = `run ${runId} changed ${MAX_TRIES} times while one request tried to change it`;
  return new RepriseError("STORE_UNAVAILABLE", message);
}
