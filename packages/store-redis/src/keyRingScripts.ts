/**
 * The key ring's keys and scripts. Called by keyRingStore.ts only.
 *
 * One hash tag for the whole ring: a reading must see keys and tombstones of one moment.
 */
import type { RingContents, RingEntry, RingReading } from "@reprise/request-state";
import { Keys } from "./keys.ts";
import { defineScript, type Script } from "./script.ts";

/** The ring's keys in one namespace. */
export type KeyRingKeys = Readonly<Record<"keys" | "tombstones" | "ends" | "facts", string>>;

/** Names the ring's keys, and the channel on which its changes are announced. @throws TypeError for the namespace */
export function keyRingNames(namespace: string): { readonly keys: KeyRingKeys; channel: string } {
  const tag = `${new Keys(namespace).prefix}keyring}:`;
  return {
    keys: {
      keys: `${tag}keys`,
      tombstones: `${tag}tombstones`,
      ends: `${tag}ends`,
      facts: `${tag}facts`,
    },
    channel: `${tag}changed`,
  };
}

type AnyKey = keyof KeyRingKeys;

/** Reads everything, or only the time. */
export const readKeyRing: Script<AnyKey, "knownVersion", RingReading> = defineScript(
  "readKeyRing",
  { keys: ["keys", "tombstones", "ends", "facts"], args: ["knownVersion"], parse: readingOf },
);

/** Adds keys; the reply names the kids that have a tombstone instead. */
export const publishRingKeys: Script<AnyKey, "entries" | "channel" | "sender", readonly string[]> =
  defineScript("publishRingKeys", {
    keys: ["keys", "tombstones", "ends", "facts"],
    args: ["entries", "channel", "sender"],
    parse: ([tag, kids]) =>
      tag === "PUBLISHED" && Array.isArray(kids) ? kids.map(String) : undefined,
  });

/** Adds tombstones and removes the keys of the same kids. */
export const revokeRingKeys: Script<AnyKey, "entries" | "channel" | "sender", true> = defineScript(
  "revokeRingKeys",
  {
    keys: ["keys", "tombstones", "ends", "facts"],
    args: ["entries", "channel", "sender"],
    parse: ([tag]) => (tag === "REVOKED" ? true : undefined),
  },
);

/** Asks every owner for a new key. */
export const requestKeyRotation: Script<"facts", "channel" | "sender", number> = defineScript(
  "requestKeyRotation",
  {
    keys: ["facts"],
    args: ["channel", "sender"],
    parse: ([tag, nowMs]) => (tag === "REQUESTED" ? wholeNumber(nowMs) : undefined),
  },
);

/** Entries as the scripts take them. */
export function entriesArgument(entries: readonly RingEntry[]): string {
  return JSON.stringify(entries.map(({ kid, text, endsAtMs }) => [kid, text, endsAtMs]));
}

function readingOf([tag, now, ...facts]: readonly unknown[]): RingReading | undefined {
  const nowMs = wholeNumber(now);
  if (nowMs === undefined) return undefined;
  if (tag === "SAME") return { nowMs, contents: undefined };
  const contents = tag === "RING" ? contentsOf(facts) : undefined;
  return contents === undefined ? undefined : { nowMs, contents };
}

function contentsOf([version, born, rotateBefore, ...lists]: readonly unknown[]):
  | RingContents
  | undefined {
  const bornAtMs = wholeNumber(born);
  const rotateBeforeMs = wholeNumber(rotateBefore);
  const [keys, tombstones, ends] = lists.map(pairsOf);
  if (typeof version !== "string" || bornAtMs === undefined || rotateBeforeMs === undefined) {
    return undefined;
  }
  if (keys === undefined || tombstones === undefined || ends === undefined) return undefined;
  const entries = (texts: ReadonlyMap<string, string>): RingEntry[] =>
    [...texts].map(([kid, text]) => {
      // Without an end, which no script leaves behind, a tombstone must not be taken for one that has ended.
      const endsAtMs = wholeNumber(ends.get(kid)) ?? Number.MAX_SAFE_INTEGER;
      return { kid, text, endsAtMs };
    });
  return {
    keys: entries(keys),
    tombstones: entries(tombstones),
    version,
    bornAtMs,
    rotateBeforeMs,
  };
}

/** A list of names and values in turn. */
function pairsOf(list: unknown): ReadonlyMap<string, string> | undefined {
  if (!Array.isArray(list)) return undefined;
  const pairs = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) pairs.set(String(list[at]), String(list[at + 1]));
  return pairs;
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return Number.isSafeInteger(number) ? Number(number) : undefined;
}
