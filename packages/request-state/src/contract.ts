/**
 * What the runtime sees of this package: what goes into a seal, what comes out of an open, and why not.
 *
 * Types only. The causes are for the audit event and the metric; a client sees one answer for all of them.
 */
import type { BindingMember, StateBinding } from "./binding.ts";
import type { SealedPayload } from "./claims.ts";
import type { EnvelopeFault } from "./envelope.ts";

/** One state to seal. */
export interface SealInput {
  readonly payload: SealedPayload;
  readonly binding: StateBinding;
  /** Whole milliseconds since the epoch. */
  readonly issuedAtMs: number;
  /** Whole milliseconds since the epoch, later than `issuedAtMs`. */
  readonly expiresAtMs: number;
  /** True: must be encrypted, whatever the sealer's `encrypt` says. The token claims it under its seal. */
  readonly confidential: boolean;
}

/** One token to judge. */
export interface OpenInput {
  /** What the client sent, whatever it is. */
  readonly token: unknown;
  /** The binding of the request that brought it. */
  readonly binding: StateBinding;
  /** Whole milliseconds since the epoch. */
  readonly nowMs: number;
}

/**
 * Why a token was refused. The first that applies, in this order:
 * - `too_large`: longer than `maxBytes`; nothing was decoded
 * - `malformed`: no string, wrong number or length of parts, or not canonical base64url
 * - `header`: the protected header is not, byte for byte, one that we write
 * - `kid_unknown`: no key of that id, and the source is sure of it
 * - `seal_broken`: the key did not seal this
 * - `revoked_key`, `expired_key`: it did, but the key is no longer accepted
 * - `format`: sealed by a release whose format this one does not know
 * - `payload`: sealed with our key, but not what any release seals
 * - `plain_where_sealed`: a signed token whose claims say that it has to be encrypted
 * - `audience`, `operation`, `principal`, `params`: belongs to another request or person
 */
export type StateRefusalCause =
  | EnvelopeFault
  | "kid_unknown"
  | "seal_broken"
  | "revoked_key"
  | "expired_key"
  | "format"
  | "payload"
  | "plain_where_sealed"
  | BindingMember;

/**
 * The verdict on a token. `expired` is reported only: a caller who takes an expired state needs a record that
 * shows its round claimed in time. `ring_unavailable` is no verdict: the same request may be repeated.
 */
export type OpenReply =
  | {
      readonly ok: true;
      readonly payload: SealedPayload;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
      /** Whether `nowMs` has reached `expiresAtMs`. */
      readonly expired: boolean;
      /** The key that sealed it. */
      readonly kid: string;
    }
  | { readonly ok: false; readonly cause: StateRefusalCause }
  | { readonly ok: false; readonly cause: "ring_unavailable"; readonly retryable: true };

/** Seals and opens request states. Made by `createStateSealer`; safe for any number of calls at once. */
export interface StateSealer {
  /** The limit in force, in bytes. */
  readonly maxBytes: number;
  /**
   * A token of the payload: compact JWS, or JWE if confidential or `encrypt` is on.
   * @throws TypeError or RangeError naming the member that can't be sealed.
   * @throws RepriseError STATE_TOO_LARGE, data `{bytes, maxBytes}`: the token could not be opened again.
   */
  seal(input: SealInput): Promise<string> | string;
  /**
   * Judges a token. Refusals are returned, never thrown. At once when the key source has the key at hand.
   * @throws TypeError or RangeError if `binding` or `nowMs` can't be used.
   */
  open(input: OpenInput): Promise<OpenReply> | OpenReply;
  /** Bytes of a token, or exactly those that sealing the input would give. Works above the limit too. */
  size(subject: string | SealInput): number;
}
