/**
 * A GET stream that reads a call on while another front drives it.
 *
 * It writes itself into the call's record, so that the owner ends its own stream and tells of new events; it looks for them
 * by itself too. What it should have read and is no longer kept stands there as well: the owner sends open questions again. When the owner dies, this front takes the call over and the stream becomes the call's.
 */
import type { Caller } from "@reprise/runtime";
import type { Ticked } from "../wheel.ts";
import { isPollDue, primeAgain, readEvents, sendEvent } from "./callLog.ts";
import type { CallPorts } from "./callPorts.ts";
import {
  callKey,
  callValue,
  type Gap,
  readBy,
  readCallRecord,
  recordExpiry,
} from "./callRecord.ts";
import type { EventStream } from "./eventStream.ts";
import type { LegacySession } from "./sessionToken.ts";
import { takeOver } from "./takeOver.ts";

/** Without a notice, events are looked for this often. */
const readEveryMs = 1_000;
const maxTries = 50;

/** Where readers of this front are found when a notice comes. */
export type ResumedStreams = Map<string, ResumedStream>;

/** One reader. */
export class ResumedStream implements Ticked {
  readonly callId: string;
  readonly session: LegacySession;
  readonly #name: string;
  readonly #caller: Caller;
  readonly #stream: EventStream;
  readonly #ports: CallPorts;
  readonly #readers: ResumedStreams;
  #after: number;
  #gap: Gap | undefined;
  #isAnnounced = false;
  readonly #since: number;
  #readAt: number;
  #lookedAt: number;
  #working: Promise<void> | undefined;
  #again = false;

  /** `name` tells this stream from others of the call. */
  constructor(
    place: { readonly callId: string; readonly after: number; readonly name: string },
    who: { readonly session: LegacySession; readonly caller: Caller },
    stream: EventStream,
    ports: CallPorts,
    readers: ResumedStreams,
  ) {
    this.callId = place.callId;
    this.#after = place.after;
    this.#name = place.name;
    this.session = who.session;
    this.#caller = who.caller;
    this.#stream = stream;
    this.#ports = ports;
    this.#readers = readers;
    this.#since = ports.clock.monotonic();
    this.#readAt = this.#since;
    this.#lookedAt = this.#since;
  }

  /** Begins to read. */
  start(): void {
    // The newest stream of a call is the one that speaks.
    this.#readers.get(this.callId)?.end();
    this.#readers.set(this.callId, this);
    this.#ports.wheel.add(this);
    this.#stream.onClose = () => this.#forget();
    primeAgain(this.#stream, this.callId, this.session.revision, this.#after);
    this.#work(async () => {
      await this.#announce();
      await this.#read();
    });
  }

  /** Something happened: reads on, and looks whether this stream still speaks. */
  notice(): void {
    this.#work(async () => {
      await this.#read();
      await this.#look();
    });
  }

  end(): void {
    this.#stream.end();
    this.#forget();
  }

  tick(now: number): void {
    const { expiresAt } = this.#stream;
    if (expiresAt !== undefined && this.#ports.clock.now() >= expiresAt) return this.end();
    const { config } = this.#ports;
    if (isPollDue(config, this.session.revision, now - this.#since)) {
      this.#stream.retry(config.retryMs);
      return this.end();
    }
    if (now - this.#stream.writtenAt >= this.#ports.heartbeatMs) this.#stream.comment();
    if (now - this.#lookedAt >= this.#ports.config.leaseMs / 3) {
      this.#lookedAt = now;
      this.notice();
    } else if (now - this.#readAt >= readEveryMs) {
      this.#readAt = now;
      this.#work(() => this.#read());
    }
  }

  /** Writes itself into the record, unless the call has ended, and tells the owner. */
  async #announce(): Promise<void> {
    const { shared, me, tell } = this.#ports;
    const gap = this.#gap === undefined ? {} : { gap: this.#gap };
    for (let tries = 0; tries < maxTries; tries++) {
      const found = await shared.get(callKey(this.callId));
      const record = found === undefined ? undefined : readCallRecord(found);
      if (found === undefined || record === undefined) return;
      // A newer stream of the call: this one ends at its next look.
      if (this.#isAnnounced && record.reader?.stream !== this.#name) return;
      const next = readBy(record, { front: me, stream: this.#name, ...gap });
      if (next === undefined) return tell(record.owner, this.callId);
      const expiresAt = recordExpiry(next, this.session.expiresAt);
      const written = await shared.put(
        callKey(this.callId),
        callValue(next),
        found.revision,
        expiresAt,
      );
      if (written === undefined) continue;
      this.#isAnnounced = true;
      return tell(record.owner, this.callId);
    }
  }

  async #read(): Promise<void> {
    const { shared } = this.#ports;
    const { revision } = this.session;
    const { gap } = await readEvents(shared, this.callId, this.#after, (event) => {
      const { number, mark, text } = event;
      this.#after = number;
      sendEvent(this.#stream, this.callId, revision, number, mark, text);
    });
    if (gap === undefined || !this.#stream.isOpen) return;
    this.#gap = { after: this.#gap?.after ?? gap.after, before: gap.before };
    await this.#announce();
  }

  async #look(): Promise<void> {
    if (!this.#stream.isOpen) return;
    const { shared, presence, me, calls } = this.#ports;
    const found = await shared.get(callKey(this.callId));
    const record = found === undefined ? undefined : readCallRecord(found);
    if (record === undefined) {
      // The call ended after what was read, or is gone altogether.
      await this.#read();
      this.end();
      return;
    }
    let call = record.owner === me ? calls.get(this.callId) : undefined;
    if (call === undefined && record.reader?.stream !== this.#name) {
      this.end();
      return;
    }
    if (call === undefined && !(await presence.isAlive(record.owner))) {
      call = await takeOver(this.session, this.#caller, this.callId, this.#ports);
    }
    if (call === undefined || !this.#stream.isOpen) return;
    this.#forget();
    await call.attach(this.#stream, this.#after);
  }

  /** One piece of work at a time: events must keep their order. */
  #work(piece: () => Promise<void>): void {
    if (!this.#stream.isOpen || this.#readers.get(this.callId) !== this) return;
    if (this.#working !== undefined) {
      this.#again = true;
      return;
    }
    this.#working = piece()
      .catch(this.#ports.failed)
      .finally(() => {
        this.#working = undefined;
        if (!this.#again) return;
        this.#again = false;
        this.notice();
      });
  }

  #forget(): void {
    this.#stream.onClose = undefined;
    this.#ports.wheel.delete(this);
    if (this.#readers.get(this.callId) === this) this.#readers.delete(this.callId);
  }
}
