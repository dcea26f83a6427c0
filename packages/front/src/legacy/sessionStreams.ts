/**
 * GET streams of sessions: what a server says outside of any call (MCP 2025-11-25, transports, "Listening for Messages from
 * the Server").
 *
 * A client may have several, on several fronts; each message goes out on one. The newest speaks, the others stay open and
 * silent: a client whose stream were closed would open it again, and two would take turns for ever. When the speaker is
 * gone, the next one that has something to say takes its place.
 *
 * Changes are told a moment after the first, each once: by then the other fronts have heard of it too, and a client that lists
 * again anywhere gets the new list. Told at once, it could get the old one, and would hear of it no more.
 *
 * A stream that is over, or never came about, is named as the speaker no more: what the store refuses then is tried again until
 * it is done or the session is over. Else a front that lives would keep all others silent.
 */
import { isRepriseError } from "@reprise/errors";
import { listChangedNotification, resourceUpdatedNotification } from "@reprise/protocol";
import { gatherMs } from "../listen/subscriptions.ts";
import type { Ticked } from "../wheel.ts";
import type { CallPorts } from "./callPorts.ts";
import type { EventStream } from "./eventStream.ts";
import { type SessionRecord, type SessionRecords, silent, speaking } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** How often a stream that is gone is taken out of its session's record, until that was done. */
const freeAgainMs = 1_000;

/** What is told: another list of tools or prompts, or a resource's new contents. */
export type ServerChange =
  | { readonly kind: "toolsChanged" }
  | { readonly kind: "promptsChanged" }
  | { readonly kind: "resourceUpdated"; readonly uri: string };

/** The session streams of this front. */
export class SessionStreams {
  readonly #records: SessionRecords;
  readonly #ports: CallPorts;
  readonly #streams = new Set<SessionStream>();
  #gathered = new Map<string, ServerChange>();
  #cancelTelling: (() => void) | undefined;

  constructor(records: SessionRecords, ports: CallPorts) {
    this.#records = records;
    this.#ports = ports;
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens one; it speaks from now on. Rejects when the store can't be reached.
   * @throws RepriseError BUSY when the caller has as many as it may
   */
  async open(session: LegacySession, name: string, open: () => EventStream): Promise<void> {
    const { presence, me, wheel, limits } = this.#ports;
    const { principal } = session;
    if (!limits.takeListener(principal)) throw limits.refusal();
    let member: SessionStream;
    try {
      await presence.ensure();
      await this.#records.change(session, speaking(name, me));
      member = new SessionStream(session, name, open(), this.#ports);
    } catch (error) {
      limits.giveListener(principal);
      // A write that failed may have been made.
      if (!isRepriseError(error, "SESSION_UNKNOWN")) this.#free(session, name);
      throw error;
    }
    this.#streams.add(member);
    wheel.add(member);
    member.stream.onClose = () => {
      limits.giveListener(principal);
      this.#streams.delete(member);
      wheel.delete(member);
      this.#free(session, name);
    };
  }

  #free(session: LegacySession, name: string): void {
    new Freeing(() => this.#records.change(session, silent(name)), session, this.#ports).begin();
  }

  /** Tells all sessions of this front what changed, each over its one speaker, `gatherMs` later. */
  tell(change: ServerChange): void {
    if (this.#streams.size === 0) return;
    this.#gathered.set(JSON.stringify(change), change);
    this.#cancelTelling ??= this.#ports.clock.after(gatherMs, () => this.#tellGathered());
  }

  #tellGathered(): void {
    const changes = [...this.#gathered.values()];
    this.#cancelTelling = undefined;
    this.#gathered = new Map();
    for (const member of this.#streams) {
      this.#say(member, changes).catch((error: unknown) => {
        // The session has ended: its notice was lost.
        member.stream.end();
        this.#ports.failed(error);
      });
    }
  }

  /** Ends the streams of a session, or all: then nothing is told any more. */
  end(sessionId?: string): void {
    if (sessionId === undefined) this.#cancelTelling?.();
    for (const member of this.#streams) {
      if (sessionId === undefined || member.session.id === sessionId) member.stream.end();
    }
  }

  async #say(member: SessionStream, changes: readonly ServerChange[]): Promise<void> {
    const { session } = member;
    const record = await this.#records.read(session);
    const messages = changes.flatMap((change) => messageOf(change, record) ?? []);
    if (messages.length === 0 || !(await this.#speaks(member, record))) return;
    for (const message of messages) member.stream.write(undefined, message);
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
  readonly #ports: Pick<CallPorts, "clock" | "heartbeatMs">;

  constructor(
    session: LegacySession,
    name: string,
    stream: EventStream,
    ports: Pick<CallPorts, "clock" | "heartbeatMs">,
  ) {
    this.session = session;
    this.name = name;
    this.stream = stream;
    this.#ports = ports;
  }

  tick(now: number): void {
    const { clock, heartbeatMs } = this.#ports;
    const { expiresAt = this.session.expiresAt, writtenAt } = this.stream;
    if (clock.now() >= Math.min(expiresAt, this.session.expiresAt)) this.stream.end();
    else if (now - writtenAt >= heartbeatMs) this.stream.comment();
  }
}

/** Takes a stream's name out of its session's record. */
class Freeing implements Ticked {
  readonly #change: () => Promise<unknown>;
  readonly #session: LegacySession;
  readonly #ports: CallPorts;
  #isWorking = false;
  #triedAt = 0;

  constructor(change: () => Promise<unknown>, session: LegacySession, ports: CallPorts) {
    this.#change = change;
    this.#session = session;
    this.#ports = ports;
  }

  begin(): void {
    this.#try(this.#ports.failed);
  }

  tick(now: number): void {
    const { clock, wheel } = this.#ports;
    if (clock.now() >= this.#session.expiresAt) wheel.delete(this);
    // The first failure was told; what comes of it is the same.
    else if (!this.#isWorking && now - this.#triedAt >= freeAgainMs) this.#try(() => undefined);
  }

  #try(failed: (error: unknown) => void): void {
    const { clock, wheel, presence } = this.#ports;
    this.#isWorking = true;
    this.#triedAt = clock.monotonic();
    this.#change()
      .then(
        () => wheel.delete(this),
        (error: unknown) => {
          if (isRepriseError(error, "SESSION_UNKNOWN")) return wheel.delete(this);
          failed(error);
          // The streams of a front that stopped speak no more for anybody.
          if (!presence.isClosed) wheel.add(this);
        },
      )
      .finally(() => {
        this.#isWorking = false;
      });
  }
}

function messageOf(
  change: ServerChange,
  { subscriptions = [] }: SessionRecord,
): string | undefined {
  if (change.kind === "toolsChanged") return listChangedNotification("tools");
  if (change.kind === "promptsChanged") return listChangedNotification("prompts");
  return subscriptions.includes(change.uri) ? resourceUpdatedNotification(change.uri) : undefined;
}
