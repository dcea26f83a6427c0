/**
 * The ring of request state keys in Redis, as a process joins it and as an operator sees it.
 *
 * Composition roots call it: `openKeyRing` gives the sealer its keys where no `requestStateKey` is configured;
 * `openKeyRingAdmin` is behind `reprise keys`. The rules are those of `joinKeyRing`.
 */
import { hostname } from "node:os";
import {
  createKeyRingAdmin,
  joinKeyRing,
  type KeyRing,
  type KeyRingAdmin,
  type KeyRingLogger,
  type KeyRingStore,
  type KeySource,
  readKeyRing,
  type Secrets,
} from "@reprise/request-state";
import { type Clock, type Duration, durationMs, systemClock } from "@reprise/runtime";
import type { RedisConnection } from "./connection.ts";
import { createRedisKeyRingStore } from "./keyRingStore.ts";

/** Where a ring lies. */
export interface KeyRingAddress {
  /** Shared with the store; stays the caller's. */
  readonly connection: Pick<RedisConnection, "client" | "duplicate">;
  /** Part of every key; A-Z a-z 0-9 _ . - only. Default `reprise`; processes of one deployment give the same. */
  readonly namespace?: string | undefined;
}

/** Options of `openKeyRing`. */
export interface KeyRingOpenOptions extends KeyRingAddress {
  /**
   * Secrets of at least 32 bytes: the first wraps the keys that this process publishes, all unwrap. Absent: keys lie
   * readable in Redis, and whoever reads it can seal states. An empty list is refused.
   */
  readonly keyEncryptionKey?: Secrets | undefined;
  /** How long a key seals before the next one. Default `"24h"`, at least a minute. */
  readonly keyRotationInterval?: Duration | undefined;
  /** The runtime's. Default `"24h"`; a state that lives longer can't be sealed. */
  readonly requestStateLifetime?: Duration | undefined;
  /** Names this process to operators. Default `<host name>:<process id>`. */
  readonly owner?: string | undefined;
  /** Default: the process's own clock. */
  readonly clock?: Clock | undefined;
  /** Default: nowhere. */
  readonly logger?: KeyRingLogger | undefined;
}

/** A process's membership in a ring that lies in Redis. */
export type RedisKeyRing = KeyRing;

/**
 * Joins the ring; resolves once a key of this process is published. `close` leaves the connection open.
 *
 * @throws TypeError, RangeError or RepriseError CONFIG_INVALID naming the option that can't be used
 * @throws RepriseError REQUEST_STATE_UNAVAILABLE when Redis can't be reached; nothing is left running
 */
export async function openKeyRing(options: KeyRingOpenOptions): Promise<RedisKeyRing> {
  const { keyEncryptionKey, keyRotationInterval = "24h", requestStateLifetime = "24h" } = options;
  const { owner = `${hostname()}:${process.pid}`, clock = systemClock, logger } = options;
  return await joinKeyRing({
    store: storeAt(options),
    clock,
    owner,
    keyEncryptionKey,
    keyRotationIntervalMs: durationMs(keyRotationInterval, "keyRotationInterval"),
    requestStateLifetimeMs: durationMs(requestStateLifetime, "requestStateLifetime"),
    logger,
  });
}

/** The operator's view of the ring: needs no secret, makes no key, holds nothing that has to be closed. */
export function openKeyRingAdmin(address: KeyRingAddress): KeyRingAdmin {
  return createKeyRingAdmin(storeAt(address));
}

/**
 * The keys that lie in the ring now, for a command that opens a token and ends.
 * @param keyEncryptionKey as the instances have it
 * @throws RepriseError REQUEST_STATE_UNAVAILABLE, CONFIG_INVALID
 */
export async function openKeyRingReading(
  address: KeyRingAddress,
  keyEncryptionKey?: Secrets,
): Promise<Pick<KeySource, "find">> {
  return await readKeyRing(storeAt(address), keyEncryptionKey);
}

function storeAt({ connection, namespace = "reprise" }: KeyRingAddress): KeyRingStore {
  return createRedisKeyRingStore(connection, namespace);
}
