/**
 * What the legacy lane is told, and what it makes of it. Read once, at construction.
 *
 * `resolveLegacyOptions` throws TypeError or RangeError naming the option; nothing later does.
 */
import { type Duration, durationMs } from "@reprise/runtime";

/** Options of the legacy lane: `legacy` of the front. */
export interface LegacyOptions {
  /**
   * How long a call's stream stays open before the server closes it and lets the client come back with `Last-Event-ID`,
   * on 2025-11-25 only. Default: streams stay open, which takes a connection for each call that waits.
   */
  readonly pollAfterMs?: number;
  /** After how long a client comes back to a stream that the server closed. Default 1000. */
  readonly retryMs?: number;
  /**
   * How long a session lives; after that its client initializes anew. Default `"24h"`. With a key ring it must not be
   * longer than the ring lets a key's last token live.
   */
  readonly sessionLifetime?: Duration;
  /** After how long without a sign of life a front counts as dead and its calls may be taken over. Default 10000. */
  readonly leaseMs?: number;
  /** Streams of calls that one caller may have open on this front, and as many of sessions; more get BUSY. Default 10000. */
  readonly maxStreamsPerCaller?: number;
  /** Questions that one caller may have open on this front; more get TOO_MANY_WAITING_RUNS. Default 10000. */
  readonly maxOpenAsksPerCaller?: number;
}

/** The options with all defaults. */
export interface LegacyConfig {
  /** Undefined: the server closes no stream before its end. */
  readonly pollAfterMs: number | undefined;
  readonly retryMs: number;
  readonly sessionLifetimeMs: number;
  readonly leaseMs: number;
  readonly maxStreamsPerCaller: number;
  readonly maxOpenAsksPerCaller: number;
}

/** Checks the options and fills in the defaults. */
export function resolveLegacyOptions(options: LegacyOptions): LegacyConfig {
  const { pollAfterMs } = options;
  return {
    pollAfterMs: pollAfterMs === undefined ? undefined : whole("pollAfterMs", pollAfterMs, 1),
    retryMs: whole("retryMs", options.retryMs ?? 1_000, 1),
    sessionLifetimeMs: durationMs(options.sessionLifetime ?? "24h", "legacy.sessionLifetime"),
    leaseMs: whole("leaseMs", options.leaseMs ?? 10_000, 100),
    maxStreamsPerCaller: whole("maxStreamsPerCaller", options.maxStreamsPerCaller ?? 10_000, 1),
    maxOpenAsksPerCaller: whole("maxOpenAsksPerCaller", options.maxOpenAsksPerCaller ?? 10_000, 1),
  };
}

const longestTimerMs = 2 ** 31 - 1;

function whole(name: string, value: number, least: number): number {
  if (!Number.isInteger(value) || value < least || value > longestTimerMs) {
    throw new RangeError(
      `legacy.${name} must be a whole number from ${least} to ${longestTimerMs}`,
    );
  }
  return value;
}
