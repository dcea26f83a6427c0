/**
 * A client of many instances: one front after the other, and the same request once more where an answer says that this helps.
 */
import { setTimeout as pause } from "node:timers/promises";
import { errorCodes, errorSpecs } from "@reprise/errors";
import type { Exchange } from "../../support/dialogue.ts";
import { ConnectionLost, type SentCall, sendCall, type WireReply } from "../../support/wire.ts";
import type { Topology } from "./topology.ts";

/** The errors that tell a client to repeat the request as it is. */
const repeatable = new Set(
  errorCodes
    .map((code) => errorSpecs[code])
    .filter(({ retryable, rpcCode }) => retryable && rpcCode < -30_000 && rpcCode > -32_000)
    .map(({ rpcCode }) => rpcCode),
);
/** A client waits less than it is told to: the matrices have many cases. */
const longestPauseMs = 200;

/** The reply, unless it says that the same request may be repeated. @throws ConnectionLost then, after a pause */
export async function unlessRepeatable(reply: Promise<WireReply>): Promise<WireReply> {
  const got = await reply;
  if (got.error === undefined || !repeatable.has(got.error.code)) return got;
  const { retryAfterMs = longestPauseMs } = (got.error.data ?? {}) as { retryAfterMs?: number };
  await pause(Math.min(retryAfterMs, longestPauseMs));
  throw new ConnectionLost(JSON.stringify(got.error));
}

/** Sends every request to the front whose turn it is. */
export function inTurn(
  topology: Topology,
  onSent: (call: SentCall) => void = () => undefined,
): Exchange {
  return async (params) => {
    const sent = sendCall(await topology.nextUrl(), params);
    onSent(sent);
    return topology.unlessItFails(unlessRepeatable(sent.reply));
  };
}
