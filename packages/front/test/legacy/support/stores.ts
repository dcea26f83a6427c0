/**
 * The stores under several fronts of a test: in memory, or a real Redis under played time. The scenarios are the same.
 */
import type { RunStore, SharedRecords } from "@reprise/runtime";
import { connectRedis, openRedisStore } from "@reprise/store-redis";
import { createMemoryStore, type ManualClock, type MemoryStore } from "@reprise/testing";
import { afterAll, onTestFinished } from "vitest";
import { type RedisServer, startRedis } from "../../../../../test/support/redisServer.ts";

/** The store of one process. */
interface ProcessStore {
  readonly store: RunStore & { readonly shared: SharedRecords };
  /** Its process is gone: it reaches nothing any more. */
  die(): void;
}

/** One deployment's data. */
export interface Stores {
  open(): Promise<ProcessStore>;
  /** All runs; of memory alone. */
  runs(): ReturnType<MemoryStore["snapshot"]>["runs"];
  /** Resolves when what was under way has reached the store and come back, a few times over. */
  settle(): Promise<void>;
}

/** Makes the data of a deployment under a clock. */
export type StoreKind = (clock: ManualClock) => Promise<Stores>;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export const inMemory: StoreKind = async ({ now, setTimer }) => {
  const first = createMemoryStore({ now, setTimer });
  let next: MemoryStore | undefined = first;
  return {
    open: async () => {
      const store = next ?? first.another();
      next = undefined;
      return { store, die: () => store.kill() };
    },
    runs: () => first.snapshot().runs,
    settle: () => turns(20),
  };
};

/** Both kinds, by name; the Redis is this file's own and is started when it is first needed. */
export function storeKinds(): readonly (readonly [name: string, kind: StoreKind])[] {
  let starting: Promise<RedisServer> | undefined;
  let namespaces = 0;
  afterAll(async () => {
    await (await starting)?.stop();
  });
  const inRedis: StoreKind = async ({ now, setTimer }) => {
    starting ??= startRedis();
    const { url } = await starting;
    namespaces += 1;
    const namespace = `legacy-${namespaces}`;
    const clock = { playedNow: now, monotonicNow: now, setTimer };
    const watching = await connectRedis({ url });
    onTestFinished(() => watching.client.disconnect());
    return {
      open: async () => {
        const connection = await connectRedis({ url });
        const made = [connection.client];
        const duplicate = (): typeof connection.client => {
          const client = connection.duplicate();
          made.push(client);
          return client;
        };
        const own = Object.assign(Object.create(connection) as typeof connection, { duplicate });
        const store = await openRedisStore({ connection: own, namespace, clock });
        return {
          store,
          die: () => {
            for (const client of made) client.disconnect();
          },
        };
      },
      runs: () => {
        throw new Error("nobody lists the runs of a Redis here");
      },
      settle: async () => {
        for (let round = 0; round < 8; round++) {
          await watching.client.ping();
          await turns(4);
        }
      },
    };
  };
  return [
    ["memory", inMemory],
    ["Redis", inRedis],
  ];
}
