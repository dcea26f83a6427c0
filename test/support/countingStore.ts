/**
 * A run store that counts: every operation of the port, by name, before it is passed on.
 *
 * It wraps whatever store it is given and has no list of operations of its own, so that an operation which the port
 * gets later is counted too.
 */
import type { RunStore } from "@reprise/runtime";

/** The calls so far, by operation; read it whenever. */
export type StoreCalls = Readonly<Record<string, number>>;

/** `store`, and what is called on it. */
export function countingStore(store: RunStore): {
  readonly store: RunStore;
  readonly calls: StoreCalls;
} {
  const calls: Record<string, number> = {};
  const counted = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || typeof name !== "string") return member;
      return (...given: unknown[]): unknown => {
        calls[name] = (calls[name] ?? 0) + 1;
        return Reflect.apply(member, target, given);
      };
    },
  });
  return { store: counted, calls };
}
