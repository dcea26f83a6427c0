/**
 * A run store with a point before and after every commit.
 *
 * Renewals, sweeps and watches have none: when they come is a matter of time, not of the way a run takes.
 */
import type { RunStore } from "@reprise/runtime";
import type { Points } from "./points.ts";

/** A store with points. */
export interface PointedStore {
  readonly store: RunStore;
  /** Calls `then` in a moment in which no call of this process is inside the store. */
  whenIdle(then: () => void): void;
}

/** Puts points around the transitions of a store. */
export function pointedStore(inner: RunStore, points: Points): PointedStore {
  let inside = 0;
  let onIdle: (() => void) | undefined;
  const counted =
    <Args extends readonly unknown[], Value>(call: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      inside += 1;
      try {
        return await call(...args);
      } finally {
        inside -= 1;
        if (inside === 0) onIdle?.();
      }
    };
  const tagOf = ({ tag }: { readonly tag: string }): string => tag;
  const endRound = counted<Parameters<RunStore["endRound"]>, TransitionReplyOf>((...args) =>
    inner.endRound(...args),
  );

  const store: RunStore = {
    leaseMs: inner.leaseMs,
    createRun: points.around(
      "createRun",
      counted((input) => inner.createRun(input)),
      tagOf,
    ),
    claimFirst: points.around(
      "claimFirst",
      counted((input) => inner.claimFirst(input)),
      tagOf,
    ),
    claimRound: points.around(
      "claimRound",
      counted((input) => inner.claimRound(input)),
      tagOf,
    ),
    claimKnown: points.around(
      "claimKnown",
      counted((input) => inner.claimKnown(input)),
      tagOf,
    ),
    claimQueued: points.around(
      "claimQueued",
      counted((input) => inner.claimQueued(input)),
      tagOf,
    ),
    append: points.around(
      "append",
      counted((ref, progress) => inner.append(ref, progress)),
      tagOf,
    ),
    endRound: (ref, progress, end) =>
      points.around(`endRound ${end.to}`, endRound, tagOf)(ref, progress, end),
    leave: points.around(
      "leave",
      counted((runId, epoch, waiterId) => inner.leave(runId, epoch, waiterId)),
      ({ stopping }) => (stopping ? "stopping" : "going on"),
    ),
    renew: counted((ref) => inner.renew(ref)),
    watch: (runId, epoch, timeoutMs, signal) => inner.watch(runId, epoch, timeoutMs, signal),
    onStopping: (runId, epoch, listener) => inner.onStopping(runId, epoch, listener),
    cancel: points.around(
      "cancel",
      counted((input) => inner.cancel(input)),
      tagOf,
    ),
    findAbandoned: counted((limit) => inner.findAbandoned(limit)),
    release: counted((runId) => inner.release(runId)),
    retry: counted((input) => inner.retry(input)),
    finish: counted((input) => inner.finish(input)),
    leadsTo: counted((scope) => inner.leadsTo(scope)),
    load: counted((runId) => inner.load(runId)),
    removeExpired: counted((limit) => inner.removeExpired(limit)),
    health: () => inner.health(),
    close: () => inner.close(),
  };
  return {
    store,
    whenIdle(then) {
      if (inside === 0) then();
      else {
        onIdle = () => {
          onIdle = undefined;
          then();
        };
      }
    },
  };
}

type TransitionReplyOf = Awaited<ReturnType<RunStore["endRound"]>>;
