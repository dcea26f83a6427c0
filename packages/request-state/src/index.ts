/**
 * @reprise/request-state: the cryptographic envelope of request states, and the rules of its keys.
 */
export type { StateBinding } from "./binding.ts";
export type { SealedPayload } from "./claims.ts";
export type {
  OpenInput,
  OpenReply,
  SealInput,
  StateRefusalCause,
  StateSealer,
} from "./contract.ts";
export type { KeyLife, KeyStanding } from "./keyLife.ts";
export { maySeal, OPENS_AFTER_EXPIRY_MS, opensUntilMs, standingOf } from "./keyLife.ts";
export { ephemeralKeys, keysFromSecrets } from "./keySources.ts";
export type { KeySource, OpeningKey, SealingKey } from "./keys.ts";
export { deriveKey } from "./keys.ts";
export type { StateSealerOptions } from "./sealer.ts";
export { createStateSealer } from "./sealer.ts";
