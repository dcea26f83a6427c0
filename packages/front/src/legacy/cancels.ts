/**
 * `notifications/cancelled` of a client, on whatever front it arrives: ends the call that it names.
 */
import type { RequestId } from "@reprise/protocol";
import type { Caller } from "@reprise/runtime";
import { callIdOf } from "./callId.ts";
import type { CallPorts } from "./callPorts.ts";
import { callKey, callValue, cancelling, readCallRecord, recordExpiry } from "./callRecord.ts";
import type { Notices } from "./notices.ts";
import type { LegacySession } from "./sessionToken.ts";
import { takeOver } from "./takeOver.ts";

const maxTries = 50;

/** Cancels a call of the session. One that has ended, or never was, is no error (MCP 2025-11-25, cancellation). */
export async function cancelCall(
  session: LegacySession,
  caller: Caller,
  cancelled: { readonly requestId: RequestId; readonly reason: string | undefined },
  ports: CallPorts,
  notices: Notices,
): Promise<void> {
  const { shared, presence, calls, me } = ports;
  const { requestId, reason } = cancelled;
  const callId = callIdOf(session.id, requestId);
  const call = calls.get(callId);
  if (call !== undefined) return call.cancel(reason);
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await shared.get(callKey(callId));
    const record = found === undefined ? undefined : readCallRecord(found);
    // Another front may be about to answer it without ever needing a record.
    if (found === undefined || record === undefined) return notices.cancel(callId, reason);
    const next = cancelling(record, reason);
    if (next === undefined) return;
    const expiresAt = recordExpiry(next, session.expiresAt);
    const written = await shared.put(callKey(callId), callValue(next), found.revision, expiresAt);
    if (written === undefined) continue;
    // Not left to the owner: what runs must stop within a second, wherever it runs.
    ports.cancelRun(record.runId, caller.principal, reason);
    const { owner } = record;
    if (owner !== me && (await presence.isAlive(owner))) return ports.tell(owner, callId);
    await (await takeOver(session, caller, callId, ports))?.look();
    return;
  }
}
