/** Hosts and clocks for tests. */
import type { Ask, AskContext, Clock, FormAsk, FormReply, Host } from "@reprise/client";

/** Every wait is over at once; what was waited for is kept. `now` moves by it. */
export interface ManualClock extends Clock {
  readonly waits: number[];
}

export function manualClock(start = Date.parse("2026-11-30T12:00:00Z")): ManualClock {
  const waits: number[] = [];
  let time = start;
  return {
    waits,
    now: () => time,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      time += ms;
    },
  };
}

export const accept = (content: Record<string, string | number | boolean>): FormReply => ({
  action: "accept",
  content: new Map(Object.entries(content)),
});

type Awaitable<T> = T | Promise<T>;

/** A host that keeps what it was shown. */
export interface ShowingHost extends Host {
  readonly shown: { readonly ask: Ask; readonly context: AskContext }[];
}

/** A host that answers forms with the given function. */
export function formHost(
  reply: (ask: FormAsk, context: AskContext) => Awaitable<FormReply>,
): ShowingHost {
  const shown: { readonly ask: Ask; readonly context: AskContext }[] = [];
  return {
    shown,
    form: async (ask, context) => {
      shown.push({ ask, context });
      return await reply(ask, context);
    },
  };
}
