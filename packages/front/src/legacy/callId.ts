/**
 * Ids of calls, of their events and of their asks.
 *
 * All three begin with the session's id, so that a session can only ever name what is its own; comparing the beginning
 * is the check, and no record needs to be read for it.
 *
 * | id    | form                               |
 * |-------|------------------------------------|
 * | call  | `<session>-<request digest>`       |
 * | event | `<call>.<number in its log>`       |
 * | ask   | `<call>.<question digest>.<count>` |
 *
 * Some clients give every request the same id, one after another: their calls have one id too, in turns. Events of both stand
 * in one log and are counted on; a question's digest has the call's run in it, because an answer that comes late would
 * otherwise be one to the next call's question.
 */
import { hash } from "node:crypto";
import type { RequestId } from "@reprise/protocol";

/** 96 bits of SHA-256, base64url. */
export function shortDigest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 16);
}

/** The call that a request of a session is. The number 1 and the string "1" are two calls. */
export function callIdOf(sessionId: string, requestId: RequestId): string {
  return `${sessionId}-${shortDigest(JSON.stringify(requestId))}`;
}

/** The `count`th ask of a call. `runId` is the call's own. */
export function askIdOf(callId: string, runId: string, key: string, count: number): string {
  return `${callId}.${shortDigest(JSON.stringify([runId, key]))}.${count}`;
}

/** The id of an event of a call. */
export function eventIdOf(callId: string, number: number): string {
  return `${callId}.${number}`;
}

const eventId = /^([\w-]{1,200})\.(\d{1,15})$/;
const askId = /^([\w-]{1,200})\.[\w-]{16}\.\d{1,15}$/;

/** The call and the place in its log that `Last-Event-ID` names; undefined for what is no event of the session. */
export function readEventId(
  sessionId: string,
  text: string,
): { readonly callId: string; readonly number: number } | undefined {
  const [, callId, number] = eventId.exec(text) ?? [];
  if (callId === undefined || !callId.startsWith(`${sessionId}-`)) return undefined;
  return { callId, number: Number(number) };
}

/** The call that an answer is for; undefined when its id is no ask of the session. */
export function callOfAsk(sessionId: string, id: RequestId): string | undefined {
  if (typeof id !== "string") return undefined;
  const [, callId] = askId.exec(id) ?? [];
  return callId?.startsWith(`${sessionId}-`) === true ? callId : undefined;
}
