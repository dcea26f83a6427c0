/**
 * Heads and origins as the text that Redis holds: full names, without what is what it is by default.
 *
 * Called by the record codec only. Lease, waiters and the stop are not part of a head's text: they change without it, by
 * scripts of their own, and stand in fields and keys of their own.
 *
 * H1 What is left out on writing is filled in on reading; members that this release does not know pass as they are.
 * H2 A waiting run costs little: most of a head is empty then.
 */
import type { RunHead, RunOrigin } from "@reprise/runtime";

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
  "status" | "token" | "version" | "askedVersion" | "entriesVersion" | "claimedAt" | "updatedAt"
> = {
  round: 0,
  epoch: 0,
  stoppable: false,
  takeovers: 0,
  stepStarted: false,
  stepCompleted: false,
  openStepPossible: false,
  openStepSince: undefined,
  marks: {},
  pending: [],
  brought: {},
  settled: {},
  state: {},
  drafts: {},
  response: undefined,
  entryCount: 0,
  sequence: 0,
  mismatchedAt: undefined,
  keyFree: false,
  stateGivenOut: false,
  stateExpiresAt: 0,
  expiresAt: 0,
};
const absentValues: ReadonlyMap<string, unknown> = new Map(Object.entries(absent));
const aside: ReadonlySet<string> = new Set<Aside>(["lease", "waiters", "stopping"]);

/** The text of a head. */
export function encodeHead(head: RunHead, notes: HeadNotes): string {
  const text: Record<string, unknown> = {
    kept: notes.keptUntil - head.expiresAt,
    entryBytes: notes.entryBytes === 0 ? undefined : notes.entryBytes,
  };
  for (const [name, value] of Object.entries(head)) {
    if (!aside.has(name) && !isAbsent(name, value, head)) text[name] = value;
  }
  return JSON.stringify(text);
}

/** The head and notes of a text. */
export function decodeHead(text: string): { readonly body: HeadBody; readonly notes: HeadNotes } {
  const { kept, entryBytes, ...known } = JSON.parse(text) as Partial<HeadBody> & {
    readonly kept: number;
    readonly entryBytes?: number;
  } & Pick<HeadBody, "status" | "token" | "version" | "claimedAt">;
  const body: HeadBody = {
    ...absent,
    askedVersion: known.version,
    entriesVersion: known.version,
    updatedAt: known.claimedAt,
    ...known,
    response: known.response ?? (known.status === "waiting" ? { kind: "question" } : undefined),
  };
  return { body, notes: { keptUntil: body.expiresAt + kept, entryBytes: entryBytes ?? 0 } };
}

/** The text of an origin; its run id is in the key's name. */
export function encodeOrigin(origin: RunOrigin): string {
  const { runId: _inTheKey, ...rest } = origin;
  return JSON.stringify(rest);
}

/** The origin of run `runId`. */
export function decodeOrigin(text: string, runId: string): RunOrigin {
  const origin = JSON.parse(text) as Omit<RunOrigin, "runId">;
  return { ...origin, runId };
}

function isAbsent(name: string, value: unknown, head: RunHead): boolean {
  if (value === undefined) return true;
  switch (name) {
    case "askedVersion":
    case "entriesVersion":
      return value === head.version;
    case "updatedAt":
      return value === head.claimedAt;
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
