/**
 * Requests that are cancelled while something of theirs executes (docs/design.md 4.5).
 *
 * Called by the lanes. What an attempt does about it is the attempt's; here is who hears of it, and that a record learns of it.
 */
import { isRepriseError } from "@reprise/errors";
import { pause } from "./clock.ts";
import type { EngineDeps } from "./engineDeps.ts";
import type { CancelOptions, CancelOutcome, RunRequest } from "./runtimeTypes.ts";
import type { CancelReply, CancelRun, RunStore } from "./storePort.ts";

const RETRY_PAUSE_MS = 100;

/** Calls `listener` once when the request is cancelled, at once if it is already; returns how to call that off. */
export function onCancelled(
  { cancelled }: Pick<RunRequest, "cancelled">,
  listener: () => void,
): () => void {
  if (cancelled === undefined) return () => undefined;
  if (cancelled.aborted) {
    listener();
    return () => undefined;
  }
  cancelled.addEventListener("abort", listener, { once: true });
  return () => cancelled.removeEventListener("abort", listener);
}

/** Ends a recorded run, for `Runtime.cancel`. @throws RepriseError STORE_UNAVAILABLE */
export async function cancelRun(
  deps: Pick<EngineDeps, "reporter">,
  store: RunStore,
  runId: string,
  { principal, reason }: CancelOptions,
): Promise<CancelOutcome> {
  const reply = await cancelAndTell(deps, store, { runId, principal, reason });
  switch (reply.tag) {
    case "CANCELLED":
      return {
        kind: "cancelled",
        round: reply.round,
        ...(reply.undoing === true ? { undoing: true } : {}),
      };
    case "ENDED":
      return { kind: "ended", round: reply.round, status: reply.status };
    case "LOST":
      return { kind: "unknown" };
  }
}

/** Ends the recorded run of a request; tried again for a lease's time while the store is away. Never rejects. */
export async function cancelRecorded(
  { clock, log, reporter }: Pick<EngineDeps, "clock" | "log" | "reporter">,
  store: RunStore,
  request: RunRequest,
  runId: string,
): Promise<void> {
  const until = clock.monotonic() + store.leaseMs;
  for (;;) {
    try {
      const { principal } = request.caller;
      await cancelAndTell({ reporter }, store, { runId, principal, reason: undefined });
      return;
    } catch (error) {
      const mayRetry = isRepriseError(error) && error.spec.retryable && clock.monotonic() < until;
      const word = mayRetry ? "not yet" : "not";
      log.warn({ err: error, run: runId }, `a cancelled run could ${word} be ended in its record`);
      if (!mayRetry) return;
    }
    await pause(clock, RETRY_PAUSE_MS);
  }
}

/** Ends the run; observers, if there are any, hear of an end that this call was the first to record. */
async function cancelAndTell(
  { reporter }: Pick<EngineDeps, "reporter">,
  store: RunStore,
  input: CancelRun,
): Promise<CancelReply> {
  if (reporter === undefined) return store.cancel(input);
  // Only for what is told: a run that can't be looked at is cancelled all the same.
  const before = await store.load(input.runId).catch(() => undefined);
  const reply = await store.cancel(input);
  if (reply.tag !== "CANCELLED" || before === undefined) return reply;
  const { origin, head } = before;
  if (head.status !== "cancelled" && head.undo === undefined) {
    const status = reply.undoing === true ? "running" : "cancelled";
    reporter.acted({ origin, head: { ...head, status } }, "cancelled");
  }
  return reply;
}
