/**
 * How often one principal may call: a token bucket each, in this process (docs/design.md 7).
 *
 * A caller without auth has no bucket: such servers listen on loopback, or their owner chose `auth: "none"`.
 * Buckets that are full again are forgotten, so a stream of new principals can't fill the memory.
 */
import { RepriseError } from "@reprise/errors";
import type { Clock } from "./clock.ts";

/** A limit per principal. */
export interface RateLimit {
  /** Calls a minute in the long run. */
  readonly perMinute: number;
  /** Calls at once after a pause. */
  readonly burst: number;
}

/** The limit when none is set. */
export const defaultRateLimit: RateLimit = { perMinute: 1200, burst: 200 };

const PRUNE_ABOVE = 10_000;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** The buckets of one process. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  /** @throws RangeError naming the member that is no number above 0 */
  constructor(limit: RateLimit, clock: Clock) {
    for (const member of ["perMinute", "burst"] as const) {
      const value = limit[member];
      if (!Number.isFinite(value) || value < 1) {
        throw new RangeError(`rateLimit.${member} is ${value}; give a number of at least 1`);
      }
    }
    this.#limit = { ...limit };
    this.#clock = clock;
  }

  /** Takes one call from the principal's bucket. @throws RepriseError BUSY when it is empty */
  take(principal: string): void {
    if (principal === "anonymous") return;
    const now = this.#clock.monotonic();
    const { perMinute, burst } = this.#limit;
    const bucket = this.#buckets.get(principal) ?? { tokens: burst, filledAt: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) * perMinute) / 60_000);
    bucket.filledAt = now;
    if (bucket.tokens < 1) {
      const retryAfterMs = Math.ceil(((1 - bucket.tokens) * 60_000) / perMinute);
      throw new RepriseError("BUSY", "you call more often than this server allows", {
        data: { retryAfterMs },
      });
    }
    bucket.tokens -= 1;
    this.#buckets.set(principal, bucket);
    if (this.#buckets.size > PRUNE_ABOVE) this.#prune(now);
  }

  #prune(now: number): void {
    const { perMinute, burst } = this.#limit;
    for (const [principal, bucket] of this.#buckets) {
      const tokens = bucket.tokens + ((now - bucket.filledAt) * perMinute) / 60_000;
      if (tokens >= burst) this.#buckets.delete(principal);
    }
  }
}
