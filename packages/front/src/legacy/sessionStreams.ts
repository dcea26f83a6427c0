/**
 * GET streams of sessions: what a server says outside of any call (MCP 2025-11-25, transports, "Listening for Messages from
 * the Server").
 *
 * A client may have several, on several fronts; each message goes out on one. The newest speaks, the others stay open and
 * silent: a client whose stream were closed would open it again, and two would take turns for ever. When the speaker is
 * gone, the next one that has something to say takes its place.
 */
import { listChangedNotification, resourceUpdatedNotification } from "@reprise/protocol";
import type { Ticked } from "../wheel.ts";
import type { CallPorts } from "./callPorts.ts";
import type { EventStream } from "./eventStream.ts";
import { type SessionRecord, type SessionRecords, silent, speaking } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** What is told: another list of tools, or a resource's new contents. */
export type ServerChange =
  | { readonly kind: "toolsChanged" }
  | { readonly kind: "resourceUpdated"; readonly uri: string };

/** The session streams of this front. */
export class SessionStreams {
  readonly #records: SessionRecords;
  readonly #ports: CallPorts;
  readonly #streams = new Set<SessionStream>();

  constructor(records: SessionRecords, ports: CallPorts) {
    this.#records = records;
    this.#ports = ports;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Opens one; it speaks from now on. Rejects when the store can't be reached. */
  async open(session: LegacySession, name: string, open: () => EventStream): Promise<void> {
    const { presence, me, wheel, failed } = this.#ports;
    await presence.ensure();
    await this.#records.change(session, speaking(name, me));
    const member = new SessionStream(session, name, open(), this.#ports.heartbeatMs, (now) =>
      this.#ports.clock.now() >= session.expiresAt ? this.#close(now) : undefined,
    );
    this.#streams.add(member);
    wheel.add(member);
    member.stream.onClose = () => {
      this.#streams.delete(member);
      wheel.delete(member);
      this.#records.change(session, silent(name)).catch(failed);
    };
  }

  /** Tells all sessions of this front what changed, each over its one speaker. */
  tell(change: ServerChange): void {
    for (const member of this.#streams) {
      this.#say(member, change).catch((error: unknown) => {
        // The session has ended: its notice was lost.
        member.stream.end();
        this.#ports.failed(error);
      });
    }
  }

  /** Ends the streams of a session, or all. */
  end(sessionId?: string): void {
    for (const member of this.#streams) {
      if (sessionId === undefined || member.session.id === sessionId) member.stream.end();
    }
  }

  #close(member: SessionStream): void {
    member.stream.end();
  }

  async #say(member: SessionStream, change: ServerChange): Promise<void> {
    const { session } = member;
    const record = await this.#records.read(session);
    const message = messageOf(change, record);
    if (message === undefined || !(await this.#speaks(member, record))) return;
    member.stream.write(undefined, message);
  }

  async #speaks(member: SessionStream, { speaker }: SessionRecord): Promise<boolean> {
    if (speaker?.stream === member.name) return true;
    const { presence, me } = this.#ports;
    if (speaker !== undefined && (await presence.isAlive(speaker.front))) return false;
    // Nobody speaks: the first who sees it does. Whoever comes second finds a speaker.
    let isOurs = false;
    await this.#records.change(member.session, (record) => {
      isOurs = record.speaker?.stream === speaker?.stream;
      return isOurs ? speaking(member.name, me)(record) : record;
    });
    return isOurs;
  }
}

class SessionStream implements Ticked {
  readonly session: LegacySession;
  readonly name: string;
  readonly stream: EventStream;
  readonly #heartbeatMs: number;
  readonly #expire: (member: SessionStream) => void;

  constructor(
    session: LegacySession,
    name: string,
    stream: EventStream,
    heartbeatMs: number,
    expire: (member: SessionStream) => void,
  ) {
    this.session = session;
    this.name = name;
    this.stream = stream;
    this.#heartbeatMs = heartbeatMs;
    this.#expire = expire;
  }

  tick(now: number): void {
    this.#expire(this);
    if (now - this.stream.writtenAt >= this.#heartbeatMs) this.stream.comment();
  }
}

function messageOf(
  change: ServerChange,
  { subscriptions = [] }: SessionRecord,
): string | undefined {
  if (change.kind === "toolsChanged") return listChangedNotification("tools");
  return subscriptions.includes(change.uri) ? resourceUpdatedNotification(change.uri) : undefined;
}
