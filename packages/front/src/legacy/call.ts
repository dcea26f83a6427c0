/**
 * One legacy call on the front that drives it: its response or stream, its record, its end (docs/design.md 8.2).
 *
 * The lane begins or takes over a call; answers, cancellations and streams come in from whoever hears of them. What runs is
 * decided by its rounds (rounds.ts).
 *
 * C1 One JSON object is the response unless something has to go first; then the stream opens, and the call gets a record.
 * C2 Questions are in the record before they are sent, and an answer reaches the run only from the record: so every front
 *    can take it, and the first one stands.
 * C3 While the call waits nothing runs for it but the lane's wheel, and this object is all that it holds.
 * C4 A call whose record another front has is let go without a word: only its owner speaks.
 * C5 What the client does with its connection changes nothing; a cancelled call ends without a response.
 * C6 A waiting run that only this session could answer ends with the session.
 */
import { RepriseError } from "@reprise/errors";
import {
  elicitationCompleteNotification,
  type JsonValue,
  legacyErrorResponse,
  logNotification,
  progressNotification,
  rulesOf,
} from "@reprise/protocol";
import type { LogLevel } from "@reprise/runtime";
import type { Ticked } from "../wheel.ts";
import { CallLog, isPollDue, type LoggedCall, logLifeMs, type Mark } from "./callLog.ts";
import type { CallPorts, CallResponse } from "./callPorts.ts";
import { type CallRecord, isSameReader, newCallRecord, type Reader, readBy } from "./callRecord.ts";
import { type CallWork, isKeyed } from "./callRequest.ts";
import type { EventSink } from "./eventStream.ts";
import { unanswered, withdrawals } from "./openAsks.ts";
import { RecordHold } from "./recordHold.ts";
import { type RoundHost, Rounds } from "./rounds.ts";
import { SessionRecords } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** Notices may be lost: after this long the record is looked at without one. */
const lookMs = 15_000;
/** After a look that failed: what it was for is there still. */
const lookAgainMs = 2_000;

const sessionOver = "its session was ended";

/** A call that is under way on this front. */
export class LegacyCall implements Ticked, RoundHost {
  readonly id: string;
  readonly session: LegacySession;
  readonly hold: RecordHold;
  readonly #work: CallWork;
  readonly #ports: CallPorts;
  readonly #log: CallLog;
  readonly #rounds: Rounds;
  #phase: "plain" | "open" | "over" = "plain";
  #response: CallResponse | undefined;
  /** Resolves with whether the call has a record. */
  #recording: Promise<boolean> | undefined;
  #abort: AbortController | undefined;
  #progress: number | undefined;
  /** The stream on another front that was seen last. */
  #reader: Reader | undefined;
  /** When the call began, or its stream was opened last. */
  #since: number;
  #lookedAt: number;
  #extendedAt: number;

  constructor(id: string, session: LegacySession, work: CallWork, ports: CallPorts) {
    this.id = id;
    this.session = session;
    this.#work = work;
    this.#ports = ports;
    this.hold = new RecordHold(id, session.expiresAt, ports);
    this.#log = new CallLog(id, session.revision, ports);
    const rounds = new Rounds(this, work, ports);
    this.#log.readOn = (gap) => rounds.readOn(gap);
    this.#rounds = rounds;
    this.#since = ports.clock.monotonic();
    this.#lookedAt = this.#since;
    this.#extendedAt = this.#since;
  }

  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** Whether an attempt of it runs. */
  get isExecuting(): boolean {
    return this.#rounds.isExecuting;
  }

  get cancelled(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  begin(response: CallResponse): void {
    this.#response = response;
    this.#register();
    this.#rounds.begin();
  }

  /** Goes on with a call whose record this front has just taken. */
  resume(record: CallRecord, revision: string, logged: LoggedCall): void {
    this.#phase = "open";
    this.#recording = Promise.resolve(true);
    this.hold.take(record, revision);
    this.#log.release();
    this.#progress = logged.progress;
    this.#register();
    if (record.cancelled === undefined) this.#rounds.resume(logged.sent);
    else void this.cancel(record.cancelled.reason);
  }

  /** Looks at the record: an answer came, a stream reads elsewhere, the call was cancelled or taken. Never rejects. */
  async look(): Promise<void> {
    if (this.#phase !== "open" || (await this.#recording) !== true) return;
    let record: CallRecord | undefined;
    try {
      record = await this.hold.look();
    } catch (error) {
      this.#lookedAt = this.#ports.clock.monotonic() - lookMs + lookAgainMs;
      this.#ports.failed(error);
      return;
    }
    if (this.isOver) return;
    if (record === undefined) return this.drop();
    if (record.cancelled !== undefined) return this.cancel(record.cancelled.reason);
    const { reader } = record;
    this.#log.written =
      reader === undefined ? undefined : () => this.#ports.tell(reader.front, this.id);
    if (reader !== undefined) this.#log.detach();
    this.#rounds.answersCame();
    const isNew = reader !== undefined && !isSameReader(reader, this.#reader);
    this.#reader = reader;
    if (isNew) this.#rounds.readOn(reader.gap);
  }

  /** Reads the call on over another stream, in place of the one it had. */
  async attach(sink: EventSink, after: number): Promise<void> {
    this.#since = this.#ports.clock.monotonic();
    this.#log.written = undefined;
    this.#log.attach(sink, after);
    const reader = this.hold.record?.reader;
    if (reader === undefined) return;
    const isOurs = (await this.hold.change((each) => readBy(each, undefined))) !== undefined;
    if (isOurs) this.#ports.tell(reader.front, this.id);
  }

  /** The client wants no answer any more (C5). Never rejects. */
  async cancel(reason: string | undefined): Promise<void> {
    if (this.isOver) return;
    const isOpen = this.#phase === "open";
    this.#phase = "over";
    this.#abort?.abort();
    if (isOpen) await this.#recording;
    // A run with a key has an id of its own.
    const runId = this.hold.record?.runId ?? this.#work.runId;
    this.#ports.cancelRun(runId, this.#work.caller.principal, reason);
    if (isOpen) {
      await this.#conclude("ended", "", "cancelled", reason ?? "the call was cancelled");
    } else {
      this.#response?.nothing();
      this.#forget();
    }
  }

  /** The page of a URL ask is done. Only the client that was sent to it is told (MCP 2025-11-25, elicitation). */
  elicitationCompleted(id: string): void {
    const asks = Object.values(this.hold.record?.asks ?? {});
    if (this.isOver || !asks.some((ask) => ask.elicitationId === id)) return;
    this.send([elicitationCompleteNotification(id)]);
  }

  /** Lets the call go without a word (C4). */
  drop(): void {
    this.#phase = "over";
    this.#log.close();
    this.#forget();
  }

  /**
   * The session is over: nobody can answer what it asked any more (C6). A run under a key stays, because a call under the key
   * goes on with it; so does one that executes, until it asks. Never rejects.
   */
  async sessionEnded(): Promise<void> {
    if (this.isOver) return;
    if (this.#phase === "open") await this.#recording;
    if (!this.isOver) await this.#endWithSession();
  }

  async #endWithSession(): Promise<void> {
    const { record } = this.hold;
    const { caller } = this.#work;
    const runId = record?.runId ?? this.#work.runId;
    if (this.#phase === "plain") this.#response?.nothing();
    if (!isKeyed(this.#work)) {
      this.#rounds.unasked(() => this.#ports.cancelRun(runId, caller.principal, sessionOver));
    }
    this.drop();
    await this.hold.remove().catch(this.#ports.failed);
  }

  /** The stream is closed, the call goes on: its client comes back, here or elsewhere. */
  release(): void {
    const { sink } = this.#log;
    if (sink === undefined) return;
    if (this.#isPolled) sink.retry(this.#ports.config.retryMs);
    this.#log.detach();
  }

  tick(now: number): void {
    if (this.#phase === "plain") {
      if (now - this.#since >= this.#ports.commitAfterMs) this.#open();
      return;
    }
    const { record } = this.hold;
    if (record === undefined || this.isOver) return;
    this.#tend(now);
    const time = this.#ports.clock.now();
    if (time >= this.session.expiresAt) this.drop();
    else if (record.answerBefore !== undefined && time >= record.answerBefore) this.#expire();
    else if (now - this.#lookedAt >= lookMs) {
      this.#lookedAt = now;
      void this.look();
    }
  }

  progress(value: number, total: number | undefined, message: string | undefined): void {
    const { progressToken } = this.#work;
    const last = this.#progress ?? Number.NEGATIVE_INFINITY;
    // A replayed handler says again what it said before, and progress must increase (MCP 2025-11-25, progress).
    if (progressToken === undefined || !Number.isFinite(value) || value <= last) return;
    this.#progress = value;
    this.#notify(progressNotification(progressToken, value, total, message));
  }

  log(level: LogLevel, data: unknown, logger: string | undefined): void {
    this.#notify(logNotification(level, data as JsonValue, logger));
  }

  async opened(): Promise<void> {
    this.#open();
    if (this.#recording === undefined) throw this.#ports.limits.refusal();
    if ((await this.#recording) === true || this.isOver) return;
    throw new RepriseError("STORE_UNAVAILABLE", "The question could not be recorded.", {
      data: { retryAfterMs: 1000 },
    });
  }

  send(messages: readonly string[]): void {
    for (const message of messages) this.#log.push("message", message);
    if (messages.length > 0) this.#pushed();
  }

  ask(
    requests: readonly { readonly id: string; readonly text: string }[],
    numbered: (id: string, event: number | undefined) => void,
  ): void {
    for (const { id, text } of requests) {
      this.#log.push("message", text, (event) => numbered(id, event));
    }
    this.#pushed();
  }

  async respond(status: number, body: string, outcome: string): Promise<void> {
    if (this.#phase === "plain") {
      this.#phase = "over";
      this.#response?.json(status, body, outcome);
      this.#forget();
      return;
    }
    const isRecorded = await this.#recording;
    // A front that was paused may have lost the call meanwhile (C4).
    if (isRecorded === true) {
      const record = await this.hold.look().catch(() => this.hold.record);
      if (this.isOver) return;
      if (record === undefined) return this.drop();
    }
    if (this.isOver) return;
    this.#phase = "over";
    await this.#conclude("response", body, outcome, "the call has ended");
  }

  get #isPolled(): boolean {
    return rulesOf(this.session.revision).has.polledStreams;
  }

  /** A stream that opened while the front stops would keep it from stopping; its client goes on elsewhere. */
  #pushed(): void {
    if (this.#ports.presence.isClosed) void this.#log.flushed().then(() => this.release());
  }

  /** Opens the stream; false when the caller has as many as it may. */
  #open(): boolean {
    if (this.#phase !== "plain") return true;
    const response = this.#response;
    if (response === undefined || !this.#ports.limits.takeStream(this.#work.caller.principal)) {
      return false;
    }
    this.#phase = "open";
    this.#since = this.#ports.clock.monotonic();
    this.#log.begin(response.stream());
    this.#log.push("opened");
    this.#recording = this.#makeRecord();
    return true;
  }

  async #makeRecord(): Promise<boolean> {
    const { presence, shared, me, failed } = this.#ports;
    try {
      await presence.ensure();
      const [isNew, standing] = await Promise.all([
        this.hold.create(newCallRecord(this.#work, me)),
        // The notice of its end may have come between the session's admission and this call's registration.
        new SessionRecords(shared).find(this.session),
      ]);
      if (isNew && standing === undefined) {
        await this.#endWithSession();
        return true;
      }
      if (!isNew) this.#refuseRepeatedId();
      this.#log.release();
      return isNew;
    } catch (error) {
      failed(error);
      this.#log.release();
      return false;
    }
  }

  /** Another request of the session with this id is under way elsewhere: its stream and answers are not this one's. */
  #refuseRepeatedId(): void {
    const { requestId, method, runId, caller } = this.#work;
    const error = new RepriseError("INVALID_REQUEST", "A request with this id is under way.");
    const { body } = legacyErrorResponse(error, requestId, method);
    this.#log.sink?.write(undefined, body);
    this.#abort?.abort();
    this.#ports.cancelRun(runId, caller.principal, undefined);
    this.#response?.ended(error.code);
    this.drop();
  }

  #notify(message: string): void {
    if (!this.isOver && this.#open()) this.#log.notice(message);
  }

  #tend(now: number): void {
    if (now - this.#extendedAt >= logLifeMs / 3) {
      this.#extendedAt = now;
      this.#log.extend();
    }
    const { sink } = this.#log;
    if (sink === undefined) return;
    const isDue = isPollDue(this.#ports.config, this.session.revision, now - this.#since);
    const { expiresAt } = sink;
    const isOver = expiresAt !== undefined && this.#ports.clock.now() >= expiresAt;
    if (isOver || isDue) this.release();
    else if (now - sink.writtenAt >= this.#ports.heartbeatMs) sink.comment();
  }

  #expire(): void {
    const { requestId, method } = this.#work;
    const error = new RepriseError("ANSWER_OVERDUE", "A question was not answered in time.");
    const { status, body } = legacyErrorResponse(error, requestId, method);
    this.respond(status, body, error.code).catch(this.#ports.failed);
  }

  /** Withdraws what is open, writes the last event and lets everything go. Never rejects. */
  async #conclude(mark: Mark, text: string, outcome: string, reason: string): Promise<void> {
    const open = unanswered(this.hold.record?.asks ?? {});
    this.send(withdrawals(open, reason));
    this.#log.push(mark, text);
    await this.#log.flushed();
    this.#response?.ended(outcome);
    // Whoever takes the call over gives its client the end.
    if (this.#log.hasLost) return this.drop();
    this.#forget();
    await this.hold.remove().catch(this.#ports.failed);
  }

  #register(): void {
    this.#ports.calls.set(this.id, this);
    this.#ports.wheel.add(this);
  }

  #forget(): void {
    const { calls, wheel, limits } = this.#ports;
    wheel.delete(this);
    if (calls.get(this.id) === this) calls.delete(this.id);
    if (this.#response !== undefined && this.#recording !== undefined) {
      limits.giveStream(this.#work.caller.principal);
    }
    this.#response = undefined;
    this.#rounds.forget();
  }
}
