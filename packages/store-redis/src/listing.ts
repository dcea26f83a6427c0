/**
 * Runs that somebody should look at: abandoned ones, expired ones.
 *
 * Called by the store for sweeps. The due index of each bucket is a hint: it may name a run too early, never too late, and
 * each run that it names is read.
 *
 * L1 A listing begins at another bucket each time, so that a limit does not always leave out the same runs.
 * L2 Redis deletes expired keys by itself, a minute after their run's expiry; removing is for what is left over of them in
 *    the index, and for runs whose expiry has just passed.
 */
import { isOverdue, MISMATCH_GRACE_MS, type RunHead } from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import type { Reading } from "./decisions.ts";
import { BUCKETS, type Keys } from "./keys.ts";
import { removeRun } from "./runScripts.ts";
import { runScript } from "./script.ts";

const PAGE = 100;
/** Buckets that are asked at the same time: enough to hide the way, few enough to let other commands between. */
const TOGETHER = 32;

/** What listings are made of. */
export interface ListingParts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly leaseMs: number;
  /** The server's time. */
  readonly now: () => number;
  readonly read: (runId: string) => Promise<Reading>;
  readonly noLongerWaits: (principal: string, runId: string) => Promise<void>;
}

/** The listings of one store. */
export class Listing {
  readonly #parts: ListingParts;
  #from = 0;

  constructor(parts: ListingParts) {
    this.#parts = parts;
  }

  async findAbandoned(limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    await this.#eachDue(async (runId) => {
      const { run, now } = await this.#parts.read(runId);
      if (run !== undefined && this.#isAbandoned(run.head, now)) found.push(runId);
      return found.length < limit;
    });
    return found.slice(0, limit);
  }

  async removeExpired(limit: number): Promise<number> {
    let removed = 0;
    await this.#eachDue(async (runId) => {
      if (removed >= limit) return false;
      if (await this.#remove(runId)) removed += 1;
      return removed < limit;
    });
    return removed;
  }

  async #remove(runId: string): Promise<boolean> {
    const { client, keys, read, noLongerWaits } = this.#parts;
    const { run, now } = await read(runId);
    if (run !== undefined) {
      const { head } = run;
      if (head.expiresAt >= now) return false;
      // Whoever sets Redis' clock forward must not delete what an attempt is still writing.
      if (head.status === "running" && head.lease !== undefined && head.lease.until > now) {
        return false;
      }
    }
    const revision = run?.revision ?? "";
    const isRemoved = await runScript(client, removeRun, keys.ofRun(runId), { runId, revision });
    if (isRemoved && run?.head.status === "waiting") {
      await noLongerWaits(run.origin.caller.principal, runId);
    }
    return isRemoved;
  }

  /** Runs whose time has come, until `look` says that it is enough. */
  async #eachDue(look: (runId: string) => Promise<boolean>): Promise<void> {
    const start = this.#from;
    this.#from = (start + TOGETHER) % BUCKETS;
    const now = this.#parts.now();
    for (let done = 0; done < BUCKETS; done += TOGETHER) {
      const buckets = Array.from(
        { length: TOGETHER },
        (_, index) => (start + done + index) % BUCKETS,
      );
      const pages = await Promise.all(buckets.map((bucket) => this.#dueOf(bucket, now)));
      for (const runId of pages.flat()) {
        if (!(await look(runId))) return;
      }
    }
  }

  /** All run ids of a bucket that are due, in pages: what is looked at may vanish from the index meanwhile. */
  async #dueOf(bucket: number, now: number): Promise<readonly string[]> {
    const { client, keys } = this.#parts;
    const found: string[] = [];
    for (;;) {
      const page = await client.zrangebyscore(
        keys.due(bucket),
        "-inf",
        now,
        "LIMIT",
        found.length,
        PAGE,
      );
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  #isAbandoned(head: RunHead, now: number): boolean {
    if (head.status === "mismatched") return now - (head.mismatchedAt ?? now) > MISMATCH_GRACE_MS;
    if (head.status !== "running") return isOverdue(head, now);
    if (head.queued === true) return now - head.claimedAt > this.#parts.leaseMs;
    return head.lease === undefined || head.lease.until <= now;
  }
}
