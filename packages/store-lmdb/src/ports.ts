/**
 * What the store takes from the machine, as ports: tests put others in their place.
 *
 * The defaults are made here and in `liveness.ts`; nothing else in this package asks the machine for time.
 */
import type { JsonValue } from "@reprise/journal";

/** Time. */
export interface StoreClock {
  /** Epoch milliseconds: for what is recorded and for expiry, never for leases. */
  readonly wallNow: () => number;
  /** Milliseconds that only grow and are the same for all processes of one boot: for leases. */
  readonly monotonicNow: () => number;
  /** Runs `run` after `delayMs`, once; the returned function takes it back. */
  readonly setTimer: (delayMs: number, run: () => void) => () => void;
}

/** Which process this is, and which are gone. */
export interface ProcessLiveness {
  /** This process, as it is written into leases and waiters. */
  readonly self: JsonValue;
  /** True only when the process behind `holder` is known to be gone. */
  readonly isGone: (holder: JsonValue) => boolean;
}

/** What kind of file system a directory is on, whether it may be used, and what is free on it. */
export interface FileSystemProbe {
  /** Throws the system's error when this user may not read and write the directory. */
  readonly checkAccess: (directory: string) => void;
  /** The number from statfs(2), and the mount's type where it is known (`fuse.sshfs`). */
  readonly kindOf: (directory: string) => {
    readonly magic: number;
    readonly mountType: string | undefined;
  };
  readonly freeBytes: (directory: string) => number;
}

/** The machine's clocks. CLOCK_MONOTONIC is one for all processes of a boot. */
export const systemClock: StoreClock = {
  wallNow: () => Date.now(),
  monotonicNow: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  setTimer: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** For systems that don't say which boot this is: their monotonic clock may start anew, the wall clock does not. */
export const wallClockOnly: StoreClock = { ...systemClock, monotonicNow: () => Date.now() };
