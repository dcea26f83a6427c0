/**
 * How long a key is good for what. Pure: times come in, verdicts go out.
 *
 * The sealer asks at each seal and open; a key ring asks when it decides which keys to keep. Keys without a life
 * (from `requestStateKey`, or ephemeral) seal and open until whoever configured them takes them away.
 *
 * 1. A key never seals a state that outlives the key's promise (`newestExpiryMs`): it would die unopened.
 * 2. A key opens longer than its newest state lives, because an expired state is still accepted where the run's
 *    record shows its round claimed in time, and such records (parked, interrupted) live 30 days (design 4.2, 5).
 * 3. A revoked key does nothing, whatever the clocks of the two machines say.
 */

/** How long after its newest state's expiry a key still opens: 30 days, in milliseconds. */
export const OPENS_AFTER_EXPIRY_MS: number = 30 * 24 * 60 * 60 * 1000;

/** What a ring knows about one of its keys. */
export interface KeyLife {
  /**
   * The latest expiry of any state that this key has sealed or may still seal, in milliseconds since the epoch.
   * A ring sets it before the key's first use (end of sealing plus `requestStateLifetime`): its owner may die
   * before it could report a later one.
   */
  readonly newestExpiryMs: number;
  /** True once an operator revoked the key. There is no way back. */
  readonly revoked: boolean;
}

/** `good`: opens states. `ended`: its last state can no longer be accepted. `revoked`: an operator took it away. */
export type KeyStanding = "good" | "ended" | "revoked";

/** The first moment at which the key opens nothing more. From then on a ring may drop it. */
export function opensUntilMs(life: KeyLife): number {
  return life.newestExpiryMs + OPENS_AFTER_EXPIRY_MS;
}

/** What the key may do at `nowMs`. Without a life: good for ever. */
export function standingOf(life: KeyLife | undefined, nowMs: number): KeyStanding {
  if (life === undefined) return "good";
  if (life.revoked) return "revoked";
  // Negated, so that a life that is not a number ends the key instead of keeping it for ever.
  return !(nowMs < opensUntilMs(life)) ? "ended" : "good";
}

/** Whether the key may seal a state that expires at `expiresAtMs` (invariants 1 and 3). */
export function maySeal(life: KeyLife | undefined, expiresAtMs: number): boolean {
  return life === undefined || (!life.revoked && expiresAtMs <= life.newestExpiryMs);
}
