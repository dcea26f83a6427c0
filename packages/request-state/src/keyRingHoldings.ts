/**
 * What one process holds of the ring: every key that it can use, every tombstone, and what it could not read.
 *
 * The ring (keyRing.ts) calls it with each reading. No clock and no I/O; times come in.
 *
 * 1. A tombstone is for ever: once seen, no reading and no publication makes the key good again here.
 * 2. What was held, has not ended and is missing from a reading was lost by the ring (a restart without
 *    persistence, a failover): it stays held, and `adopt` names it so that it can be published again. Nothing else
 *    makes a key disappear, because the ring drops only what has ended by its own clock.
 * 3. The first text of a kid stands: a later one under the same kid was not written by its owner.
 */
import type { RingContents, RingEntry } from "./keyRingPort.ts";
import { type RingKey, type RingKeyFault, readRingKey } from "./keyRingRecord.ts";
import type { TextWrapping } from "./textWrapping.ts";

/** What a reading tells its reader to do. */
export interface Adoption {
  readonly lostKeys: readonly RingEntry[];
  readonly lostTombstones: readonly RingEntry[];
  /** Texts that give no key here and were not reported before. */
  readonly faults: readonly { readonly kid: string; readonly fault: RingKeyFault }[];
  /** Kids that this reading revoked. */
  readonly revoked: readonly string[];
}

interface Unreadable {
  readonly text: string;
  readonly fault: RingKeyFault;
}

/** The ring as one process knows it. */
export class KeyRingHoldings {
  readonly #wrapping: TextWrapping | undefined;
  readonly #keys = new Map<string, RingKey>();
  readonly #tombstones = new Map<string, RingEntry>();
  #unreadable: ReadonlyMap<string, Unreadable> = new Map();

  constructor(wrapping: TextWrapping | undefined) {
    this.#wrapping = wrapping;
  }

  /** The key of a kid; after its revocation with a life that says so. */
  key(kid: string): RingKey | undefined {
    return this.#keys.get(kid);
  }

  keys(): readonly RingKey[] {
    return [...this.#keys.values()];
  }

  tombstones(): readonly RingEntry[] {
    return [...this.#tombstones.values()];
  }

  isRevoked(kid: string): boolean {
    return this.#tombstones.has(kid);
  }

  /** Whether the ring has something under this kid that gives no key here. */
  isUnreadable(kid: string): boolean {
    return this.#unreadable.has(kid);
  }

  /** Whether the ring has, or had, anything under this kid. */
  knows(kid: string): boolean {
    return this.#keys.has(kid) || this.isRevoked(kid) || this.isUnreadable(kid);
  }

  /** Adds a key whose publication was acknowledged. */
  add(key: RingKey): void {
    this.#keys.set(key.entry.kid, this.isRevoked(key.entry.kid) ? revokedForm(key) : key);
  }

  /** Adds a tombstone: an operator's, the ring's, or one that refused a publication. */
  bury(tombstone: RingEntry): void {
    const { kid } = tombstone;
    this.#tombstones.set(kid, tombstone);
    const key = this.#keys.get(kid);
    if (key !== undefined) this.#keys.set(kid, revokedForm(key));
  }

  /** Takes a reading in. */
  adopt(contents: RingContents, nowMs: number): Adoption {
    const revoked: string[] = [];
    for (const tombstone of contents.tombstones) {
      if (!this.isRevoked(tombstone.kid)) revoked.push(tombstone.kid);
      this.bury(tombstone);
    }
    const faults = this.#read(contents);
    this.dropEnded(nowMs);
    const keyThere = new Set(contents.keys.map(({ kid }) => kid));
    const tombstoneThere = new Set(contents.tombstones.map(({ kid }) => kid));
    return {
      lostKeys: this.keys()
        .map(({ entry }) => entry)
        .filter(({ kid }) => !keyThere.has(kid) && !this.isRevoked(kid)),
      lostTombstones: this.tombstones().filter(({ kid }) => !tombstoneThere.has(kid)),
      faults,
      revoked,
    };
  }

  /** Forgets what nothing needs any more. */
  dropEnded(nowMs: number): void {
    for (const [kid, { entry }] of this.#keys) if (entry.endsAtMs <= nowMs) this.#keys.delete(kid);
    for (const [kid, { endsAtMs }] of this.#tombstones) {
      if (endsAtMs <= nowMs) this.#tombstones.delete(kid);
    }
  }

  #read({ keys }: RingContents): { kid: string; fault: RingKeyFault }[] {
    const unreadable = new Map<string, Unreadable>();
    const fresh: { kid: string; fault: RingKeyFault }[] = [];
    for (const entry of keys) {
      const { kid, text } = entry;
      if (this.#keys.has(kid) || this.isRevoked(kid)) continue;
      const before = this.#unreadable.get(kid);
      const read = before?.text === text ? before.fault : readRingKey(entry, this.#wrapping);
      if (typeof read === "object") {
        this.#keys.set(kid, read);
        continue;
      }
      unreadable.set(kid, { text, fault: read });
      if (before?.text !== text) fresh.push({ kid, fault: read });
    }
    this.#unreadable = unreadable;
    return fresh;
  }
}

function revokedForm({ key, ...ringKey }: RingKey): RingKey {
  const life = { newestExpiryMs: ringKey.facts.newestExpiryMs, revoked: true };
  // Still found, so that the audit names a revoked key's states as such instead of as forgeries.
  return { ...ringKey, key: Object.freeze({ ...key, life }) };
}
