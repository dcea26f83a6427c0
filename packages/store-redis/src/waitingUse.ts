/**
 * How many waiting runs a principal has, and how many bytes those hold.
 *
 * Called by the store before it makes a run, and with every run that begins or ends waiting.
 *
 * U1 The numbers are hints beside the runs: another slot, so no transition can hold both. Before anybody is refused the runs
 *    themselves are looked at, and what does not wait any more is struck out.
 * U2 A number far below the limits is believed for a second; several processes may so pass a limit by what they start in it.
 * U3 A hint that can't be written changes no outcome: the run's own transition stands.
 */
import type { Logger } from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import { decodeHead } from "./headText.ts";
import type { Keys } from "./keys.ts";
import type { RecordText } from "./recordText.ts";
import { noteWaiting } from "./runScripts.ts";
import { runScript } from "./script.ts";

const BELIEVED_MS = 1_000;
/** Share of a limit up to which a number is believed. */
const BELIEVED_SHARE = 0.5;
/** Principals whose numbers are remembered. */
const REMEMBERED = 10_000;
/** Name of the sum in the hash. */
const BYTES_FIELD = "#bytes";

/** What a principal may have waiting. */
export interface WaitingLimits {
  readonly maxWaitingRuns: number;
  readonly maxBytesPerCaller: number;
  /** Reads the heads of runs. */
  readonly text: RecordText;
}

interface Use {
  runs: number;
  bytes: number;
  readonly seenAt: number;
  readonly checkedAt: number;
}

/** The numbers of all principals. */
export class WaitingUse {
  readonly #client: RedisClient;
  readonly #keys: Keys;
  readonly #limits: WaitingLimits;
  readonly #log: Logger;
  readonly #monotonicNow: () => number;
  readonly #seen = new Map<string, Use>();

  constructor(
    client: RedisClient,
    keys: Keys,
    limits: WaitingLimits,
    log: Logger,
    monotonicNow: () => number,
  ) {
    this.#client = client;
    this.#keys = keys;
    this.#limits = limits;
    this.#log = log;
    this.#monotonicNow = monotonicNow;
  }

  /** The limit that the principal has reached, as a number of runs; undefined when there is room. */
  async limitOf(principal: string): Promise<number | undefined> {
    const known = this.#seen.get(principal);
    if (known !== undefined && this.#isBelieved(known)) return undefined;
    let use = await this.#count(principal, known?.checkedAt ?? Number.NEGATIVE_INFINITY);
    if (this.#limitReached(use) === undefined) return undefined;
    if (this.#monotonicNow() - use.checkedAt >= BELIEVED_MS) {
      await this.#strikeOut(principal);
      use = await this.#count(principal, this.#monotonicNow());
    }
    return this.#limitReached(use);
  }

  /** A run of the principal waits. Never rejects. */
  async begins(principal: string, runId: string, bytes: number, keptMs: number): Promise<void> {
    const known = this.#seen.get(principal);
    if (known !== undefined) {
      known.runs += 1;
      known.bytes += bytes;
    }
    await this.#note(principal, runId, String(bytes), keptMs);
  }

  /** A run of the principal waits no more. Never rejects. */
  async ends(principal: string, runId: string): Promise<void> {
    await this.#note(principal, runId, "", 0);
  }

  async #note(principal: string, runId: string, bytes: string, keptMs: number): Promise<void> {
    const waiting = this.#keys.waiting(principal);
    try {
      await runScript(this.#client, noteWaiting, { waiting }, { runId, bytes, keptMs });
    } catch (error) {
      this.#log.debug({ err: error, run: runId }, "a waiting run could not be counted");
    }
  }

  async #count(principal: string, checkedAt: number): Promise<Use> {
    const waiting = this.#keys.waiting(principal);
    const [fields, bytes] = await Promise.all([
      this.#client.hlen(waiting),
      this.#client.hget(waiting, BYTES_FIELD),
    ]);
    const use: Use = {
      runs: Math.max(0, fields - 1),
      bytes: Number(bytes ?? 0),
      seenAt: this.#monotonicNow(),
      checkedAt,
    };
    this.#seen.delete(principal);
    this.#seen.set(principal, use);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= REMEMBERED) break;
      this.#seen.delete(oldest);
    }
    return use;
  }

  /** Looks at the runs themselves (U1). */
  async #strikeOut(principal: string): Promise<void> {
    const fields = await this.#client.hkeys(this.#keys.waiting(principal));
    const runIds = fields.filter((field) => field !== BYTES_FIELD);
    for (let from = 0; from < runIds.length; from += 100) {
      await Promise.all(
        runIds.slice(from, from + 100).map(async (runId) => {
          const text = await this.#client.hget(this.#keys.ofRun(runId).run, "head");
          if (text === null || decodeHead(this.#limits.text.open(text)).body.status !== "waiting") {
            await this.ends(principal, runId);
          }
        }),
      );
    }
  }

  #isBelieved(use: Use): boolean {
    const { maxWaitingRuns, maxBytesPerCaller } = this.#limits;
    return (
      this.#monotonicNow() - use.seenAt < BELIEVED_MS &&
      use.runs < maxWaitingRuns * BELIEVED_SHARE &&
      use.bytes < maxBytesPerCaller * BELIEVED_SHARE
    );
  }

  #limitReached({ runs, bytes }: Use): number | undefined {
    const { maxWaitingRuns, maxBytesPerCaller } = this.#limits;
    if (runs >= maxWaitingRuns) return maxWaitingRuns;
    return bytes >= maxBytesPerCaller ? runs : undefined;
  }
}
