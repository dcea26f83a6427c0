/**
 * The scripts of the run store. What each does, its keys, arguments and replies: the header of its file in `lua/`.
 */
import { defineScript, type Script } from "./script.ts";

/** What a transition gets that writes all or nothing. */
export type WriteReply =
  | { readonly tag: "OK"; readonly now: number; readonly stopping: boolean }
  | { readonly tag: "CONFLICT"; readonly now: number; readonly leadsTo: string };

/** A run as Redis holds it. */
export type ReadReply =
  | { readonly tag: "NONE"; readonly now: number }
  | {
      readonly tag: "RUN";
      readonly now: number;
      readonly fields: ReadonlyMap<string, string>;
      readonly waiters: ReadonlyMap<string, string>;
      readonly entries: readonly string[];
    };

/** What leaving gets. */
export type LeaveScriptReply =
  | { readonly tag: "OK"; readonly stopping: boolean }
  | { readonly tag: "GONE" | "LAST" };

/** What a watch gets. */
export type WatchReply =
  | { readonly tag: "STANDS"; readonly now: number; readonly leaseUntil: number | undefined }
  | { readonly tag: "GONE"; readonly now: number };

function parseWrite([tag, now, more]: readonly unknown[]): WriteReply | undefined {
  if (typeof now !== "number") return undefined;
  if (tag === "OK") return { tag, now, stopping: more === 1 };
  if (tag === "CONFLICT") return { tag, now, leadsTo: typeof more === "string" ? more : "" };
  return undefined;
}

function parseRead(reply: readonly unknown[]): ReadReply | undefined {
  const [tag, now, fields, waiters, entries] = reply;
  if (typeof now !== "number") return undefined;
  if (tag === "NONE") return { tag, now };
  if (tag !== "RUN" || !Array.isArray(entries)) return undefined;
  return { tag, now, fields: pairs(fields), waiters: pairs(waiters), entries: entries.map(String) };
}

/** Names and values in turn. */
function pairs(flat: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!Array.isArray(flat)) return found;
  for (let index = 0; index + 1 < flat.length; index += 2) {
    found.set(String(flat[index]), String(flat[index + 1]));
  }
  return found;
}

export const readRun: Script<"run" | "waiters" | "journal", "clock" | "entries", ReadReply> =
  defineScript("readRun", {
    keys: ["run", "waiters", "journal"],
    args: ["clock", "entries"],
    parse: parseRead,
  });

export const createRun: Script<
  "run" | "journal" | "waiters" | "due",
  | "clock"
  | "runId"
  | "revision"
  | "origin"
  | "head"
  | "keptUntil"
  | "due"
  | "epoch"
  | "leaseMs"
  | "holder"
  | "stoppable"
  | "waiterId",
  WriteReply
> = defineScript("createRun", {
  keys: ["run", "journal", "waiters", "due"],
  args: [
    "clock",
    "runId",
    "revision",
    "origin",
    "head",
    "keptUntil",
    "due",
    "epoch",
    "leaseMs",
    "holder",
    "stoppable",
    "waiterId",
  ],
  rest: "entries",
  parse: parseWrite,
});

export const createKeyedRun: Script<
  "run" | "waiters" | "due" | "idempotency" | "previous" | "previousJournal",
  | "clock"
  | "runId"
  | "revision"
  | "origin"
  | "head"
  | "keptUntil"
  | "due"
  | "leaseMs"
  | "holder"
  | "waiterId"
  | "previousId"
  | "previousRevision"
  | "previousHead",
  WriteReply
> = defineScript("createKeyedRun", {
  keys: ["run", "waiters", "due", "idempotency", "previous", "previousJournal"],
  args: [
    "clock",
    "runId",
    "revision",
    "origin",
    "head",
    "keptUntil",
    "due",
    "leaseMs",
    "holder",
    "waiterId",
    "previousId",
    "previousRevision",
    "previousHead",
  ],
  parse: parseWrite,
});

export const appendEntries: Script<
  "run" | "journal" | "waiters" | "due" | "idempotency",
  "clock" | "runId" | "revision" | "head" | "leaseMs" | "keptUntil" | "renewal",
  WriteReply
> = defineScript("appendEntries", {
  keys: ["run", "journal", "waiters", "due", "idempotency"],
  args: ["clock", "runId", "revision", "head", "leaseMs", "keptUntil", "renewal"],
  rest: "entries",
  parse: parseWrite,
});

export const settleRun: Script<
  "run" | "journal" | "waiters" | "watchers" | "due" | "idempotency",
  | "clock"
  | "runId"
  | "revision"
  | "head"
  | "keptUntil"
  | "due"
  | "epoch"
  | "guard"
  | "waiterId"
  | "cutAt"
  | "channels"
  | "news",
  WriteReply
> = defineScript("settleRun", {
  keys: ["run", "journal", "waiters", "watchers", "due", "idempotency"],
  args: [
    "clock",
    "runId",
    "revision",
    "head",
    "keptUntil",
    "due",
    "epoch",
    "guard",
    "waiterId",
    "cutAt",
    "channels",
    "news",
  ],
  rest: "entries",
  parse: parseWrite,
});

export const cancelRun: Script<
  "run" | "journal" | "waiters" | "watchers" | "due" | "idempotency",
  | "clock"
  | "runId"
  | "revision"
  | "head"
  | "keptUntil"
  | "due"
  | "epoch"
  | "keepsLease"
  | "channels"
  | "news"
  | "stop",
  WriteReply
> = defineScript("cancelRun", {
  keys: ["run", "journal", "waiters", "watchers", "due", "idempotency"],
  args: [
    "clock",
    "runId",
    "revision",
    "head",
    "keptUntil",
    "due",
    "epoch",
    "keepsLease",
    "channels",
    "news",
    "stop",
  ],
  parse: parseWrite,
});

export const giveAttempt: Script<
  "run" | "journal" | "waiters" | "watchers" | "due" | "idempotency",
  | "clock"
  | "runId"
  | "revision"
  | "head"
  | "keptUntil"
  | "due"
  | "epoch"
  | "leaseMs"
  | "holder"
  | "stoppable"
  | "waiters"
  | "waiterId"
  | "again"
  | "cutAt"
  | "leadsHere"
  | "channels"
  | "news",
  WriteReply
> = defineScript("giveAttempt", {
  keys: ["run", "journal", "waiters", "watchers", "due", "idempotency"],
  args: [
    "clock",
    "runId",
    "revision",
    "head",
    "keptUntil",
    "due",
    "epoch",
    "leaseMs",
    "holder",
    "stoppable",
    "waiters",
    "waiterId",
    "again",
    "cutAt",
    "leadsHere",
    "channels",
    "news",
  ],
  parse: parseWrite,
});

export const joinAttempt: Script<
  "run" | "waiters",
  "clock" | "epoch" | "waiterId" | "holder",
  WriteReply
> = defineScript("joinAttempt", {
  keys: ["run", "waiters"],
  args: ["clock", "epoch", "waiterId", "holder"],
  parse: parseWrite,
});

export const leaveAttempt: Script<
  "run" | "waiters" | "watchers",
  "epoch" | "waiterId" | "channels" | "news" | "stop",
  LeaveScriptReply
> = defineScript("leaveAttempt", {
  keys: ["run", "waiters", "watchers"],
  args: ["epoch", "waiterId", "channels", "news", "stop"],
  parse: ([tag, stopping]) => {
    if (tag === "GONE" || tag === "LAST") return { tag };
    return tag === "OK" ? { tag, stopping: stopping === 1 } : undefined;
  },
});

export const watchAttempt: Script<
  "run" | "watchers",
  "clock" | "epoch" | "instance" | "keptMs",
  WatchReply
> = defineScript("watchAttempt", {
  keys: ["run", "watchers"],
  args: ["clock", "epoch", "instance", "keptMs"],
  parse: ([tag, now, until]) => {
    if (typeof now !== "number") return undefined;
    if (tag === "GONE") return { tag, now };
    if (tag !== "STANDS") return undefined;
    return { tag, now, leaseUntil: until === "" ? undefined : Number(until) };
  },
});

export const removeRun: Script<
  "run" | "journal" | "waiters" | "watchers" | "due" | "idempotency",
  "runId" | "revision",
  boolean
> = defineScript("removeRun", {
  keys: ["run", "journal", "waiters", "watchers", "due", "idempotency"],
  args: ["runId", "revision"],
  parse: ([tag]) => (tag === "REMOVED" ? true : tag === "KEPT" ? false : undefined),
});

export const noteWaiting: Script<"waiting", "runId" | "bytes" | "keptMs", true> = defineScript(
  "noteWaiting",
  {
    keys: ["waiting"],
    args: ["runId", "bytes", "keptMs"],
    parse: ([tag]) => (tag === "OK" ? true : undefined),
  },
);
