/**
 * The scripts of history. What each does, its keys, arguments and replies: the header of its file in `lua/`.
 */
import { defineScript, type Script } from "./script.ts";

/** A run's keys, and the lists that it leaves and joins. */
export type HistoryKey =
  | "kept"
  | "timeline"
  | "all"
  | "allOfHandler"
  | "allOfPrincipal"
  | "left"
  | "leftOfHandler"
  | "leftOfPrincipal"
  | "stands"
  | "standsOfHandler"
  | "standsOfPrincipal"
  | "attention"
  | "attentionOfHandler"
  | "attentionOfPrincipal"
  | "open";

export const recordHistory: Script<
  HistoryKey,
  | "expected"
  | "text"
  | "keptMs"
  | "aheadMs"
  | "anew"
  | "leftEntry"
  | "attended"
  | "entry"
  | "attends"
  | "leftOpen"
  | "openEntry"
  | "since"
  | "dropFrom"
  | "dropUntil",
  "OK" | "CONFLICT"
> = defineScript("recordHistory", {
  keys: [
    "kept",
    "timeline",
    "all",
    "allOfHandler",
    "allOfPrincipal",
    "left",
    "leftOfHandler",
    "leftOfPrincipal",
    "stands",
    "standsOfHandler",
    "standsOfPrincipal",
    "attention",
    "attentionOfHandler",
    "attentionOfPrincipal",
    "open",
  ],
  args: [
    "expected",
    "text",
    "keptMs",
    "aheadMs",
    "anew",
    "leftEntry",
    "attended",
    "entry",
    "attends",
    "leftOpen",
    "openEntry",
    "since",
    "dropFrom",
    "dropUntil",
  ],
  rest: "chunks",
  parse: ([tag]) => (tag === "OK" || tag === "CONFLICT" ? tag : undefined),
});

export const beatInstance: Script<
  "instances" | "seen",
  "instance" | "text" | "seenAt" | "forgotten" | "keptMs",
  "OK"
> = defineScript("beatInstance", {
  keys: ["instances", "seen"],
  args: ["instance", "text", "seenAt", "forgotten", "keptMs"],
  parse: ([tag]) => (tag === "OK" ? tag : undefined),
});

export const addAudit: Script<"audit", "at" | "text" | "since" | "keptMs", "OK"> = defineScript(
  "addAudit",
  {
    keys: ["audit"],
    args: ["at", "text", "since", "keptMs"],
    parse: ([tag]) => (tag === "OK" ? tag : undefined),
  },
);
