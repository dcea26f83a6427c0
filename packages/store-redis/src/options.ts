/**
 * The options of the Redis store, checked once.
 */
import type { Secrets } from "@reprise/request-state";
import { DEFAULT_RETENTION_MS, type Logger, silentLogger } from "@reprise/runtime";
import type { RedisConnection } from "./connection.ts";
import { type RecordText, recordTextOf } from "./recordText.ts";
import { type StoreClock, systemClock } from "./storeClock.ts";

/** How a Redis store is opened. */
export interface RedisStoreOptions {
  /** Stays open when the store is closed. */
  readonly connection: RedisConnection;
  /** Keeps deployments on one Redis apart; A-Z a-z 0-9 _ . - only. Default `reprise`. */
  readonly namespace?: string;
  /** Milliseconds. Default 10,000. The same in all processes of a namespace. */
  readonly leaseMs?: number;
  /** How long ended runs are kept after their newest change or state expiry. Default 24 h. */
  readonly retentionMs?: number;
  /** Waiting runs that one principal may have. Default 1,000. */
  readonly maxWaitingRuns?: number;
  /** Bytes that the waiting runs of one principal may hold. Default 64 MiB. */
  readonly maxBytesPerCaller?: number;
  /**
   * Wraps what records hold: arguments, answers, steps, results, shared records and logs. The first secret wraps, all unwrap; at least 32 bytes each.
   * Default: records stand in Redis as readable JSON.
   */
  readonly recordEncryptionKey?: Secrets | undefined;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /** For tests: time. */
  readonly clock?: StoreClock;
}

/** The options with defaults. */
export interface CheckedStoreOptions
  extends Required<Omit<RedisStoreOptions, "recordEncryptionKey">> {
  readonly text: RecordText;
}

/** Fills in defaults; a value that can't be meant is a RangeError that names the option. */
export function checkStoreOptions(options: RedisStoreOptions): CheckedStoreOptions {
  return {
    connection: options.connection,
    namespace: options.namespace ?? "reprise",
    leaseMs: positive("leaseMs", options.leaseMs ?? 10_000),
    retentionMs: positive("retentionMs", options.retentionMs ?? DEFAULT_RETENTION_MS),
    maxWaitingRuns: positive("maxWaitingRuns", options.maxWaitingRuns ?? 1_000),
    maxBytesPerCaller: positive("maxBytesPerCaller", options.maxBytesPerCaller ?? 64 * 1024 * 1024),
    text: recordTextOf(options.recordEncryptionKey),
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
  };
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value <= 0) {
    throw new RangeError(`${name} must be a whole number above 0, got ${value}`);
  }
  return value;
}
