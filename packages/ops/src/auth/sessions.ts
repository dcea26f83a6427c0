/**
 * Who has signed in: sessions in the memory of this process, found by a random id that only a cookie holds.
 *
 * In memory, so that signing out ends a session at once and a copied cookie is worth nothing after a restart. A second
 * dashboard of the same deployment has its own.
 *
 * 1. A session ends `lifeMs` after it began, and `idleMs` after it was last used, whichever comes first.
 * 2. There are at most `MOST` of them; the oldest makes room.
 * 3. The id is compared by a map's hash of 256 random bits: there is nothing to learn from its time.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "@reprise/runtime";
import type { Role } from "../wire.ts";

/** Who a sign-in found. */
export interface Person {
  /** Written into the audit log. At most 200 characters. */
  readonly actor: string;
  readonly role: Role;
}

/** One person in one browser. */
export interface Session extends Person {
  readonly id: string;
  /** What a page of ours sends with each action, and no other page knows. */
  readonly csrf: string;
  readonly expiresAt: number;
}

const LIFE_MS = 8 * 60 * 60 * 1000;
const IDLE_MS = 60 * 60 * 1000;
const MOST = 1000;

/** How long the cookie is kept by the browser: as long as a session can live. */
export const SESSION_LIFE_S: number = LIFE_MS / 1000;

/** The sessions of one dashboard. */
export class Sessions {
  readonly #clock: Clock;
  readonly #byId = new Map<string, { readonly session: Session; usedAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin({ actor, role }: Person): Session {
    const now = this.#clock.now();
    const session: Session = {
      actor: actor.slice(0, 200),
      role,
      id: randomBytes(32).toString("base64url"),
      csrf: randomBytes(32).toString("base64url"),
      expiresAt: now + LIFE_MS,
    };
    const [oldest] = this.#byId.keys();
    if (this.#byId.size >= MOST && oldest !== undefined) this.#byId.delete(oldest);
    this.#byId.set(session.id, { session, usedAt: now });
    return session;
  }

  /** The session of a request, which counts as a use. */
  find(id: string | undefined): Session | undefined {
    if (id === undefined || !this.isOpen(id)) return undefined;
    const held = this.#byId.get(id);
    if (held === undefined) return undefined;
    held.usedAt = this.#clock.now();
    return held.session;
  }

  /** Whether it stands, without using it: a page that only listens does not keep it alive. */
  isOpen(id: string): boolean {
    const held = this.#byId.get(id);
    if (held === undefined) return false;
    const now = this.#clock.now();
    if (now < held.session.expiresAt && now - held.usedAt < IDLE_MS) return true;
    this.#byId.delete(id);
    return false;
  }

  end(id: string): void {
    this.#byId.delete(id);
  }
}
