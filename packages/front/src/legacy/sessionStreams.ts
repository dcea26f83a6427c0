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
 * A client hears of every change, or that it may have missed some (docs/design.md 8.2):
 * 1. A stream that is silent keeps what the speaker should have said until the speaker's front has outlived the lease that it had
 *    then. If it has not, the stream speaks, and begins with that.
 * 2. A stream of a session that had one before begins with what makes its client look again: nobody knows what was said while the
 *    client was away, or to a connection that was broken without a word.
 *
 * A stream that is over, or never came about, is named as the speaker no more: what the store refuses then is tried again until
 * it is done or the session is over. Else a front that lives would keep all others silent.
 */
import { isRepriseError } from "@reprise/errors";
import { gatherMs } from "../listen/subscriptions.ts";
import type { Ticked } from "../wheel.ts";
import type { CallPorts } from "./callPorts.ts";
import type { EventStream } from "./eventStream.ts";
import { type SessionRecord, type SessionRecords, silent, speaking } from "./sessionRecord.ts";
import {
  notificationsOf,
  type ServerChange,
  SessionStream,
  type SessionStreamPorts,
} from "./sessionStream.ts";
import type { LegacySession } from "./sessionToken.ts";

/** How often what the store refused is tried again. */
const againMs = 1_000;

/** The session streams of this front. */
export class SessionStreams {
  readonly #records: SessionRecords;
  readonly #ports: CallPorts;
  readonly #memberPorts: SessionStreamPorts;
  readonly #streams = new Set<SessionStream>();
  #gathered = new Map<string, ServerChange>();
  #cancelTelling: (() => void) | undefined;
  #isClosed = false;

  constructor(records: SessionRecords, ports: CallPorts) {
    this.#records = records;
    this.#ports = ports;
    const { clock, heartbeatMs } = ports;
    this.#memberPorts = { clock, heartbeatMs, look: (member) => this.#look(member) };
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens one; it speaks from now on. Rejects when the store can't be reached.
   * @throws RepriseError BUSY when the caller has as many as it may
   */
  async open(session: LegacySession, name: string, open: () => EventStream): Promise<void> {
    const { presence, me, wheel, limits, clock } = this.#ports;
    const { principal } = session;
    if (!limits.takeListener(principal)) throw limits.refusal();
    let member: SessionStream;
    try {
      await presence.ensure();
      let hadOne = false;
      await this.#records.change(session, (record) => {
        hadOne = record.hadStream === true;
        return speaking(name, me)(record);
      });
      const lookAt = clock.monotonic() + gatherMs;
      member = new SessionStream(session, name, open(), lookAt, this.#memberPorts);
      if (hadOne) member.keep([{ kind: "missed" }]);
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
    // A front that stops waits for its streams.
    if (this.#isClosed) member.stream.end();
  }

  #free(session: LegacySession, name: string): void {
    new Freeing(() => this.#records.change(session, silent(name)), session, this.#ports).begin();
  }

  /** Tells all sessions of this front what changed, each over its one speaker, `gatherMs` later. */
  tell(change: ServerChange): void {
    if (this.#streams.size === 0) return;
    this.#gathered.set(JSON.stringify(change), change);
    this.#cancelTelling ??= this.#ports.clock.after(gatherMs, () => void this.#tellGathered());
  }

  #tellGathered(): Promise<unknown> {
    const changes = [...this.#gathered.values()];
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    this.#gathered = new Map();
    const looks = [...this.#streams].map((member) => {
      member.keep(changes);
      return member.look();
    });
    return Promise.all(looks);
  }

  /** Ends the streams of a session. */
  end(sessionId: string): void {
    for (const member of this.#streams) if (member.session.id === sessionId) member.stream.end();
  }

  /** Tells what is gathered and ends all streams. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#cancelTelling !== undefined) await this.#tellGathered();
    for (const member of this.#streams) member.stream.end();
  }

  /** Says what a stream keeps if it speaks. The session's record is read also where there is nothing: the session may be over. */
  async #look(member: SessionStream): Promise<void> {
    const { clock, config, runtime, failed } = this.#ports;
    const { session, stream } = member;
    try {
      const record = await this.#records.read(session);
      member.forget(
        Number.NEGATIVE_INFINITY,
        (saying) => notificationsOf(saying, record, runtime.catalog).length > 0,
      );
      const speaks = member.oldest === undefined || (await this.#speaks(member, record));
      // By then a front that lives has renewed its lease after it heard what is kept here.
      const outlivedMs = config.leaseMs + againMs;
      if (speaks) {
        const said = member.kept.flatMap((each) => notificationsOf(each, record, runtime.catalog));
        member.forget(Number.POSITIVE_INFINITY);
        for (const message of new Set(said)) stream.write(undefined, message);
        // It may have become the speaker when it was over, and had been taken out of the record.
        if (!stream.isOpen) this.#free(session, member.name);
      } else member.forget(clock.monotonic() - outlivedMs);
      member.lookAt = (member.oldest ?? Number.POSITIVE_INFINITY) + outlivedMs;
    } catch (error) {
      member.lookAt = clock.monotonic() + againMs;
      // Its notice was lost, or came before the stream was there.
      if (isRepriseError(error, "SESSION_UNKNOWN")) stream.end();
      else failed(error);
    }
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
    else if (!this.#isWorking && now - this.#triedAt >= againMs) this.#try(() => undefined);
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
