/**
 * The options of the embedded store, checked once.
 */
import { DEFAULT_RETENTION_MS } from "@reprise/runtime";
import { systemFileSystem } from "./fileSystem.ts";
import { procLiveness, unknownLiveness } from "./liveness.ts";
import {
  type FileSystemProbe,
  type ProcessLiveness,
  type StoreClock,
  systemClock,
  wallClockOnly,
} from "./ports.ts";

/** How an embedded store is opened. */
export interface LmdbStoreOptions {
  /** Where the store lives; made with mode 0700 when missing. On a local disk. */
  readonly directory: string;
  /** Default 10,000. */
  readonly leaseMs?: number;
  /** How long ended runs are kept after their newest change or state expiry. Default 24 h. */
  readonly retentionMs?: number;
  /** Waiting runs that one principal may have. Default 1,000. */
  readonly maxWaitingRuns?: number;
  /** Bytes that the waiting runs of one principal may hold. Default 64 MiB. */
  readonly maxBytesPerCaller?: number;
  /** Bytes that all records may take up. Default 8 GiB; the file starts small. */
  readonly maxBytes?: number;
  /** Bytes, of `maxBytes` and of the disk, kept for runs that exist. Default 64 MiB, at most an eighth of `maxBytes`. */
  readonly reserveBytes?: number;
  /** For tests: time. */
  readonly clock?: StoreClock;
  /** For tests: which processes are gone. */
  readonly liveness?: ProcessLiveness;
  /** For tests: what the disk is. */
  readonly fileSystem?: FileSystemProbe;
}

/** The options with defaults. */
export type CheckedOptions = Required<LmdbStoreOptions>;

const MIB = 1024 * 1024;

/** Fills in defaults; a value that can't be meant is a RangeError or TypeError that names the option. */
export function checkOptions(options: LmdbStoreOptions): CheckedOptions {
  const { directory } = options;
  if (typeof directory !== "string" || directory === "") {
    throw new TypeError("directory must be a path");
  }
  const maxBytes = positive("maxBytes", options.maxBytes ?? 8 * 1024 * MIB);
  const found = options.liveness ?? procLiveness(systemClock.monotonicNow);
  return {
    directory,
    leaseMs: positive("leaseMs", options.leaseMs ?? 10_000),
    retentionMs: positive("retentionMs", options.retentionMs ?? DEFAULT_RETENTION_MS),
    maxWaitingRuns: positive("maxWaitingRuns", options.maxWaitingRuns ?? 1_000),
    maxBytesPerCaller: positive("maxBytesPerCaller", options.maxBytesPerCaller ?? 64 * MIB),
    maxBytes,
    reserveBytes: positive(
      "reserveBytes",
      options.reserveBytes ?? Math.min(64 * MIB, Math.floor(maxBytes / 8)),
    ),
    clock: options.clock ?? (found === undefined ? wallClockOnly : systemClock),
    liveness: found ?? unknownLiveness,
    fileSystem: options.fileSystem ?? systemFileSystem,
  };
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value <= 0) {
    throw new RangeError(`${name} must be a whole number above 0, got ${value}`);
  }
  return value;
}
