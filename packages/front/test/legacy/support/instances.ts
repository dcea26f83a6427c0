/**
 * Several fronts over one store, as processes that a test can let die, under a clock that it moves.
 *
 * A dead instance's timers never fire, its store refuses everything, its connections are cut; nothing is closed in order.
 */
import { listen } from "@reprise/front";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  type Clock,
  createRuntime,
  type Duration,
  type Runtime,
  type ServerDefinition,
  type SharedRecords,
} from "@reprise/runtime";
import { createManualClock, type ManualClock } from "@reprise/testing";
import { onTestFinished } from "vitest";
import { inMemory, type StoreKind, type Stores } from "./stores.ts";

type FrontOptions = Parameters<typeof listen>[0];

/** One process. */
export interface Instance {
  readonly url: string;
  readonly runtime: Runtime;
  /** What it shares with the others, as it uses it: a test may put its own functions in. */
  readonly shared: { -readonly [Name in keyof SharedRecords]: SharedRecords[Name] };
  /** Resolves when the response to the next request is over, answered or not. */
  nextResponseOver(): Promise<void>;
  /** Ends it like SIGKILL. */
  die(): void;
  /** Stops it in order. */
  close(): Promise<void>;
}

export interface Cluster {
  readonly clock: ManualClock;
  readonly instances: readonly [Instance, Instance];
  readonly shared: SharedRecords;
  /** The runs of all. */
  readonly runs: Stores["runs"];
  /** Moves the time on in steps, with room for what each one sets off. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Starts one more: of the same release, or of another. */
  another(release?: ServerDefinition): Promise<Instance>;
}

const secret = "a secret of the tests that is long enough to be one";

/** Two instances of a server. */
export async function cluster(
  server: ServerDefinition,
  options: Omit<Partial<FrontOptions>, "runtime" | "clock"> & {
    readonly requestStateLifetime?: Duration;
    /** Default: in memory. */
    readonly kind?: StoreKind;
  } = {},
): Promise<Cluster> {
  const { requestStateLifetime = "24h", kind = inMemory, ...frontOptions } = options;
  const clock = createManualClock();
  const stores = await kind(clock);
  let first: SharedRecords | undefined;
  const begin = async (release = server): Promise<Instance> => {
    const { store: own, die: end } = await stores.open();
    first ??= own.shared;
    const life = { isOver: false };
    const time = mortalClock(clock, life);
    const shared = mortalRecords(own.shared, life);
    const runtime = createRuntime({
      server: release,
      store: own,
      shared,
      sealer: createStateSealer({ keys: keysFromSecrets(secret) }),
      clock: time,
      requestStateLifetime,
      rateLimit: "none",
      sweep: false,
      drainTimeoutMs: 0,
    });
    const front = await listen({ ...frontOptions, runtime, clock: time, port: 0 });
    const die = (): void => {
      life.isOver = true;
      end();
      front.app.server.closeAllConnections();
      front.app.server.close();
    };
    onTestFinished(() => {
      if (!life.isOver) die();
    });
    return {
      ...{ url: front.url, runtime, shared, die },
      nextResponseOver: () =>
        new Promise((resolve) => {
          front.app.server.once("request", (_request, response) => {
            response.once("close", resolve);
          });
        }),
      close: () => front.close(),
    };
  };
  const instances = [await begin(), await begin()] as const;
  return {
    clock,
    instances,
    shared: first ?? instances[0].shared,
    runs: () => stores.runs(),
    pass: async (ms, stepMs = 1_000) => {
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(stepMs, left));
        await stores.settle();
      }
    },
    another: begin,
  };
}

function mortalClock(clock: ManualClock, life: { readonly isOver: boolean }): Clock {
  return {
    now: clock.now,
    monotonic: clock.now,
    after: (ms, work) =>
      clock.setTimer(ms, () => {
        if (!life.isOver) work();
      }),
  };
}

function mortalRecords(shared: SharedRecords, life: { readonly isOver: boolean }): SharedRecords {
  const living = async <T>(work: () => Promise<T>): Promise<T> => {
    if (life.isOver) throw new Error("this process is dead");
    return work();
  };
  return {
    get: (key) => living(() => shared.get(key)),
    put: (...args) => living(() => shared.put(...args)),
    remove: (...args) => living(() => shared.remove(...args)),
    append: (...args) => living(() => shared.append(...args)),
    read: (...args) => living(() => shared.read(...args)),
    publish: (...args) => living(() => shared.publish(...args)),
    listen: (channel, listener) =>
      living(() =>
        shared.listen(channel, (notice) => {
          if (!life.isOver) listener(notice);
        }),
      ),
  };
}
