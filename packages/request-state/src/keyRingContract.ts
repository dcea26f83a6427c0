/**
 * What a process and an operator see of the key ring. Types only; keyRing.ts and keyRingAdmin.ts implement them.
 */
import type { KeyRingClock, KeyRingLogger, KeyRingStore } from "./keyRingPort.ts";
import type { KeySource } from "./keys.ts";
import type { Secrets } from "./secrets.ts";

/**
 * What a key of the ring is good for:
 * - `sealing`: its owner may still seal with it
 * - `opening`: opens what it sealed
 * - `ended`: its last state can no longer be accepted; the ring drops it
 * - `revoked`: an operator took it away
 * - `unreadable`: a text that shows no facts (damaged, or of a newer release)
 */
export type RingKeyStatus = "sealing" | "opening" | "ended" | "revoked" | "unreadable";

/** A key of the ring as an operator sees it. Times are epoch milliseconds by the ring's clock. */
export interface RingKeyListing {
  readonly kid: string;
  readonly status: RingKeyStatus;
  /** The process that made it; absent when revoked or unreadable. */
  readonly owner?: string;
  readonly createdAtMs?: number;
  readonly sealsUntilMs?: number;
  /** Opens nothing from then on. */
  readonly opensUntilMs?: number;
  /** Whether it lies in the ring under a `keyEncryptionKey`. */
  readonly wrapped?: boolean;
  readonly revokedAtMs?: number;
}

/** What came of a revocation. */
export interface RevocationReport {
  /** Whether the ring had a key of that kid. The tombstone is set either way. */
  readonly known: boolean;
}

/** A process's membership in the ring. */
export interface KeyRing extends KeySource {
  /** The keys that this process holds, newest first. */
  list(): readonly RingKeyListing[];
  /**
   * Makes this process a new key now; resolves to its kid once it seals.
   * @throws RepriseError REQUEST_STATE_UNAVAILABLE when the ring can't be reached.
   */
  rotate(): Promise<string>;
  /**
   * Takes a key away for ever, here at once and everywhere within 10 s of the ring being reachable.
   * @throws RangeError when `kid` has not the form of one.
   * @throws RepriseError REQUEST_STATE_UNAVAILABLE when the ring can't be reached; nothing is revoked then.
   */
  revoke(kid: string): Promise<RevocationReport>;
  /** Stops looking at the ring. What is held goes on sealing and opening for a minute, for requests that end. */
  close(): Promise<void>;
}

/** Options of `joinKeyRing`. */
export interface KeyRingOptions {
  readonly store: KeyRingStore;
  readonly clock: KeyRingClock;
  /** Names this process to operators, such as `host:pid`. At most 200 characters. */
  readonly owner: string;
  /** One or a list of at least 32 bytes: the first wraps this process's keys, all unwrap. Absent: keys lie plain in the ring. */
  readonly keyEncryptionKey?: Secrets | undefined;
  /** How long a key seals before the next one, in milliseconds; default 24 hours, at least a minute. */
  readonly keyRotationIntervalMs?: number | undefined;
  /** `requestStateLifetime` of the runtime, in milliseconds; default 24 hours. A longer one there can't be sealed. */
  readonly requestStateLifetimeMs?: number | undefined;
  readonly logger?: KeyRingLogger | undefined;
}

/** What an operator can do without being a member: no key is made, no secret is needed. */
export interface KeyRingAdmin {
  /** All keys and tombstones of the ring, newest first. */
  list(): Promise<readonly RingKeyListing[]>;
  /** Asks every process for a new key; each makes one with its next look. Resolves to the ring's time of the request. */
  rotate(): Promise<number>;
  /** As `KeyRing.revoke`. */
  revoke(kid: string): Promise<RevocationReport>;
}
