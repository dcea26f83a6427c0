/**
 * The options of the ring, judged once.
 */
import type { KeyRingOptions } from "./keyRingContract.ts";
import type { KeyRingClock, KeyRingLogger, KeyRingStore } from "./keyRingPort.ts";
import { createKeyWrapping, type TextWrapping } from "./textWrapping.ts";

/** Options with their defaults. */
export interface RingSettings {
  readonly store: KeyRingStore;
  readonly clock: KeyRingClock;
  readonly owner: string;
  readonly wrapping: TextWrapping | undefined;
  readonly rotationMs: number;
  readonly lifetimeMs: number;
  readonly logger: KeyRingLogger;
}

const DAY_MS = 86_400_000;
/** Each key stays in the ring for a month: a shorter interval is surely a mistaken unit, and would fill it. */
const LEAST_ROTATION_MS = 60_000;
const MAX_OWNER_LENGTH = 200;

const nothing = (): void => undefined;
const silent: KeyRingLogger = { info: nothing, warn: nothing, error: nothing };

/** @throws TypeError, RangeError or RepriseError CONFIG_INVALID naming the option that can't be used. */
export function checkedSettings(options: KeyRingOptions): RingSettings {
  const { store, clock, owner, keyEncryptionKey, logger = silent } = options;
  const { keyRotationIntervalMs = DAY_MS, requestStateLifetimeMs = DAY_MS } = options;
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_LENGTH) {
    throw new TypeError(`owner must be a text of 1 to ${MAX_OWNER_LENGTH} characters`);
  }
  if (!Number.isSafeInteger(keyRotationIntervalMs) || keyRotationIntervalMs < LEAST_ROTATION_MS) {
    throw new RangeError(
      `keyRotationInterval must be whole milliseconds, at least ${LEAST_ROTATION_MS}`,
    );
  }
  if (!Number.isSafeInteger(requestStateLifetimeMs) || requestStateLifetimeMs <= 0) {
    throw new RangeError("requestStateLifetime must be whole milliseconds above 0");
  }
  return {
    store,
    clock,
    owner,
    wrapping: keyEncryptionKey === undefined ? undefined : createKeyWrapping(keyEncryptionKey),
    rotationMs: keyRotationIntervalMs,
    lifetimeMs: requestStateLifetimeMs,
    logger,
  };
}
