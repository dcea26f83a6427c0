/**
 * What changes in a session: one shared record, made at the first change, that lives as long as the session's token.
 *
 * The functions are pure transitions; `SessionRecords` reads and writes by compare-and-set, so that changes of two
 * instances never lose one another. A session without a record has never changed anything.
 */
import { RepriseError } from "@reprise/errors";
import type { JsonValue } from "@reprise/protocol";
import type { LogLevel, SharedRecords } from "@reprise/runtime";
import { type LegacySession, unknownSession } from "./sessionToken.ts";

/** Subscriptions that a session may have: they are read with every update of a resource. */
const maxSubscriptions = 200;
/** Writers of one session are few; more defeats in a row than this mean a fault, not a crowd. */
const maxTries = 20;

/** A session's record. */
export interface SessionRecord {
  readonly ended?: true;
  /** Undefined: the client never asked for log messages, and gets none. */
  readonly logLevel?: LogLevel;
  /** URIs whose updates the client wants. */
  readonly subscriptions?: readonly string[];
  /** The one GET stream that carries the session's notifications, and the front that holds it. */
  readonly speaker?: { readonly stream: string; readonly front: string };
  /** A stream has spoken: what the next one's client may have missed nobody knows. */
  readonly hadStream?: true;
}

/** A transition: the record after the change; the same record where there is nothing to change. */
export type SessionChange = (record: SessionRecord) => SessionRecord;

/** The session is over. */
export const ended: SessionChange = () => ({ ended: true });

/** From now on messages of this level and above are sent. */
export const logging =
  (logLevel: LogLevel): SessionChange =>
  (record) => ({ ...record, logLevel });

/** @throws RepriseError INVALID_PARAMS when there are too many */
export const subscribed =
  (uri: string): SessionChange =>
  (record) => {
    const { subscriptions = [] } = record;
    if (subscriptions.includes(uri)) return record;
    if (subscriptions.length >= maxSubscriptions) {
      throw new RepriseError(
        "INVALID_PARAMS",
        `A session may have ${maxSubscriptions} subscriptions.`,
      );
    }
    return { ...record, subscriptions: [...subscriptions, uri] };
  };

/** Unknown URIs change nothing. */
export const unsubscribed =
  (uri: string): SessionChange =>
  (record) => {
    const { subscriptions = [] } = record;
    if (!subscriptions.includes(uri)) return record;
    return { ...record, subscriptions: subscriptions.filter((each) => each !== uri) };
  };

/** The newest GET stream speaks, the others fall silent. */
export const speaking =
  (stream: string, front: string): SessionChange =>
  (record) => ({ ...record, speaker: { stream, front }, hadStream: true });

/** The stream is gone; another may speak. */
export const silent =
  (stream: string): SessionChange =>
  (record) => {
    if (record.speaker?.stream !== stream) return record;
    const { speaker: _, ...rest } = record;
    return rest;
  };

const unchanged: SessionRecord = {};

/** The records of sessions. */
export class SessionRecords {
  readonly #shared: SharedRecords;

  constructor(shared: SharedRecords) {
    this.#shared = shared;
  }

  /** @throws RepriseError SESSION_UNKNOWN when the session has ended */
  async read(session: LegacySession): Promise<SessionRecord> {
    const record = await this.find(session);
    if (record === undefined) throw unknownSession();
    return record;
  }

  /**
   * Like `read`, but gives undefined when the session has ended. Who holds something of a session asks once more when a notice
   * of its end would find that: the one that came before found nothing.
   */
  async find(session: LegacySession): Promise<SessionRecord | undefined> {
    const found = await this.#shared.get(keyOf(session));
    const record = found === undefined ? unchanged : recordOf(found.value);
    return record.ended === true ? undefined : record;
  }

  /** Makes the change, whoever else writes. @throws RepriseError SESSION_UNKNOWN, and what the transition throws */
  async change(session: LegacySession, change: SessionChange): Promise<SessionRecord> {
    for (let tries = 0; tries < maxTries; tries++) {
      const found = await this.#shared.get(keyOf(session));
      const before = found === undefined ? unchanged : standing(found.value);
      const after = change(before);
      if (after === before) return before;
      const value = after as unknown as JsonValue;
      const written = await this.#shared.put(
        keyOf(session),
        value,
        found?.revision,
        session.expiresAt,
      );
      if (written !== undefined) return after;
    }
    throw new RepriseError("BUSY", "The session changes too often; repeat the request.", {
      data: { retryAfterMs: 1000 },
    });
  }
}

function keyOf({ id }: LegacySession): { readonly kind: string; readonly id: string } {
  return { kind: "session", id };
}

/** Only this file writes these records. */
function recordOf(value: JsonValue): SessionRecord {
  return value as unknown as SessionRecord;
}

function standing(value: JsonValue): SessionRecord {
  const record = recordOf(value);
  if (record.ended === true) throw unknownSession();
  return record;
}
