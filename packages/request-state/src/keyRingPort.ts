/**
 * The port between the ring's rules and where the ring lies: four commands and two events.
 *
 * The rules (keyRing.ts) call it; an adapter (Redis) implements it. An adapter moves texts and knows nothing of
 * secrets, lives or owners.
 *
 * 1. A kid has one text for ever. `publish` never replaces one, so a repeated publication changes nothing.
 * 2. A tombstone wins, whatever comes first: `publish` never brings back a kid that has one.
 * 3. Every command settles in bounded time (some seconds); a rejection means that the ring could not be reached.
 */

/** One member of the ring: a key or a tombstone. */
export interface RingEntry {
  readonly kid: string;
  /** Opaque to the adapter. */
  readonly text: string;
  /** Server time in epoch milliseconds from which on the ring may drop it. */
  readonly endsAtMs: number;
}

/** All that the ring holds. */
export interface RingContents {
  readonly keys: readonly RingEntry[];
  readonly tombstones: readonly RingEntry[];
  /** Changes with every change of the ring, and is another one after the ring was lost and began anew. */
  readonly version: string;
  /** Server time at which this ring began: a young one may lack what is still being published again. */
  readonly bornAtMs: number;
  /** Owners of keys made before this server time are asked to make new ones. 0: never asked. */
  readonly rotateBeforeMs: number;
}

/** What a reading of the ring gives. */
export interface RingReading {
  /** Server time in epoch milliseconds. */
  readonly nowMs: number;
  /** Undefined: the ring still has the version that the reader named. */
  readonly contents: RingContents | undefined;
}

/** Where a ring lies. */
export interface KeyRingStore {
  /** Reads the ring; nothing but the time when it still has `knownVersion`. */
  read(knownVersion: string | undefined): Promise<RingReading>;
  /** Adds keys; resolves once they are acknowledged. The reply names the kids that have a tombstone instead. */
  publish(keys: readonly RingEntry[]): Promise<readonly string[]>;
  /** Adds tombstones and removes the keys of the same kids. */
  revoke(tombstones: readonly RingEntry[]): Promise<void>;
  /** Asks every owner for a new key; resolves to the new `rotateBeforeMs`. */
  requestRotation(): Promise<number>;
  /**
   * `changed`: another process changed the ring. `reconnected`: the connection is new, perhaps to another server.
   * Both may be late, doubled or lost. Returns how to end it.
   */
  listen(listener: (event: "changed" | "reconnected") => void): () => void;
}

/** Time as a port; the runtime's `Clock` has this shape. */
export interface KeyRingClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never goes back, nor stops while the process is stopped. */
  monotonic(): number;
  /** Runs `work` once after `ms`; returns how to call it off. */
  after(ms: number, work: () => void): () => void;
}

/** Where a ring reports what operators should know; pino's shape. No line holds a secret. */
export interface KeyRingLogger {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}
