/** The clock of this machine. Used unless a test gives another. */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "./retry.ts";

/** Time as it is. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal });
  },
};
