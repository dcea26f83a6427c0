/**
 * What the tests of the embedded store share: directories that go away, and processes that are only played.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunStore } from "@reprise/runtime";
import {
  type LmdbStore,
  type LmdbStoreOptions,
  openLmdbStore,
  type ProcessLiveness,
  type StoreClock,
} from "@reprise/store-lmdb";
import {
  createManualClock,
  type HistoryHarness,
  type SharedHarness,
  type StoreHarness,
} from "@reprise/testing";
import { afterEach } from "vitest";

const directories: string[] = [];
const stores: LmdbStore[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true });
});

/** An empty directory of this test. */
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "reprise-lmdb-"));
  directories.push(directory);
  return directory;
}

/** Opens a store that is closed after the test. */
export async function openStore(options: LmdbStoreOptions): Promise<LmdbStore> {
  const store = await openLmdbStore(options);
  stores.push(store);
  return store;
}

/** A manual clock as the store takes it; wall and monotonic time go together. */
export function playedClock(): {
  readonly clock: StoreClock;
  readonly advance: (ms: number) => void;
  readonly pendingTimers: () => number;
} {
  const { now, advance, setTimer, pendingTimers } = createManualClock();
  const started = now();
  return {
    clock: { wallNow: now, monotonicNow: () => now() - started + 1_000, setTimer },
    advance,
    pendingTimers,
  };
}

/** Processes with numbers of their own, in one real process. */
function playedProcesses(): {
  readonly next: () => ProcessLiveness;
  readonly kill: (id: number) => void;
} {
  const gone = new Set<unknown>();
  let last = 0;
  return {
    next: () => {
      last += 1;
      return { self: last, isGone: (holder) => gone.has(holder) };
    },
    kill: (id) => {
      gone.add(id);
    },
  };
}

/** The store suite's harness on one directory, with played processes and time. */
export function suiteHarness(directory: string): {
  readonly harness: StoreHarness;
  readonly pendingTimers: () => number;
} {
  const { clock, advance, pendingTimers } = playedClock();
  const processes = playedProcesses();
  const idOf = new Map<RunStore, number>();
  const retentionMs = 3_600_000;
  const maxWaitingRuns = 3;
  return {
    pendingTimers,
    harness: {
      open: async () => {
        const liveness = processes.next();
        const store = await openStore({ directory, clock, liveness, retentionMs, maxWaitingRuns });
        idOf.set(store, Number(liveness.self));
        return store;
      },
      now: clock.wallNow,
      advance,
      kill: async (store) => {
        processes.kill(idOf.get(store) ?? 0);
        await store.close();
      },
      seesDeath: true,
      retentionMs,
      maxWaitingRuns,
    },
  };
}

/** The harness of the suite of shared records on one directory, with played time. */
export function sharedHarness(directory: string): {
  readonly harness: SharedHarness;
  readonly pendingTimers: () => number;
} {
  const { clock, advance, pendingTimers } = playedClock();
  return {
    pendingTimers,
    harness: { open: () => openStore({ directory, clock }), now: clock.wallNow, advance },
  };
}

/** The harness of the history suite on one directory, with played time. */
export function historyHarness(directory: string): HistoryHarness {
  const { clock, advance } = playedClock();
  return {
    open: async () => (await openStore({ directory, clock })).history,
    now: clock.wallNow,
    advance,
  };
}
