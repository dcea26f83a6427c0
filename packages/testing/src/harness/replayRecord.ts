/**
 * Replays a recorded run against today's handlers, and names the first entry that does not fit.
 *
 * Called by the harness, for journals from production and for those that a repository keeps. It executes the handler on the
 * shipped runtime, over a store that has this one run and keeps nothing.
 *
 * R1 No step and no read is executed: where the journal ends, the handler has come as far as it was, and the replay ends.
 * R2 Of `ctx.state` the record has what the last round left. A finished run's last round is replayed with that: a handler that
 *    changes a value and goes by it again may be taken for one that does not fit.
 */
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import {
  createRuntime,
  type EndReason,
  RECORD_FORMAT,
  type RoundEnd,
  type RunRecord,
  type RunStore,
  type ServerDefinition,
} from "@reprise/runtime";
import { createMemoryStore } from "../memoryStore.ts";
import { HarnessTime } from "./harnessTime.ts";
import { watchedServer } from "./watchedServer.ts";

/** Whether a journal fits. */
export type JournalFit =
  | {
      readonly fits: true;
      /** How far the handler came: it did something that the journal has not, it asks, or it ends. */
      readonly endedAt: string;
    }
  | {
      readonly fits: false;
      /** The first entry that the handler can't be reconciled with: kind, name and its index from 0. */
      readonly entry: { readonly kind: string; readonly name: string; readonly index: number };
      /** All of it in words, with a fix. */
      readonly message: string;
    };

/** @throws TypeError or Error, as `Harness.replay` says */
export async function replayRecord(server: ServerDefinition, given: unknown): Promise<JournalFit> {
  const record = readRecord(given);
  const { name, kind } = record.origin.handler;
  const time = new HarnessTime();
  let tell: (fit: JournalFit) => void = () => undefined;
  const fit = new Promise<JournalFit>((resolve) => {
    tell = resolve;
  });
  const replayed = watchedServer(server, (operation, of) => {
    tell({ fits: true, endedAt: `${operation} "${of}" would run` });
    return new Promise(() => undefined);
  });
  const { clock } = time;
  const store = createMemoryStore(clock);
  const runtime = createRuntime({
    server: replayed,
    store: storeOf(record, store, (end) => tell(fitOf(end))),
    sealer: createStateSealer({ keys: keysFromSecrets("nothing is sealed to be opened again") }),
    clock: { now: clock.now, monotonic: clock.now, after: clock.setTimer },
    sweep: false,
  });
  const served = kind === "tool" ? runtime.catalog.findTool(name) : undefined;
  if (served === undefined) throw new Error(`the server has no ${kind} "${name}"`);
  const { runId } = record.origin;
  const { round } = record.head;
  const { principal } = record.origin.caller;
  const job = { runId, round, epoch: EPOCH, queue: served.queue, handler: record.origin.handler };
  void runtime.runQueued({ ...job, principal }, undefined);
  const found = await time.until(fit);
  await time.until(runtime.close());
  return found;
}

const EPOCH = 1;

/** A store with one run that waits for a worker. What its attempt records goes nowhere. */
function storeOf(
  { origin, head, entries }: RunRecord,
  nothing: RunStore,
  ended: (end: RoundEnd) => void,
): RunStore {
  const started = {
    ...head,
    status: "running",
    epoch: EPOCH,
    token: "replay",
    sequence: 0,
    stopping: false,
    response: undefined,
  } as const;
  const ref = { runId: origin.runId, epoch: EPOCH, token: "replay" };
  return {
    ...nothing,
    load: async () => ({ origin, head: { ...started, queued: true }, entries }),
    claimQueued: async () => ({
      tag: "CLAIMED",
      record: { origin, head: started, entries },
      ref,
      takeover: false,
    }),
    append: async () => ({ tag: "OK", stopping: false }),
    renew: async () => ({ tag: "OK", stopping: false }),
    endRound: async (_ref, _progress, end) => {
      ended(end);
      return { tag: "OK", stopping: false };
    },
  };
}

function fitOf(end: RoundEnd): JournalFit {
  if (end.to !== "mismatched") return { fits: true, endedAt: endedAt(end) };
  const { message = "", data } = end.why ?? ({} as Partial<EndReason>);
  const entry = data?.["entry"] as { kind: string; name: string; index: number } | undefined;
  return { fits: false, entry: entry ?? { kind: "entry", name: "?", index: -1 }, message };
}

function endedAt(end: RoundEnd): string {
  switch (end.to) {
    case "waiting":
      return `it asks ${end.pending.map(({ key }) => `"${key}"`).join(", ")}`;
    case "completed":
      return "it returns";
    case "failed":
      return "it throws";
    default:
      return `the attempt ends ${end.to}`;
  }
}

function readRecord(given: unknown): RunRecord {
  const record = given as Partial<RunRecord> | null;
  for (const part of ["origin", "head", "entries"] as const) {
    if (typeof record !== "object" || record === null || typeof record[part] !== "object") {
      throw new TypeError(`no run record: "${part}" is missing`);
    }
  }
  const { origin } = record as RunRecord;
  if (origin.format !== RECORD_FORMAT) {
    throw new Error(
      `the record has format ${origin.format}; this release replays ${RECORD_FORMAT}`,
    );
  }
  return record as RunRecord;
}
