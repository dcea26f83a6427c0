/**
 * `Last-Event-ID`: the rest of a call's stream, on whatever front it is asked for (MCP 2025-11-25, transports,
 * "Resumability and Redelivery").
 */
import { RepriseError } from "@reprise/errors";
import type { Caller } from "@reprise/runtime";
import { readEventId } from "./callId.ts";
import { readEvents, sendEvent } from "./callLog.ts";
import { callKey } from "./callRecord.ts";
import type { EventStream } from "./eventStream.ts";
import { type LaneParts, randomId } from "./laneParts.ts";
import { ResumedStream } from "./resumedStream.ts";
import type { LegacySession } from "./sessionToken.ts";
import { takeOver } from "./takeOver.ts";

/**
 * Continues a stream after an event. `open` opens the response's.
 * @throws RepriseError INVALID_PARAMS when the id names no event of the session that is kept
 */
export async function resume(
  lastEventId: string,
  session: LegacySession,
  caller: Caller,
  open: () => EventStream,
  { ports, resumed }: Pick<LaneParts, "ports" | "resumed">,
): Promise<void> {
  const place = readEventId(session.id, lastEventId);
  if (place === undefined) throw unknownEvent();
  const { callId, number } = place;
  const call = ports.calls.get(callId) ?? (await takeOver(session, caller, callId, ports));
  if (call !== undefined) return call.attach(open(), number);
  if ((await ports.shared.get(callKey(callId))) !== undefined) {
    const where = { callId, after: number, name: randomId() };
    new ResumedStream(where, { session, caller }, open(), ports, resumed).start();
    return;
  }
  // The call has ended: what the client missed is in the log, for as long as that is kept.
  const { shared } = ports;
  let stream: EventStream | undefined;
  const { last } = await readEvents(shared, callId, number, (event) => {
    stream ??= open();
    sendEvent(stream, callId, session.revision, event.number, event.mark, event.text);
  });
  if (last === 0) throw unknownEvent();
  (stream ?? open()).end();
}

function unknownEvent(): RepriseError {
  return new RepriseError(
    "INVALID_PARAMS",
    "Last-Event-ID names no event of this session that is kept; send the request anew.",
  );
}
