/**
 * The shared record of a call whose stream is open: what another front needs to answer it, to read it on, to end it and,
 * if its owner died, to drive it.
 *
 * Pure transitions; call.ts and answers.ts write them by compare-and-set. Undefined: there is nothing to change.
 *
 * R1 One front drives a call: its `owner`. Whoever takes it over writes its own name, and from then on the former owner's
 *    writes fail.
 * R2 The first answer to an open ask stands; no later one changes it.
 * R3 An ask id is never given twice, not by a later call of the same id either, and begins with the call's id.
 */
import type { AskWire, ClientError, JsonObject, JsonValue, RequestId } from "@reprise/protocol";
import type { RunMethod, SharedKey, SharedRecord } from "@reprise/runtime";

/** What a client answered. */
export type Answer = { readonly result: JsonObject } | { readonly error: ClientError };

/** A question that was sent to the client. */
export interface OpenAsk {
  /** The handler's key for it. */
  readonly key: string;
  /** Digest of the exact question. */
  readonly question: string;
  readonly method: AskWire["method"];
  /** How often it was answered with what the run could not use. */
  readonly unusable: number;
  /** Of a URL ask on 2025-11-25. */
  readonly elicitationId?: string;
  readonly answer?: Answer;
}

/** Events that a reader should have had and that are no longer kept: those with a number between these two. */
export interface Gap {
  readonly after: number;
  readonly before: number;
}

/** A GET stream on another front that reads the call on. */
export interface Reader {
  readonly front: string;
  readonly stream: string;
  /** What its client should have had and is no longer kept. */
  readonly gap?: Gap;
}

/** A call's record. */
export interface CallRecord {
  readonly format: 1;
  readonly requestId: RequestId;
  readonly method: RunMethod;
  readonly params: JsonObject;
  readonly runId: string;
  readonly owner: string;
  /** Of the open round; undefined while the first has no outcome. */
  readonly requestState?: string;
  /** Epoch milliseconds at which the open round's questions expire. */
  readonly answerBefore?: number;
  /** By ask id. */
  readonly asks: Readonly<Record<string, OpenAsk>>;
  /** Questions sent so far. */
  readonly asked: number;
  readonly reader?: Reader;
  /** The client cancelled the call on a front that is not its owner. */
  readonly cancelled?: { readonly reason: string | undefined };
}

/** The record of a call that begins here. */
export function newCallRecord(
  {
    requestId,
    method,
    params,
    runId,
  }: Pick<CallRecord, "requestId" | "method" | "params" | "runId">,
  owner: string,
): CallRecord {
  return { format: 1, requestId, method, params, runId, owner, asks: {}, asked: 0 };
}

/** A round that asks. */
export interface AskingRound {
  /** The run's own id where it has another than the one that the call drew for it: of a run with a key. */
  readonly runId?: string;
  readonly requestState: string;
  readonly answerBefore: number;
  readonly asks: Readonly<Record<string, OpenAsk>>;
  readonly asked: number;
}

/** The round's questions stand. Answers that came meanwhile to questions that stay open are kept. */
export function asking(record: CallRecord, round: AskingRound): CallRecord {
  const asks = Object.fromEntries(
    Object.entries(round.asks).map(([id, ask]) => {
      const { answer } = record.asks[id] ?? {};
      return [id, answer === undefined ? ask : { ...ask, answer }];
    }),
  );
  // Held while a human thinks: a literal without spreads, because V8 gives each object with those a hidden class of its own.
  const { format, requestId, method, params, owner, reader, cancelled } = record;
  const { requestState, answerBefore, asked } = round;
  const runId = round.runId ?? record.runId;
  const next: { -readonly [Member in keyof CallRecord]: CallRecord[Member] } = {
    format,
    requestId,
    method,
    params,
    runId,
    owner,
    asks,
    asked,
    requestState,
    answerBefore,
  };
  if (reader !== undefined) next.reader = reader;
  if (cancelled !== undefined) next.cancelled = cancelled;
  return next;
}

/** An answer came. Undefined when that ask is not open, or answered (R2). */
export function answered(
  record: CallRecord,
  askId: string,
  answer: Answer,
): CallRecord | undefined {
  const ask = Object.hasOwn(record.asks, askId) ? record.asks[askId] : undefined;
  if (ask === undefined || ask.answer !== undefined) return undefined;
  return { ...record, asks: { ...record.asks, [askId]: { ...ask, answer } } };
}

/** Another front drives the call from now on (R1). */
export function takenOver(record: CallRecord, owner: string): CallRecord {
  const { reader: _, ...rest } = record;
  return { ...rest, owner };
}

/** A stream of another front reads the call; undefined: none does any more. */
export function readBy(record: CallRecord, reader: Reader | undefined): CallRecord | undefined {
  if (isSameReader(record.reader, reader)) return undefined;
  const { reader: _, ...rest } = record;
  return reader === undefined ? rest : { ...rest, reader };
}

/** Whether nothing is new about a reader. */
export function isSameReader(one: Reader | undefined, other: Reader | undefined): boolean {
  return one?.stream === other?.stream && one?.gap?.before === other?.gap?.before;
}

/** The client cancelled the call. */
export function cancelling(record: CallRecord, reason: string | undefined): CallRecord | undefined {
  return record.cancelled === undefined ? { ...record, cancelled: { reason } } : undefined;
}

/** How long a record outlives its questions: whoever tells the client that they expired must still find it. */
const graceMs = 5 * 60 * 1000;

/** When a record expires, in epoch milliseconds; `latest` is the end of its session. */
export function recordExpiry({ answerBefore }: CallRecord, latest: number): number {
  return answerBefore === undefined ? latest : Math.min(latest, answerBefore + graceMs);
}

/** Where the record and the log of a call are. */
export function callKey(id: string): SharedKey {
  return { kind: "call", id };
}

/** A record as it was read; undefined for one of another release's format, which nobody here may drive. */
export function readCallRecord({ value }: SharedRecord): CallRecord | undefined {
  const record = value as unknown as CallRecord;
  return record.format === 1 ? record : undefined;
}

/** A record as it is written. */
export function callValue(record: CallRecord): JsonValue {
  return record as unknown as JsonValue;
}
