/**
 * @reprise/request-state: the cryptographic envelope of request states, and the rules of its keys; and the judgement of
 * access tokens that others signed, because jose lives here.
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
export type { SealVerdict, StateInspection } from "./inspectState.ts";
export { inspectState } from "./inspectState.ts";
export type { IssuerKeys, IssuerKeysOptions, TokenClock, VerificationKey } from "./issuerKeys.ts";
export { createIssuerKeys, KeysUnavailable } from "./issuerKeys.ts";
export type { KeyLife, KeyStanding } from "./keyLife.ts";
export { maySeal, OPENS_AFTER_EXPIRY_MS, opensUntilMs, standingOf } from "./keyLife.ts";
export { joinKeyRing } from "./keyRing.ts";
export { createKeyRingAdmin } from "./keyRingAdmin.ts";
export type {
  KeyRing,
  KeyRingAdmin,
  KeyRingOptions,
  RevocationReport,
  RingKeyListing,
  RingKeyStatus,
} from "./keyRingContract.ts";
export type {
  KeyRingClock,
  KeyRingLogger,
  KeyRingStore,
  RingContents,
  RingEntry,
  RingReading,
} from "./keyRingPort.ts";
export { readKeyRing } from "./keyRingReader.ts";
export { ephemeralKeys, keysFromSecrets } from "./keySources.ts";
export type { KeySource, OpeningKey, SealingKey } from "./keys.ts";
export { deriveKey } from "./keys.ts";
export type { StateSealerOptions } from "./sealer.ts";
export { createStateSealer } from "./sealer.ts";
export type { Secrets } from "./secrets.ts";
export type {
  TokenRefusalCause,
  TokenVerdict,
  TokenVerifier,
  TokenVerifierOptions,
  VerifiedToken,
} from "./signedTokens.ts";
export { createTokenVerifier } from "./signedTokens.ts";
export type { TextWrapping, UnwrapFault } from "./textWrapping.ts";
export { createRecordWrapping, createSignInWrapping } from "./textWrapping.ts";
