/**
 * Bugs on purpose in what handlers that may repeat, and URL asks, rest on: states, the records of pages, and who completes them.
 *
 * As in `plants.ts`, each stands between the shipped runtime and a port; no product code has a switch for it.
 */
import { type Entry, isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import type { ClaimReply, PendingAsk, SharedRecord, StateSealer } from "@reprise/runtime";
import type { Plant } from "@reprise/testing/simulation";

type Payload = Readonly<Record<string, unknown>>;

/** By what is wrong. */
export const statePlants: Readonly<Record<string, Plant>> = {
  "a handler that is declared repeatable uses the store": {
    program: ({ version, body }) => ({ version, body }),
  },

  "a state loses the step that was sealed last": openedAs((payload) => {
    const entries = entriesIn(payload);
    const last = entries.findLastIndex(({ kind }) => kind === "step_completed");
    return last < 0 ? payload : { ...payload, entries: entries.toSpliced(last, 1) };
  }),

  "what a read gave is another thing in the next round": openedAs((payload) => ({
    ...payload,
    entries: entriesIn(payload).map((entry) =>
      entry.kind === "read_completed" ? { ...entry, value: "4711" } : entry,
    ),
  })),

  "an answer that is sealed can be given again": openedAs((payload) => {
    const entries = entriesIn(payload);
    const last = entries.at(-1);
    if (last?.kind !== "answer_taken" || last.page !== undefined) return payload;
    const { key, question } = last;
    const pending = [{ key, question, changes: 0, text: "" }, ...pendingIn(payload)];
    return { ...payload, entries: entries.slice(0, -1), pending };
  }),

  "a page is asked for again without end": {
    ...openedAs((payload) => ({
      ...payload,
      ...(payload["kind"] === "repeatable"
        ? { pending: pendingIn(payload).map((ask) => ({ ...ask, unfinished: 0 })) }
        : {}),
    })),
    store: (store) => {
      const forgets = async (claiming: Promise<ClaimReply>): Promise<ClaimReply> => {
        const reply = await claiming;
        if (reply.tag !== "CLAIMED") return reply;
        const { head } = reply.record;
        const pending = head.pending.map((ask) => ({ ...ask, unfinished: 0 }));
        return { ...reply, record: { ...reply.record, head: { ...head, pending } } };
      };
      return { ...store, claimRound: (input) => forgets(store.claimRound(input)) };
    },
  },

  "a page is given up at the first accept in vain": {
    store: (store) => ({
      ...store,
      claimRound: async (input) => {
        const reply = await store.claimRound(input);
        if (reply.tag !== "CLAIMED") return reply;
        const { head } = reply.record;
        const pending = head.pending.map((ask) => ({ ...ask, unfinished: 5 }));
        return { ...reply, record: { ...reply.record, head: { ...head, pending } } };
      },
    }),
  },

  "a page is completed by whoever says so": {
    completer: (completer) => ({
      complete: (id, completion) =>
        completer.complete(id, { ...completion, principal: "anonymous" }),
    }),
  },

  "a later completion of a page takes the place of the first": {
    completer: (completer, shared) => ({
      async complete(id, completion) {
        const key = { kind: "elicitation", id };
        const opened = await shared.get(key);
        if (opened !== undefined && pageIn(opened) !== undefined) {
          const expiresAt = Number((opened.value as JsonObject)["expiresAt"]);
          await shared.put(key, withoutPage(opened), opened.revision, expiresAt);
        }
        return completer.complete(id, completion);
      },
    }),
  },

  "a completion is not there for whoever looks": {
    shared: (shared) => ({
      ...shared,
      get: async (key) => {
        const found = await shared.get(key);
        if (found === undefined || pageIn(found) === undefined) return found;
        return { ...found, value: withoutPage(found) };
      },
    }),
  },

  "an accept is waited for longer than its ask says": {
    program: (program) => ({
      ...program,
      body: JSON.parse(
        JSON.stringify(program.body).replace(/"waitMs":2000\b/g, '"waitMs":40000'),
      ) as typeof program.body,
    }),
  },

  "a page that is not completed is waited for without end": {
    shared: (shared) => ({
      ...shared,
      get: async (key) => {
        for (;;) {
          const found = await shared.get(key);
          if (found === undefined || pageIn(found) !== undefined) return found;
          await new Promise<void>((resolve) => void shared.listen("changes", () => resolve()));
        }
      },
    }),
  },
};

/** A process that reads states so. */
function openedAs(change: (payload: Payload) => Payload): Plant {
  const sealer = (own: StateSealer): StateSealer => ({
    seal: (input) => own.seal(input),
    async open(input) {
      const reply = await own.open(input);
      return reply.ok && reply.payload["kind"] === "repeatable"
        ? { ...reply, payload: change(reply.payload) }
        : reply;
    },
  });
  return { sealer };
}

function entriesIn(payload: Payload): readonly Entry[] {
  return payload["entries"] as readonly Entry[];
}

function pendingIn(payload: Payload): readonly Partial<PendingAsk>[] {
  return payload["pending"] as readonly Partial<PendingAsk>[];
}

function pageIn({ value }: SharedRecord): JsonValue | undefined {
  return isJsonObject(value) ? value["page"] : undefined;
}

function withoutPage({ value }: SharedRecord): JsonObject {
  const { page: _, ...opened } = value as JsonObject;
  return opened;
}
