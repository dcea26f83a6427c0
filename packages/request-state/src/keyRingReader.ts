/**
 * The keys of a ring for one who only looks: publishes nothing, joins nothing, holds what one reading gave.
 *
 * For commands of operators that end at once. A server joins the ring instead: its keys change.
 */
import { RepriseError } from "@reprise/errors";
import { KeyRingHoldings } from "./keyRingHoldings.ts";
import type { KeyRingStore } from "./keyRingPort.ts";
import type { KeySource } from "./keys.ts";
import type { Secrets } from "./secrets.ts";
import { createKeyWrapping } from "./textWrapping.ts";

/**
 * Reads the ring once. `find` gives "unavailable" for a key that lies there and can't be read: it is wrapped by another secret,
 * or altered.
 * @param keyEncryptionKey as the instances have it; undefined: wrapped keys can't be read
 * @throws RepriseError REQUEST_STATE_UNAVAILABLE when the ring can't be reached, CONFIG_INVALID for a secret that can't be one
 */
export async function readKeyRing(
  store: KeyRingStore,
  keyEncryptionKey?: Secrets,
): Promise<Pick<KeySource, "find">> {
  const holdings = new KeyRingHoldings(
    keyEncryptionKey === undefined ? undefined : createKeyWrapping(keyEncryptionKey),
  );
  try {
    const { nowMs, contents } = await store.read(undefined);
    if (contents !== undefined) holdings.adopt(contents, nowMs);
  } catch (cause) {
    throw new RepriseError("REQUEST_STATE_UNAVAILABLE", "The key ring can't be reached.", {
      cause,
    });
  }
  return {
    find(kid) {
      const held = holdings.key(kid);
      if (held !== undefined) return held.key;
      return holdings.isUnreadable(kid) ? Promise.resolve("unavailable") : undefined;
    },
  };
}
