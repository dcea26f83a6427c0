/**
 * Times the calls of a run store, from outside: adapters know nothing of it.
 *
 * S1 What a call gives or rejects with comes through as it is.
 * S2 `watch` is not timed: it waits for somebody else on purpose.
 */
import type { RunStore } from "@reprise/runtime";
import { Counter, Histogram } from "prom-client";
import type { Metrics } from "./registry.ts";

const timed = [
  "createRun",
  "claimFirst",
  "claimRound",
  "claimKnown",
  "claimQueued",
  "append",
  "endRound",
  "renew",
  "cancel",
  "release",
  "leave",
  "findAbandoned",
  "load",
  "removeExpired",
] as const satisfies readonly (keyof RunStore)[];

/** The same store, with `reprise_store_call_duration_seconds` and `reprise_store_call_errors_total` in the registry. */
export function measuredStore<S extends RunStore>(store: S, metrics: Metrics): S {
  const registers = [metrics];
  const duration = new Histogram({
    name: "reprise_store_call_duration_seconds",
    help: "How long calls of the run store took, by method; failed ones too.",
    labelNames: ["method"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const errors = new Counter({
    name: "reprise_store_call_errors_total",
    help: "Calls of the run store that were rejected, by method.",
    labelNames: ["method"],
    registers,
  });
  const wrapped = new Map<PropertyKey, unknown>();
  for (const method of timed) {
    const call = store[method].bind(store) as (...args: readonly unknown[]) => Promise<unknown>;
    const observe = duration.labels(method);
    const failed = errors.labels(method);
    wrapped.set(method, async (...args: readonly unknown[]) => {
      const since = performance.now();
      try {
        return await call(...args);
      } catch (error) {
        failed.inc();
        throw error;
      } finally {
        observe.observe((performance.now() - since) / 1000);
      }
    });
  }
  // A proxy, so that what an adapter offers besides the port stays reachable; bound, because adapters have private fields. Over an
  // empty object: what a proxy gives for a frozen member of its own target must be that member.
  return new Proxy({} as S, {
    has: (_target, name) => Reflect.has(store, name),
    get(_target, name) {
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(store, name, store);
      if (typeof value !== "function") return value;
      const bound: unknown = value.bind(store);
      wrapped.set(name, bound);
      return bound;
    },
  });
}
