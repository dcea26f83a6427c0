/**
 * Who has signed in: sessions that all dashboards of a deployment share, found by a random id that only a cookie holds.
 *
 * Kept in shared records and not in the cookie: signing out ends a session everywhere at once, a cookie says nothing that could
 * be altered, and no key has to be configured. Behind a balancer any dashboard serves any request. In a process of its own the
 * records are in memory, and a restart ends all sessions.
 *
 * 1. A session ends `LIFE_MS` after it began, and `IDLE_MS` after it was last used, whichever comes first. A use is written at most
 *    once a minute, so that idleness may be judged a minute early.
 * 2. The record holds digests: a session is found by the digest of 256 random bits, and a comparison's time tells nothing.
 * 3. There are at most `MOST` of them, and `MOST_OF_ONE` of one person; the oldest makes room.
 * 4. A person has the role of the newest sign-in: sessions under another role end with it. A role that the provider takes away
 *    without a sign-in holds until its sessions end.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Clock } from "@reprise/runtime";
import type { Role } from "../wire.ts";
import type { HeldSession, Roster, RosterContents } from "./roster.ts";

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
const USE_WRITTEN_MS = 60_000;
const MOST = 300;
const MOST_OF_ONE = 20;

/** How long the cookie is kept by the browser: as long as a session can live. */
export const SESSION_LIFE_S: number = LIFE_MS / 1000;

/** The sessions of a deployment's dashboards. Every method rejects with RepriseError STORE_UNAVAILABLE. */
export class Sessions {
  readonly #roster: Roster;
  readonly #clock: Clock;

  constructor(roster: Roster, clock: Clock) {
    this.#roster = roster;
    this.#clock = clock;
  }

  /** @param former id of the session that this browser had: it ends */
  async begin(person: Person, former: string | undefined): Promise<Session> {
    const { role } = person;
    const actor = person.actor.slice(0, 200);
    const now = this.#clock.now();
    const id = randomBytes(32).toString("base64url");
    const ending = former === undefined ? undefined : digestOf(former);
    const held = { digest: digestOf(id), actor, role, expiresAt: now + LIFE_MS, usedAt: now };
    await this.#roster.change((contents) => {
      const kept = contents.sessions.filter(
        (each) =>
          isOpen(each, now) &&
          each.digest !== ending &&
          !(each.actor === actor && each.role !== role),
      );
      const own = kept.filter((each) => each.actor === actor).slice(1 - MOST_OF_ONE);
      const left = kept.filter((each) => each.actor !== actor || own.includes(each));
      return { ...contents, sessions: [...left.slice(1 - MOST), held] };
    });
    return sessionOf(id, held);
  }

  /** The session of a request, which counts as a use. */
  async find(id: string | undefined): Promise<Session | undefined> {
    if (id === undefined) return undefined;
    const digest = digestOf(id);
    const now = this.#clock.now();
    const held = openOne(await this.#roster.read(), digest, now);
    if (held === undefined) return undefined;
    if (now - held.usedAt < USE_WRITTEN_MS) return sessionOf(id, held);
    const contents = await this.#roster.change((before) => used(before, digest, now));
    // It may have been ended meanwhile.
    const still = openOne(contents, digest, now);
    return still && sessionOf(id, still);
  }

  /** Tells which sessions stand, without using them: a page that only listens does not keep one alive. */
  async standing(): Promise<(id: string) => boolean> {
    const contents = await this.#roster.read();
    const now = this.#clock.now();
    return (id) => openOne(contents, digestOf(id), now) !== undefined;
  }

  async end(id: string): Promise<void> {
    const digest = digestOf(id);
    await this.#roster.change((contents) => {
      const sessions = contents.sessions.filter((each) => each.digest !== digest);
      return sessions.length === contents.sessions.length ? undefined : { ...contents, sessions };
    });
  }
}

function used(contents: RosterContents, digest: string, now: number): RosterContents | undefined {
  if (openOne(contents, digest, now) === undefined) return undefined;
  const sessions = contents.sessions.map((each) =>
    each.digest === digest ? { ...each, usedAt: Math.max(each.usedAt, now) } : each,
  );
  return { ...contents, sessions };
}

function openOne(
  contents: RosterContents | undefined,
  digest: string,
  now: number,
): HeldSession | undefined {
  return contents?.sessions.find((each) => each.digest === digest && isOpen(each, now));
}

/** Another dashboard's clock may be a little ahead; a use in the future is a use. */
function isOpen({ expiresAt, usedAt }: HeldSession, now: number): boolean {
  return now < expiresAt && now - usedAt < IDLE_MS;
}

function sessionOf(id: string, { actor, role, expiresAt }: HeldSession): Session {
  return { id, csrf: csrfOf(id), actor, role, expiresAt };
}

/** Follows from the id and does not lead to it: the page knows one and never the other. */
function csrfOf(id: string): string {
  return createHmac("sha256", id).update("reprise/ops-csrf/1").digest("base64url");
}

function digestOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}
