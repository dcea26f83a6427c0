/**
 * Bugs on purpose: stores that break one promise each, to show that the simulation finds what breaks it.
 *
 * Each stands between the shipped runtime and the memory store; no product code has a switch for it. Each is made anew for a
 * search: some remember.
 */
import type {
  AttemptRef,
  ClaimReply,
  Progress,
  RunOrigin,
  RunStore,
  TransitionReply,
} from "@reprise/runtime";
import type { Plant } from "@reprise/testing/simulation";

/** When a disk that is flushed now and then has it. */
const FLUSH_MS = 500;

/** By what is wrong. */
export const plants: Readonly<Record<string, () => NonNullable<Plant["store"]>>> = {
  "the epoch check is dropped": () => (store) => {
    type Write = (ref: AttemptRef, progress: Progress) => Promise<TransitionReply>;
    const asOwner = async (ref: AttemptRef, progress: Progress, write: Write) => {
      const reply = await write(ref, progress);
      const head = (await store.load(ref.runId))?.head;
      if (reply.tag !== "LEASE_LOST" || head?.status !== "running") return reply;
      const { epoch, token, sequence } = head;
      return write({ runId: ref.runId, epoch, token }, { ...progress, sequence: sequence + 1 });
    };
    return {
      ...store,
      append: (ref, progress) => asOwner(ref, progress, store.append),
      endRound: (ref, progress, end) =>
        asOwner(ref, progress, (own, next) => store.endRound(own, next, end)),
    };
  },

  "the reply comes before the record": () => (store, process) => ({
    ...store,
    endRound: async (ref, progress, end) => {
      if (!(await owns(store, ref))) return store.endRound(ref, progress, end);
      process.later(() => void store.endRound(ref, progress, end));
      return { tag: "OK", stopping: false };
    },
  }),

  "a contradicting answer is accepted": () => (store) => ({
    ...store,
    claimRound: async (input) => {
      let { answers } = input;
      for (;;) {
        const reply = await store.claimRound({ ...input, answers });
        if (reply.tag !== "SETTLED") return reply;
        answers = Object.fromEntries(Object.entries(answers).filter(([key]) => key !== reply.key));
      }
    },
  }),

  "a missing record is treated as fresh": () => {
    const origins = new Map<string, RunOrigin>();
    return (store) => ({
      ...store,
      createRun: (input) => {
        origins.set(input.origin.runId, input.origin);
        return store.createRun(input);
      },
      claimFirst: async (input) => {
        const reply = await store.claimFirst(input);
        if (reply.tag === "CLAIMED") origins.set(reply.ref.runId, reply.record.origin);
        return reply;
      },
      claimRound: async (input) => {
        const reply = await store.claimRound(input);
        const origin = origins.get(input.runId);
        if (reply.tag !== "LOST" || reply.reason !== "missing" || origin === undefined)
          return reply;
        const { version, token, waiterId } = input;
        const made = await store.createRun({ origin, version, token, waiterId, progress: nothing });
        const record = await store.load(input.runId);
        if (made.tag !== "OK" || record === undefined) return reply;
        return { tag: "CLAIMED", record, ref: made.ref, takeover: false };
      },
    });
  },

  "a key is freed after a started step": () => (store) => ({
    ...store,
    endRound: (ref, progress, end) => {
      const isOver = end.to === "completed" || end.to === "failed";
      return store.endRound(ref, progress, isOver ? { ...end, keyFree: true } : end);
    },
  }),

  "a recorded undo is forgotten": () => (store) => {
    const forgetting = async (claiming: Promise<ClaimReply>): Promise<ClaimReply> => {
      const reply = await claiming;
      if (reply.tag !== "CLAIMED") return reply;
      const entries = reply.record.entries.filter(({ kind }) => kind !== "step_undone");
      return { ...reply, record: { ...reply.record, entries } };
    };
    return {
      ...store,
      claimFirst: (input) => forgetting(store.claimFirst(input)),
      claimRound: (input) => forgetting(store.claimRound(input)),
      claimKnown: (input) => forgetting(store.claimKnown(input)),
    };
  },

  "an answer is taken behind its deadline": () => (store) => ({
    ...store,
    claimRound: (input) => store.claimRound({ ...input, stateExpired: false }),
  }),

  "a deadline that nobody asks about is forgotten": () => (store) => ({
    ...store,
    findAbandoned: async (limit) => {
      const found = await store.findAbandoned(limit);
      const heads = await Promise.all(found.map(async (run) => (await store.load(run))?.head));
      return found.filter((_run, place) => heads[place]?.status !== "waiting");
    },
  }),

  "a step runs before its reads are durable": () => (store, process) => {
    /** What is not written yet: later writes of the attempt come after it, as they would on one connection. */
    let unwritten: Promise<unknown> = Promise.resolve();
    return {
      ...store,
      createRun: async (input) => {
        const { progress } = input;
        if (input.end !== undefined || progress.entries.length === 0) return store.createRun(input);
        const reply = await store.createRun({ ...input, progress: { ...progress, entries: [] } });
        if (reply.tag === "OK") {
          // Between this transition and the next.
          const late = { ...progress, sequence: progress.sequence + 0.5 };
          unwritten = new Promise((resolve) => {
            process.later(() => void store.append(reply.ref, late).then(resolve), FLUSH_MS);
          });
        }
        return reply;
      },
      append: async (ref, progress) => {
        const kinds = progress.entries.map(({ kind }) => kind);
        const isBeforeStep = kinds.some(isRead) && !kinds.some(isStep);
        if (!isBeforeStep || !(await owns(store, ref))) {
          await unwritten;
          return store.append(ref, progress);
        }
        unwritten = new Promise((resolve) => {
          process.later(() => void store.append(ref, progress).then(resolve), FLUSH_MS);
        });
        return { tag: "OK", stopping: false };
      },
      endRound: async (ref, progress, end) => {
        await unwritten;
        return store.endRound(ref, progress, end);
      },
    };
  },
};

const isRead = (kind: string): boolean => kind.startsWith("read");
const isStep = (kind: string): boolean => kind.startsWith("step");

/** Whether a write would be taken: what is planted is only that it comes late. */
async function owns(store: RunStore, ref: AttemptRef): Promise<boolean> {
  const head = (await store.load(ref.runId))?.head;
  return head?.epoch === ref.epoch && head.token === ref.token && head.status === "running";
}

const nothing: Progress = { sequence: 0, entries: [], marks: {}, stepStarts: false, settled: {} };
