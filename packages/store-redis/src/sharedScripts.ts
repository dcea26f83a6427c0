/**
 * The scripts of shared records. What each does, its keys, arguments and replies: the header of its file in `lua/`.
 */
import { defineScript, type Script } from "./script.ts";

/** A record's value as it stands in Redis. */
type ReadReply =
  | { readonly tag: "RECORD"; readonly revision: string; readonly value: string }
  | { readonly tag: "NONE" };

/** Items as they stand in Redis. */
interface PartReply {
  readonly last: number;
  /** Number of the first of the texts. */
  readonly first: number;
  readonly texts: readonly string[];
}

function parseRecord([tag, revision, value]: readonly unknown[]): ReadReply | undefined {
  if (tag === "NONE") return { tag };
  const isWhole = typeof revision === "string" && typeof value === "string";
  return tag === "RECORD" && isWhole ? { tag, revision, value } : undefined;
}

function parsePart([tag, last, first, texts]: readonly unknown[]): PartReply | undefined {
  if (tag !== "PART" || typeof last !== "number" || typeof first !== "number") return undefined;
  return Array.isArray(texts) ? { last, first, texts: texts.map(String) } : undefined;
}

export const readSharedRecord: Script<"record", "clock", ReadReply> = defineScript(
  "readSharedRecord",
  { keys: ["record"], args: ["clock"], parse: parseRecord },
);

export const putSharedRecord: Script<
  "record",
  "clock" | "expected" | "revision" | "value" | "expiresAt" | "aheadMs",
  "WRITTEN" | "CONFLICT"
> = defineScript("putSharedRecord", {
  keys: ["record"],
  args: ["clock", "expected", "revision", "value", "expiresAt", "aheadMs"],
  parse: ([tag]) => (tag === "WRITTEN" || tag === "CONFLICT" ? tag : undefined),
});

export const removeSharedRecord: Script<
  "record",
  "clock" | "expected" | "mark" | "keptMs",
  "REMOVED" | "CONFLICT"
> = defineScript("removeSharedRecord", {
  keys: ["record"],
  args: ["clock", "expected", "mark", "keptMs"],
  parse: ([tag]) => (tag === "REMOVED" || tag === "CONFLICT" ? tag : undefined),
});

export const appendToLog: Script<
  "log" | "items",
  "clock" | "mark" | "expiresAt" | "keep" | "aheadMs",
  number
> = defineScript("appendToLog", {
  keys: ["log", "items"],
  args: ["clock", "mark", "expiresAt", "keep", "aheadMs"],
  rest: "items",
  parse: ([tag, last]) => (tag === "APPENDED" && typeof last === "number" ? last : undefined),
});

export const readLog: Script<"log" | "items", "clock" | "after" | "limit", PartReply> =
  defineScript("readLog", {
    keys: ["log", "items"],
    args: ["clock", "after", "limit"],
    parse: parsePart,
  });
