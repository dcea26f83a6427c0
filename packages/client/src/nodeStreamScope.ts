/**
 * Node's answer to which call's stream a message came on: what runs in the async context of a call's request is that call's.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CallInFlight } from "./callInFlight.ts";
import type { StreamScope } from "./streamScope.ts";

/** A scope for one connection. */
export function nodeStreamScope(): StreamScope {
  const storage = new AsyncLocalStorage<CallInFlight>();
  return {
    run: async (call, work) => await storage.run(call, work),
    current: () => storage.getStore(),
  };
}
