/**
 * The mailbox: a client's response to an ask, on whatever front it arrives (docs/design.md 8.2).
 *
 * A1 An answer counts once, for the session that was asked, while its ask is open; everything else changes nothing and is
 *    told nobody. The client gets 202 either way: it can do nothing about it.
 * A2 An answer is in the call's record before its owner hears of it; a lost notice only makes it late.
 * A3 If the owner died, the front that has the answer drives the call on.
 */
import { liftAnswer, type ResponseMessage } from "@reprise/protocol";
import type { Caller } from "@reprise/runtime";
import { callOfAsk } from "./callId.ts";
import type { CallPorts } from "./callPorts.ts";
import {
  type Answer,
  answered,
  type CallRecord,
  callKey,
  callValue,
  readCallRecord,
  recordExpiry,
} from "./callRecord.ts";
import type { LegacySession } from "./sessionToken.ts";
import { takeOver } from "./takeOver.ts";

const maxTries = 50;

/** Delivers a response to the call that asked. */
export async function deliver(
  session: LegacySession,
  caller: Caller,
  response: ResponseMessage,
  ports: CallPorts,
): Promise<void> {
  const callId = callOfAsk(session.id, response.id);
  if (callId === undefined) return;
  const written = await write(session, callId, String(response.id), response, ports);
  if (written === undefined) return;
  const { owner } = written;
  const { calls, presence, me } = ports;
  if (owner !== me && (await presence.isAlive(owner))) return ports.tell(owner, callId);
  const own = owner === me ? calls.get(callId) : undefined;
  await (own ?? (await takeOver(session, caller, callId, ports)))?.look();
}

/** Writes the answer. Undefined when there is nothing that it answers. */
async function write(
  session: LegacySession,
  callId: string,
  askId: string,
  response: ResponseMessage,
  { shared }: CallPorts,
): Promise<CallRecord | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await shared.get(callKey(callId));
    const record = found === undefined ? undefined : readCallRecord(found);
    const method = record?.asks[askId]?.method;
    if (found === undefined || record === undefined || method === undefined) return undefined;
    const lifted = liftAnswer(method, response);
    const answer: Answer =
      lifted.kind === "result" ? { result: lifted.result } : { error: lifted.error };
    const next = answered(record, askId, answer);
    if (next === undefined) return undefined;
    const expiresAt = recordExpiry(next, session.expiresAt);
    const revision = await shared.put(callKey(callId), callValue(next), found.revision, expiresAt);
    if (revision !== undefined) return next;
  }
  throw new Error(`the record of call ${callId} is always changed by somebody else`);
}
