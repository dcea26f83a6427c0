/**
 * Heads and origins as the text that Redis holds: full names, without what is what it is by default.
 *
 * Called by the record codec only. Lease, waiters and the stop are not part of a head's text: they change without it, by
 * scripts of their own, and stand in fields and keys of their own.
 *
 * H1 What is left out on writing is filled in on reading; members that this release does not know pass as they are.
 * H2 A waiting run costs little: most of a head is empty then.
 */
import type { Caller, PendingAsk, RunHead, RunOrigin } from "@reprise/runtime";

/** What the keys of a run are kept for beyond its head's expiry, unless an earlier write set more. */
export const KEPT_AHEAD_MS: number = 60_000;

/** What the adapter itself keeps beside a head. */
export interface HeadNotes {
  /** When the keys of the run expire in Redis; at least the head's own expiry. */
  readonly keptUntil: number;
  /** Length of all entries as text. */
  readonly entryBytes: number;
}

/** What stands elsewhere in Redis. */
type Aside = "lease" | "waiters" | "stopping";

/** A head without what stands elsewhere. */
export type HeadBody = Omit<RunHead, Aside>;

const absent: Omit<
  HeadBody,
  | "status"
  | "token"
  | "version"
  | "askedVersion"
  | "entriesVersion"
  | "claimedAt"
  | "updatedAt"
  | "pending"
  | "stateGivenOut"
> = {
  round: 0,
  epoch: 0,
  stoppable: true,
  takeovers: 0,
  stepStarted: false,
  stepCompleted: false,
  openStepPossible: false,
  openStepSince: undefined,
  marks: {},
  brought: {},
  settled: {},
  state: {},
  drafts: {},
  response: undefined,
  entryCount: 0,
  sequence: 0,
  mismatchedAt: undefined,
  keyFree: false,
  stateExpiresAt: 0,
  expiresAt: 0,
};
const absentValues: ReadonlyMap<string, unknown> = new Map(Object.entries(absent));
const aside: ReadonlySet<string> = new Set<Aside>(["lease", "waiters", "stopping"]);

/** The text of a head. */
export function encodeHead(head: RunHead, notes: HeadNotes): string {
  const ahead = notes.keptUntil - head.expiresAt;
  const text: Record<string, unknown> = {};
  if (ahead !== KEPT_AHEAD_MS) text["keptAhead"] = ahead;
  if (notes.entryBytes > 0) text["entryBytes"] = notes.entryBytes;
  for (const name of Object.keys(head) as (keyof RunHead)[]) {
    const value = head[name];
    if (!aside.has(name) && !isAbsent(name, value, head)) text[name] = value;
  }
  if (head.pending.length > 0) text["pending"] = head.pending.map(shortened);
  return JSON.stringify(text);
}

/** The head and notes of a text. */
export function decodeHead(text: string): { readonly body: HeadBody; readonly notes: HeadNotes } {
  const { keptAhead, entryBytes, pending, ...known } = JSON.parse(text) as Partial<
    Omit<HeadBody, "pending">
  > & {
    readonly keptAhead?: number;
    readonly entryBytes?: number;
    readonly pending?: readonly ShortAsk[];
  } & Pick<HeadBody, "status" | "token" | "version" | "claimedAt">;
  const waits = known.status === "waiting";
  const body: HeadBody = {
    ...absent,
    askedVersion: known.version,
    entriesVersion: known.version,
    updatedAt: known.claimedAt,
    stateGivenOut: waits,
    ...known,
    pending: (pending ?? []).map(restored),
    response: known.response ?? (waits ? { kind: "question" } : undefined),
  };
  const keptUntil = body.expiresAt + (keptAhead ?? KEPT_AHEAD_MS);
  return { body, notes: { keptUntil, entryBytes: entryBytes ?? 0 } };
}

/** A pending ask without what is usual. */
type ShortAsk = Omit<PendingAsk, "changes" | "unfinished" | "text"> &
  Partial<Pick<PendingAsk, "changes" | "unfinished" | "text">>;

function shortened(ask: PendingAsk): ShortAsk {
  const { changes, unfinished, text, ...rest } = ask;
  return {
    ...rest,
    ...(text === messageOf(ask) ? {} : { text }),
    ...(changes === 0 ? {} : { changes }),
    ...(unfinished === 0 ? {} : { unfinished }),
  };
}

function restored(ask: ShortAsk): PendingAsk {
  return {
    ...ask,
    text: ask.text ?? messageOf(ask),
    changes: ask.changes ?? 0,
    unfinished: ask.unfinished ?? 0,
  };
}

/** What a person reads is mostly the message on the wire. */
function messageOf(ask: Pick<PendingAsk, "wire">): string {
  const message = ask.wire.params?.["message"];
  return typeof message === "string" ? message : "";
}

/** The text of an origin; its run id is in the key's name. */
export function encodeOrigin(origin: RunOrigin): string {
  const { runId: _inTheKey, target, caller, ...rest } = origin;
  const { person, scopes, claims, ...identity } = caller;
  return JSON.stringify({
    ...rest,
    ...(target === origin.handler.name ? {} : { target }),
    caller: {
      ...identity,
      ...(person === caller.principal ? {} : { person }),
      ...(scopes.length === 0 ? {} : { scopes }),
      ...(Object.keys(claims).length === 0 ? {} : { claims }),
    },
  });
}

/** The origin of run `runId`. */
export function decodeOrigin(text: string, runId: string): RunOrigin {
  const { caller, ...origin } = JSON.parse(text) as Omit<
    RunOrigin,
    "runId" | "target" | "caller"
  > & {
    readonly target?: string;
    readonly caller: Pick<Caller, "principal"> & Partial<Caller>;
  };
  const { principal } = caller;
  return {
    target: origin.handler.name,
    ...origin,
    runId,
    caller: { person: principal, scopes: [], claims: {}, ...caller },
  };
}

/** Whether reading fills it in. `pending` is written apart. */
function isAbsent(name: string, value: unknown, head: RunHead): boolean {
  if (value === undefined) return true;
  switch (name) {
    case "askedVersion":
    case "entriesVersion":
      return value === head.version;
    case "updatedAt":
      return value === head.claimedAt;
    case "pending":
      return true;
    case "stateGivenOut":
      return value === (head.status === "waiting");
    case "response":
      return head.status === "waiting" && head.response?.kind === "question";
    default: {
      if (!absentValues.has(name)) return false;
      const usual = absentValues.get(name);
      if (value === usual) return true;
      return (
        typeof usual === "object" &&
        typeof value === "object" &&
        value !== null &&
        Object.keys(value).length === 0
      );
    }
  }
}
