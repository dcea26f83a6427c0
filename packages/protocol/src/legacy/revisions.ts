/**
 * The revisions of the handshake era, and which of them a session speaks.
 *
 * `initialize` negotiates once; the front seals the outcome into the session id, and everything in this folder takes it
 * as its first or last argument. The modern revision is one of `Revision` so that each lowering is told in one table:
 * for it every lowering is the identity.
 */

/** The revisions served with the initialize handshake, newest first. */
export const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

/** One of `legacyRevisions`. */
export type LegacyRevision = (typeof legacyRevisions)[number];

/** A revision that something can be lowered to. */
export type Revision = LegacyRevision | "2026-07-28";

/** Whether `version` is a served revision of the handshake era. */
export function isLegacyRevision(version: unknown): version is LegacyRevision {
  return (legacyRevisions as readonly unknown[]).includes(version);
}

/**
 * The revision that the answer to `initialize` names: the requested one if it is served, else our latest with a
 * handshake. The client decides whether it can live with that (MCP 2025-11-25, lifecycle, "Version Negotiation").
 * A client that asks for 2026-07-28 here gets the latest too: that revision has no `initialize`.
 */
export function negotiate(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : legacyRevisions[0];
}
