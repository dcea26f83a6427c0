/**
 * A server put together from the packages below `reprise`, for tests that need what `serve` does not offer: a clock
 * to move, a store to look into. Otherwise it is what `serve` does.
 */
import path from "node:path";
import { type ListenOptions, listen } from "@reprise/front";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { type Clock, createRuntime, type RunStore, systemClock } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import type { ServerDefinition } from "reprise";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary.ts";

/** What a test decides; all else as `serve` has it. */
export interface ComposedOptions extends Pick<ListenOptions, "logger"> {
  readonly requestStateKey: string;
  readonly clock?: Clock;
  /** Given the embedded store, gives what the runtime gets. */
  readonly wrapStore?: (store: RunStore) => RunStore;
}

/** Serves on a free port, with the embedded store in a folder of its own; closed with the test. Gives the URL. */
export async function serveComposed(
  server: ServerDefinition,
  { requestStateKey, clock, wrapStore = (store) => store, logger }: ComposedOptions,
): Promise<string> {
  const directory = path.join(await temporaryFolder(), "store");
  const store = wrapStore(await openLmdbStore({ directory }));
  const runtime = createRuntime({
    server,
    store,
    sealer: createStateSealer({ keys: keysFromSecrets(requestStateKey) }),
    // Sweeps would look into the store whatever handlers do.
    sweep: false,
    ...(clock === undefined ? {} : { clock }),
    ...(logger === undefined ? {} : { logger }),
  });
  const front = await listen({ runtime, port: 0, ...(logger === undefined ? {} : { logger }) });
  onTestFinished(async () => {
    await runtime.close();
    await front.close();
  });
  return front.url;
}

/** The system's clock, but as far ahead as it was moved. */
export function movableClock(): Clock & { advance(ms: number): void } {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    after: (ms, work) => systemClock.after(ms, work),
    advance: (ms) => {
      ahead += ms;
    },
  };
}
