/**
 * How members of the ring look to operators. Called by the member and by the admin; shows no secret and proves nothing:
 * the facts are what the ring says.
 */
import { opensUntilMs } from "./keyLife.ts";
import type { RingKeyListing } from "./keyRingContract.ts";
import type { RingEntry } from "./keyRingPort.ts";
import { revokedAtMs, shownFacts } from "./keyRingRecord.ts";

/** Keys and tombstones at `nowMs`: newest first, and last what shows no time. */
export function listing(
  keys: readonly RingEntry[],
  tombstones: readonly RingEntry[],
  nowMs: number,
): readonly RingKeyListing[] {
  const buried = new Set(tombstones.map(({ kid }) => kid));
  const listed = keys
    .filter(({ kid }) => !buried.has(kid))
    .map((entry) => listingOfKey(entry, nowMs))
    .toSorted(byAge);
  const sealing = new Set<string>();
  const newestOfOwner = listed.map((item) => {
    if (item.status !== "sealing" || item.owner === undefined) return item;
    // A process seals with its newest key only.
    if (sealing.has(item.owner)) return { ...item, status: "opening" as const };
    sealing.add(item.owner);
    return item;
  });
  return [...newestOfOwner, ...tombstones.map(listingOfTombstone)].toSorted(byAge);
}

function listingOfKey(entry: RingEntry, nowMs: number): RingKeyListing {
  const facts = shownFacts(entry);
  if (facts === undefined) return { kid: entry.kid, status: "unreadable" };
  const { owner, createdAtMs, sealsUntilMs, newestExpiryMs, wrapped } = facts;
  const endsAtMs = opensUntilMs({ newestExpiryMs, revoked: false });
  const opening = nowMs < endsAtMs ? "opening" : "ended";
  return {
    kid: entry.kid,
    status: nowMs < sealsUntilMs ? "sealing" : opening,
    owner,
    createdAtMs,
    sealsUntilMs,
    opensUntilMs: endsAtMs,
    wrapped,
  };
}

function listingOfTombstone(tombstone: RingEntry): RingKeyListing {
  const at = revokedAtMs(tombstone);
  return {
    kid: tombstone.kid,
    status: "revoked",
    ...(at === undefined ? {} : { revokedAtMs: at }),
  };
}

function byAge(a: RingKeyListing, b: RingKeyListing): number {
  const timeOf = ({ createdAtMs, revokedAtMs: at }: RingKeyListing): number =>
    createdAtMs ?? at ?? 0;
  return timeOf(b) - timeOf(a);
}
