/**
 * Whether a refusal has a reason that the client knows: what happened to the fleet, or what it did itself.
 */
import type { Happening } from "./world.ts";

/** What the client did. */
export interface ClientDid {
  /** It asks another release now. */
  readonly deployed: boolean;
  /** It sent answers that differ from the person's. */
  readonly differed: boolean;
}

/** Whether a reply with this code can be. */
export function isExplained(code: string, log: readonly Happening[], did: ClientDid): boolean {
  const happened = (...what: string[]): boolean => log.some(({ is }) => what.includes(is));
  switch (code) {
    case "ANSWER_SETTLED":
      return did.differed;
    case "JOURNAL_MISMATCH":
      return did.deployed;
    case "STORE_UNAVAILABLE":
      return happened("storeFailed");
    case "INTERRUPTED":
      return happened("gone");
    case "IN_FLIGHT":
      // Handlers that don't fit stall one after the other, each for as long as the engine has patience.
      return did.deployed || happened("paused", "gone", "crashed", "storeFailed", "network");
    case "RUN_PARKED":
      return happened("paused", "crashed", "storeFailed");
    case "RUN_EXPIRED":
    case "REQUEST_STATE_INVALID":
      return happened("expired");
    case "RUN_CANCELLED":
      return happened("cancelled");
    default:
      return false;
  }
}
