/**
 * The ring from outside: what `reprise keys` does. Needs no secret and leaves no key behind.
 */
import { RepriseError } from "@reprise/errors";
import { isKid } from "./form.ts";
import { opensUntilMs } from "./keyLife.ts";
import type { KeyRingAdmin } from "./keyRingContract.ts";
import { listing } from "./keyRingListing.ts";
import type { KeyRingStore, RingContents } from "./keyRingPort.ts";
import { makeTombstone, shownFacts } from "./keyRingRecord.ts";

/** The operator's view of a ring. Its methods reject with REQUEST_STATE_UNAVAILABLE when the ring can't be reached. */
export function createKeyRingAdmin(store: KeyRingStore): KeyRingAdmin {
  const read = async (): Promise<{ nowMs: number; contents: RingContents }> => {
    const { nowMs, contents } = await store.read(undefined);
    if (contents === undefined) throw new TypeError("the ring gave no contents to a first reader");
    return { nowMs, contents };
  };
  return {
    list: () =>
      reached(async () => {
        const { nowMs, contents } = await read();
        return listing(contents.keys, contents.tombstones, nowMs);
      }),
    rotate: () => reached(() => store.requestRotation()),
    revoke: async (kid) => {
      if (!isKid(kid)) throw new RangeError("kid must have 22 characters of base64url");
      return await reached(async () => {
        const { nowMs, contents } = await read();
        const entry = contents.keys.find((key) => key.kid === kid);
        const facts = entry === undefined ? undefined : shownFacts(entry);
        const endsAtMs = facts === undefined ? 0 : opensUntilMs({ ...facts, revoked: false });
        await store.revoke([makeTombstone(kid, nowMs, endsAtMs)]);
        const buried = contents.tombstones.some((tombstone) => tombstone.kid === kid);
        return { known: entry !== undefined || buried };
      });
    },
  };
}

async function reached<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (cause) {
    throw new RepriseError("REQUEST_STATE_UNAVAILABLE", "The key ring can't be reached.", {
      cause,
    });
  }
}
