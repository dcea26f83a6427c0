/**
 * A store port around a store: every call goes through an instance's hand, and what the store acknowledged is written down.
 */
import { type Entry, nameOf } from "@reprise/journal";
import type { AttemptRef, ClaimReply, RunHead, RunStore, TransitionReply } from "@reprise/runtime";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

type Claimed = Extract<ClaimReply, { readonly tag: "CLAIMED" }>;

/** The store as an instance sees it. Its `close` closes nothing: the store is the case's. */
export function watchedStore(
  store: RunStore,
  world: World,
  instance: Pick<Instance, "name" | "port" | "isUp" | "stoodStillMs">,
  hears: boolean,
  /** The store's clock, in epoch milliseconds. */
  now: () => number,
): RunStore {
  const through = <T>(what: string, call: () => Promise<T>): Promise<T> =>
    instance.port(`store ${what}`, true, call);
  const recorded = (run: string, epoch: number, entries: readonly Entry[]): void => {
    const { name } = instance;
    world.note({ is: "recorded", instance: name, run, epoch, entries: entries.map(told) });
  };
  const claim = async (
    what: string,
    asked: string,
    call: () => Promise<ClaimReply>,
  ): Promise<ClaimReply> =>
    through(what, async () => {
      const reply = await call();
      if (reply.tag === "EXPIRED")
        world.note({ is: "expired", run: asked, instance: instance.name });
      if (reply.tag === "CLAIMED") {
        const { ref, record } = reply;
        if (record.head.undo?.why === "expired") {
          world.note({ is: "expired", run: ref.runId, instance: instance.name });
        }
        const entries = record.entries.map(told);
        const run = ref.runId;
        world.note({ is: "claimed", instance: instance.name, run, epoch: ref.epoch, entries });
      }
      return reply;
    });
  const noteLate = (run: string, before: RunHead, { record }: Claimed): void => {
    const lateMs = now() - before.stateExpiresAt;
    if (before.status !== "waiting" || lateMs <= 0 || record.head.undo !== undefined) return;
    const undoes = (before.undoable?.length ?? 0) > 0;
    const { name, stoodStillMs } = instance;
    world.note({ is: "tookLate", run, instance: name, lateMs, stoodStillMs, undoes });
  };
  const transition = async (
    what: string,
    { runId: run, epoch }: AttemptRef,
    entries: readonly Entry[],
    call: () => Promise<TransitionReply>,
  ): Promise<TransitionReply> =>
    through(what, async () => {
      const reply = await call();
      if (reply.tag === "OK") recorded(run, epoch, entries);
      else world.note({ is: "fenced", instance: instance.name, run });
      return reply;
    });
  return {
    leaseMs: store.leaseMs,
    createRun: (input) =>
      through("createRun", async () => {
        const reply = await store.createRun(input);
        if (reply.tag === "OK")
          recorded(input.origin.runId, reply.ref.epoch, input.progress.entries);
        return reply;
      }),
    claimFirst: (input) => claim("claimFirst", "", () => store.claimFirst(input)),
    claimRound: (input) =>
      claim("claimRound", input.runId, async () => {
        const before = (await store.load(input.runId))?.head;
        const reply = await store.claimRound(input);
        if (reply.tag === "CLAIMED" && before !== undefined) noteLate(input.runId, before, reply);
        return reply;
      }),
    claimKnown: (input) => claim("claimKnown", input.runId, () => store.claimKnown(input)),
    cancel: (input) =>
      through("cancel", async () => {
        const reply = await store.cancel(input);
        const { name } = instance;
        if (reply.tag === "CANCELLED") {
          world.note({ is: "cancelled", run: input.runId, instance: name });
        }
        return reply;
      }),
    release: (run) => through("release", () => store.release(run)),
    retry: (input) => through("retry", () => store.retry(input)),
    finish: (input) => through("finish", () => store.finish(input)),
    claimQueued: (input) => through("claimQueued", () => store.claimQueued(input)),
    append: (ref, progress) =>
      transition("append", ref, progress.entries, () => store.append(ref, progress)),
    endRound: (ref, progress, end) =>
      transition(`endRound ${end.to}`, ref, progress.entries, () =>
        store.endRound(ref, progress, end),
      ),
    renew: (ref) => transition("renew", ref, [], () => store.renew(ref)),
    leave: (run, epoch, waiter) => through("leave", () => store.leave(run, epoch, waiter)),
    // Waiting holds no time: what it waits for may be a timer.
    watch: (run, epoch, timeoutMs, signal) => store.watch(run, epoch, timeoutMs, signal),
    // A lost message costs nothing but time: what it tells is known at the next write.
    onStopping: (run, epoch, listener) =>
      hears
        ? store.onStopping(run, epoch, (why) => {
            if (instance.isUp) listener(why);
          })
        : () => undefined,
    findAbandoned: (limit) => through("findAbandoned", () => store.findAbandoned(limit)),
    leadsTo: (scope) => store.leadsTo(scope),
    load: (run) => through("load", () => store.load(run)),
    removeExpired: (limit) => through("removeExpired", () => store.removeExpired(limit)),
    health: () => store.health(),
    close: async () => undefined,
  };
}

/** An entry in words: `step_completed s1`. */
function told(entry: Entry): string {
  return `${entry.kind} ${nameOf(entry)}`;
}
