/**
 * Who has signed in to the dashboards of a deployment: one shared record, which all of them read and change by compare-and-set.
 *
 * Called by `Sessions` and by ways to sign in. Knows nothing of cookies; the record holds digests of what cookies hold.
 *
 * R1 One record and not one a session: it is there before the store is full, and a store takes changes of what is there while it
 *    refuses what is new, so that operators can sign in when they are wanted most. What it may hold is bounded by `Sessions`.
 * R2 Whoever reads the record can take no session over: it holds no id. Its key wraps what is of use only to the browser that has
 *    it, for ten minutes.
 * R3 A record of another form is one without sessions: everybody signs in anew, nobody is let in by it.
 */
import { randomBytes } from "node:crypto";
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonValue } from "@reprise/journal";
import type { Clock, SharedKey, SharedRecords } from "@reprise/runtime";
import type { Role } from "../wire.ts";

/** A session as the record has it. Times are epoch milliseconds. */
export interface HeldSession {
  /** SHA-256 of the id, base64url. */
  readonly digest: string;
  readonly actor: string;
  readonly role: Role;
  readonly expiresAt: number;
  readonly usedAt: number;
}

/** What the record holds. */
export interface RosterContents {
  /** Random, made with the record: for what browsers carry through a sign-in. */
  readonly key: string;
  /** Oldest first. */
  readonly sessions: readonly HeldSession[];
}

/** The number is the form's: dashboards of another release with another form have a record of their own. */
const record: SharedKey = { kind: "ops-roster", id: "1" };
/** Longer than any session, so that it is there when the store is full. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;
/** Changes of one process take turns; more lost races in a row than this have another cause. */
const MOST_TRIES = 50;

/** The record, for one process. */
export class Roster {
  readonly #records: SharedRecords;
  readonly #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(records: SharedRecords, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** Undefined when there is none. @throws RepriseError STORE_UNAVAILABLE */
  async read(): Promise<RosterContents | undefined> {
    return contentsIn((await this.#records.get(record))?.value);
  }

  /**
   * Changes it, after this process's earlier changes. `change` may be called again and gives undefined for no change.
   * @throws RepriseError STORE_UNAVAILABLE, STORE_FULL
   */
  change(
    change: (contents: RosterContents) => RosterContents | undefined,
  ): Promise<RosterContents> {
    const changed = this.#turn.then(() => this.#change(change));
    this.#turn = changed.catch(() => undefined);
    return changed;
  }

  async #change(
    change: (contents: RosterContents) => RosterContents | undefined,
  ): Promise<RosterContents> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = await this.#records.get(record);
      const held = contentsIn(found?.value);
      const before = held ?? { key: randomBytes(32).toString("base64url"), sessions: [] };
      const after = change(before) ?? before;
      if (after === held) return held;
      const value = { key: after.key, sessions: after.sessions.map((each) => ({ ...each })) };
      const expiresAt = this.#clock.now() + KEPT_MS;
      if ((await this.#records.put(record, value, found?.revision, expiresAt)) !== undefined) {
        return after;
      }
    }
    throw new RepriseError("STORE_UNAVAILABLE", "The sessions of the dashboard can't be changed.");
  }
}

/** R3 */
function contentsIn(value: JsonValue | undefined): RosterContents | undefined {
  if (!isJsonObject(value)) return undefined;
  const { key, sessions } = value;
  if (typeof key !== "string" || key.length < 32 || !Array.isArray(sessions)) return undefined;
  return sessions.every(isHeldSession) ? { key, sessions } : undefined;
}

function isHeldSession(value: unknown): value is HeldSession {
  if (!isJsonObject(value)) return false;
  const { digest, actor, role, expiresAt, usedAt } = value;
  return (
    typeof digest === "string" &&
    typeof actor === "string" &&
    (role === "operator" || role === "viewer") &&
    typeof expiresAt === "number" &&
    typeof usedAt === "number"
  );
}
