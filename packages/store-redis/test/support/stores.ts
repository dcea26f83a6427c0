/**
 * What the tests of the Redis store share: servers and connections that go away, stores under played time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  openRedisStore,
  type RedisConnection,
  type RedisStore,
  type RedisStoreOptions,
} from "@reprise/store-redis";
import {
  createManualClock,
  type HistoryHarness,
  type SharedHarness,
  type StoreHarness,
} from "@reprise/testing";
import { afterEach } from "vitest";

const stores: RedisStore[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

let namespaces = 0;

/** A namespace that no other test of this process uses. */
export function freshNamespace(): string {
  namespaces += 1;
  return `t${process.pid}.${namespaces}`;
}

/** Opens a store that is closed after the test. */
export async function openStore(options: RedisStoreOptions): Promise<RedisStore> {
  const store = await openRedisStore(options);
  stores.push(store);
  return store;
}

/** The store suite's harness on a namespace of its own, with played time. Each store is a process of its own. */
export function suiteHarness(
  connection: RedisConnection,
  options: Pick<RedisStoreOptions, "recordEncryptionKey"> = {},
): {
  readonly harness: StoreHarness;
  readonly pendingTimers: () => number;
} {
  const { now, advance, setTimer, pendingTimers } = createManualClock();
  const namespace = freshNamespace();
  const retentionMs = 3_600_000;
  const maxWaitingRuns = 3;
  const clock = { playedNow: now, monotonicNow: now, setTimer };
  return {
    pendingTimers,
    harness: {
      open: () =>
        openStore({ connection, namespace, clock, retentionMs, maxWaitingRuns, ...options }),
      now,
      advance: async (ms) => {
        // What was asked before is answered first: a watch that is still looking has set no timer yet.
        await connection.client.get(namespace);
        await nextTurn();
        advance(ms);
      },
      kill: (store) => store.close(),
      seesDeath: false,
      retentionMs,
      maxWaitingRuns,
    },
  };
}

/** The harness of the suite of shared records, made in the same way. */
export function sharedHarness(
  connection: RedisConnection,
  options: Pick<RedisStoreOptions, "recordEncryptionKey"> = {},
): {
  readonly harness: SharedHarness;
  readonly pendingTimers: () => number;
} {
  const { now, advance, setTimer, pendingTimers } = createManualClock();
  const namespace = freshNamespace();
  const clock = { playedNow: now, monotonicNow: now, setTimer };
  return {
    pendingTimers,
    harness: { open: () => openStore({ connection, namespace, clock, ...options }), now, advance },
  };
}

/** The harness of the history suite, made in the same way. */
export function historyHarness(
  connection: RedisConnection,
  options: Pick<RedisStoreOptions, "recordEncryptionKey"> = {},
): HistoryHarness {
  const { now, advance, setTimer } = createManualClock();
  const namespace = freshNamespace();
  const clock = { playedNow: now, monotonicNow: now, setTimer };
  return {
    open: async () => (await openStore({ connection, namespace, clock, ...options })).history,
    now,
    advance,
  };
}
