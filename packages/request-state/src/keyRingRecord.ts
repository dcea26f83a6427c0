/**
 * What the ring keeps of a key, and of a key that was revoked: the texts and their parsers.
 *
 * The ring writes its own key with it and reads everyone's. A text comes from a database that others can write, so
 * it is judged like anything from outside.
 *
 * 1. A wrapped text repeats the key's facts under the seal, and both copies must agree: who can write the ring but
 *    lacks `keyEncryptionKey` can neither add a key nor make one live longer.
 * 2. With `keyEncryptionKey` a text that is not wrapped is not used, whoever wrote it. Otherwise 1 would be void.
 * 3. The kid must be the one that the secret gives: no text can put its secret under another key's name.
 */
import { randomBytes } from "node:crypto";
import { isTime } from "./claims.ts";
import { isKid } from "./form.ts";
import { OPENS_AFTER_EXPIRY_MS } from "./keyLife.ts";
import type { RingEntry } from "./keyRingPort.ts";
import { deriveKey, MIN_SECRET_BYTES, type SealingKey } from "./keys.ts";
import type { TextWrapping, UnwrapFault } from "./textWrapping.ts";

/** What everybody may know of a key in the ring. Times are epoch milliseconds. */
export interface RingKeyFacts {
  readonly kid: string;
  /** Names the process that made it. */
  readonly owner: string;
  readonly createdAtMs: number;
  /** Its owner seals with it no longer than this. */
  readonly sealsUntilMs: number;
  /** Latest expiry of any state that it seals. */
  readonly newestExpiryMs: number;
}

/** A key of the ring that can be used here. */
export interface RingKey {
  readonly entry: RingEntry;
  readonly facts: RingKeyFacts;
  readonly wrapped: boolean;
  readonly key: SealingKey;
}

/**
 * Why a text gives no key here:
 * - `format`: written by a release whose format this one does not know
 * - `damaged`: no text that a release writes, or under another kid
 * - `not_wrapped`: plain, while `keyEncryptionKey` is set here
 * - `wrapped`: wrapped, while no `keyEncryptionKey` is set here
 * - `wrapped_by_another`: by none of the secrets in `keyEncryptionKey`
 * - `altered`: wrapped by one of them, and changed since
 */
export type RingKeyFault = "format" | "damaged" | "not_wrapped" | "wrapped" | UnwrapFault;

/** The version that this release writes. It reads 1. */
const FORMAT_VERSION = 1;

/** Makes a key: random, published under the facts that `factsOf` gives it. */
export function makeRingKey(
  facts: Omit<RingKeyFacts, "kid">,
  wrapping: TextWrapping | undefined,
): RingKey {
  const secret = randomBytes(MIN_SECRET_BYTES);
  const life = { newestExpiryMs: facts.newestExpiryMs, revoked: false };
  const key = deriveKey(secret, life);
  const { owner, createdAtMs, sealsUntilMs, newestExpiryMs } = facts;
  const named = { kid: key.kid, owner, createdAtMs, sealsUntilMs, newestExpiryMs };
  const full = { ...named, secret: secret.toString("base64url") };
  const text =
    wrapping === undefined
      ? JSON.stringify({ v: FORMAT_VERSION, ...full })
      : JSON.stringify({
          v: FORMAT_VERSION,
          ...named,
          wrapped: wrapping.wrap(JSON.stringify(full)),
        });
  return {
    entry: { kid: key.kid, text, endsAtMs: endOf(named) },
    facts: named,
    wrapped: wrapping !== undefined,
    key,
  };
}

/** Reads a key that the ring gave under `entry.kid`. */
export function readRingKey(
  entry: RingEntry,
  wrapping: TextWrapping | undefined,
): RingKey | RingKeyFault {
  const json = parseObject(entry.text);
  if (json === undefined) return "damaged";
  if (json["v"] !== FORMAT_VERSION) return Number.isSafeInteger(json["v"]) ? "format" : "damaged";
  const facts = factsIn(json);
  if (facts === undefined || facts.kid !== entry.kid) return "damaged";
  const wrapped = json["wrapped"];
  let secret = json["secret"];
  if (wrapped === undefined) {
    if (wrapping !== undefined) return "not_wrapped";
  } else {
    if (wrapping === undefined) return "wrapped";
    const inside = typeof wrapped === "string" ? wrapping.unwrap(wrapped) : "altered";
    if (typeof inside === "string") return inside;
    const sealed = parseObject(inside.text);
    const sealedFacts = sealed === undefined ? undefined : factsIn(sealed);
    if (sealedFacts === undefined || !sameFacts(facts, sealedFacts)) return "altered";
    secret = sealed?.["secret"];
  }
  const bytes = typeof secret === "string" ? Buffer.from(secret, "base64url") : undefined;
  if (bytes === undefined || bytes.length < MIN_SECRET_BYTES) return "damaged";
  const key = deriveKey(bytes, { newestExpiryMs: facts.newestExpiryMs, revoked: false });
  if (key.kid !== facts.kid) return "damaged";
  return {
    // Not the entry's own end: whoever wrote the ring could have moved it.
    entry: { kid: entry.kid, text: entry.text, endsAtMs: endOf(facts) },
    facts,
    wrapped: wrapped !== undefined,
    key,
  };
}

/** The facts of a key as the ring shows them, without a proof; undefined when there are none to read. */
export function shownFacts(entry: RingEntry): (RingKeyFacts & { wrapped: boolean }) | undefined {
  const json = parseObject(entry.text);
  const facts = json === undefined ? undefined : factsIn(json);
  return facts === undefined ? undefined : { ...facts, wrapped: json?.["wrapped"] !== undefined };
}

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/**
 * The tombstone of a kid. It outlives whatever the key sealed; a kid that the ring does not show may lie in the
 * memory of a process that is cut off, so its tombstone is kept for a year.
 */
export function makeTombstone(kid: string, nowMs: number, keyEndsAtMs: number): RingEntry {
  const endsAtMs = Math.max(nowMs + YEAR_MS, keyEndsAtMs + DAY_MS);
  return { kid, text: JSON.stringify({ v: FORMAT_VERSION, revokedAtMs: nowMs }), endsAtMs };
}

/** When a tombstone was set; undefined when its text is of another release. It revokes all the same. */
export function revokedAtMs(tombstone: RingEntry): number | undefined {
  const at = parseObject(tombstone.text)?.["revokedAtMs"];
  return isTime(at) ? at : undefined;
}

const endOf = ({ newestExpiryMs }: RingKeyFacts): number => newestExpiryMs + OPENS_AFTER_EXPIRY_MS;

const sameFacts = (a: RingKeyFacts, b: RingKeyFacts): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

function factsIn(json: Readonly<Record<string, unknown>>): RingKeyFacts | undefined {
  const { kid, owner, createdAtMs, sealsUntilMs, newestExpiryMs } = json;
  if (typeof kid !== "string" || !isKid(kid) || typeof owner !== "string") return undefined;
  if (!isTime(createdAtMs) || !isTime(sealsUntilMs) || !isTime(newestExpiryMs)) return undefined;
  return { kid, owner, createdAtMs, sealsUntilMs, newestExpiryMs };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    // Whoever can write the ring can write nonsense into it.
    return undefined;
  }
}
