/**
 * The scripts of shared records. What each does, its keys, arguments and replies: the header of its file in `lua/`.
 */
import type { LogPart, SharedRecord } from "@reprise/runtime";
import { defineScript, type Script } from "./script.ts";

/** Undefined within the reply: none stands. */
interface ReadReply {
  readonly record: SharedRecord | undefined;
}

function parseRecord([tag, revision, value]: readonly unknown[]): ReadReply | undefined {
  if (tag === "NONE") return { record: undefined };
  if (tag !== "RECORD" || typeof revision !== "string" || typeof value !== "string") {
    return undefined;
  }
  return { record: { revision, value: JSON.parse(value) as SharedRecord["value"] } };
}

function parsePart([tag, last, first, texts]: readonly unknown[]): LogPart | undefined {
  if (tag !== "PART" || typeof last !== "number" || typeof first !== "number") return undefined;
  if (!Array.isArray(texts)) return undefined;
  const items = texts.map((text, index) => ({ number: first + index, text: String(text) }));
  return { items, last };
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

export const readLog: Script<"log" | "items", "clock" | "after" | "limit", LogPart> = defineScript(
  "readLog",
  { keys: ["log", "items"], args: ["clock", "after", "limit"], parse: parsePart },
);
