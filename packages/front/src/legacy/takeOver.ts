/**
 * Calls of a dead front: whoever gets their answer or their GET drives them on.
 *
 * O1 Only a call whose owner gave no sign of life for its lease is taken; two who try at once, one succeeds, and within a
 *    front both have it then.
 * O2 The run is joined or executed again under the same id, never begun beside itself: that is the runtime's promise.
 * O3 A take-over that fails half way leaves a call that the next one takes; one that can't go on ends with the error.
 *    A tool that was switched off meanwhile goes on: its run has begun. One whose session has ended ends with it.
 * O4 What the client was sent already is not sent again: the log says what that was, as far as it is kept.
 */
import { isRepriseError, type RepriseError } from "@reprise/errors";
import {
  isJsonObject,
  type JsonValue,
  legacyErrorResponse,
  readProgressToken,
} from "@reprise/protocol";
import type { Caller, LogLevel } from "@reprise/runtime";
import { checkedArgs, findTarget } from "../target.ts";
import { LegacyCall } from "./call.ts";
import { CallLog, type LoggedCall, readEvents } from "./callLog.ts";
import type { CallPorts } from "./callPorts.ts";
import {
  type CallRecord,
  callKey,
  callValue,
  readCallRecord,
  recordExpiry,
  takenOver,
} from "./callRecord.ts";
import type { CallWork } from "./callRequest.ts";
import { unanswered, withdrawals } from "./openAsks.ts";
import { SessionRecords } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/**
 * Takes a call over if its owner died. Gives the call if this front drives it then; undefined when another front does, or
 * the call has ended.
 */
export function takeOver(
  session: LegacySession,
  caller: Caller,
  callId: string,
  ports: CallPorts,
): Promise<LegacyCall | undefined> {
  const { takeOvers } = ports;
  const begun = takeOvers.get(callId);
  if (begun !== undefined) return begun;
  const taking = take(session, caller, callId, ports).finally(() => takeOvers.delete(callId));
  takeOvers.set(callId, taking);
  return taking;
}

async function take(
  session: LegacySession,
  caller: Caller,
  callId: string,
  ports: CallPorts,
): Promise<LegacyCall | undefined> {
  const { shared, presence, calls, me } = ports;
  const found = await shared.get(callKey(callId));
  const record = found === undefined ? undefined : readCallRecord(found);
  if (found === undefined || record === undefined) return undefined;
  const here = calls.get(callId);
  if (record.owner === me && here !== undefined) return here;
  // A record of this front without its call is of a take-over that failed half way: it is taken once more.
  if (record.owner !== me && (await presence.isAlive(record.owner))) return undefined;
  await presence.ensure();
  const next = takenOver(record, me);
  const expiresAt = recordExpiry(next, session.expiresAt);
  const revision = await shared.put(callKey(callId), callValue(next), found.revision, expiresAt);
  if (revision === undefined) return undefined;
  const logged = await readLog(callId, ports);
  if (logged === undefined) {
    // The former owner died between the last event and the end of the record.
    await shared.remove(callKey(callId), revision);
    return undefined;
  }
  const records = new SessionRecords(shared);
  const standing = await records.find(session);
  let call: LegacyCall;
  try {
    const work = await workOf(caller, next, standing?.logLevel, ports);
    call = new LegacyCall(callId, session, work, ports);
  } catch (error) {
    if (!isRepriseError(error) || error.spec.retryable) throw error;
    await end(session, callId, next, revision, error, ports);
    return undefined;
  }
  // One that this front had before its lease was over knows nothing of what came since.
  calls.get(callId)?.drop();
  // A former owner that was only paused lets go at once.
  ports.tell(record.owner, callId);
  if (standing === undefined) {
    call.hold.take(next, revision);
    await call.sessionEnded();
    return undefined;
  }
  call.resume(next, revision, logged);
  // An answer, or the end of the session, may have come since they were read.
  const [hasEnded] = await Promise.all([hasSessionEnded(session, records, ports), call.look()]);
  if (hasEnded) await call.sessionEnded();
  return call.isOver ? undefined : call;
}

/** The call goes on here already: a store that can't say is no reason to refuse what brought it here. */
async function hasSessionEnded(
  session: LegacySession,
  records: SessionRecords,
  { failed }: CallPorts,
): Promise<boolean> {
  try {
    return (await records.find(session)) === undefined;
  } catch (error) {
    failed(error);
    return false;
  }
}

/** Ends a call that can't go on here: its tool is gone, or takes other arguments now. Else it would wait for ever. */
async function end(
  session: LegacySession,
  callId: string,
  record: CallRecord,
  revision: string,
  error: RepriseError,
  ports: CallPorts,
): Promise<void> {
  const log = new CallLog(callId, session.revision, ports);
  log.release();
  for (const message of withdrawals(unanswered(record.asks), error.message)) {
    log.push("message", message);
  }
  log.push("response", legacyErrorResponse(error, record.requestId, record.method).body);
  await log.flushed();
  await ports.shared.remove(callKey(callId), revision);
}

async function workOf(
  caller: Caller,
  { requestId, method, params, runId }: CallRecord,
  logLevel: LogLevel | undefined,
  { runtime }: CallPorts,
): Promise<CallWork> {
  const { handler, target, rawArgs } = findTarget(method, params, runtime.wholeCatalog);
  return {
    ...{ requestId, method, params, runId, handler, target, caller, logLevel },
    args: await checkedArgs(handler, rawArgs),
    progressToken: readProgressToken(params),
  };
}

/** What the client was sent since the call began; undefined when that includes the end. */
async function readLog(callId: string, { shared }: CallPorts): Promise<LoggedCall | undefined> {
  let sent = new Map<string, number>();
  let progress: number | undefined;
  let hasEnded = false;
  await readEvents(shared, callId, 0, ({ number, mark, text }) => {
    if (mark === "opened") {
      sent = new Map();
      progress = undefined;
      hasEnded = false;
    } else if (mark === "message") {
      const message = JSON.parse(text) as JsonValue;
      if (!isJsonObject(message)) return;
      if (typeof message["id"] === "string") sent.set(message["id"], number);
      else progress = progressOf(message) ?? progress;
    } else hasEnded = true;
  });
  return hasEnded ? undefined : { sent, progress };
}

function progressOf(message: { readonly [member: string]: JsonValue }): number | undefined {
  const { method, params } = message;
  const value = isJsonObject(params) ? params["progress"] : undefined;
  return method === "notifications/progress" && typeof value === "number" ? value : undefined;
}
