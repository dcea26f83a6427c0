/**
 * A request that waits for an attempt elsewhere.
 *
 * A1 A request that is gone leaves the attempt before anything else: the last to leave stops it (docs/design.md 4.5).
 * A2 A wake-up says only that it is worth looking again.
 */
import { RepriseError } from "@reprise/errors";
import { pause } from "./clock.ts";
import type { QueuedJob, Sender } from "./dispatcher.ts";
import type { EngineDeps } from "./engineDeps.ts";
import type { RunStore } from "./storePort.ts";

/** An attempt as a claim showed it. */
export interface Awaited {
  readonly runId: string;
  readonly epoch: number;
  /** Whether the request is a waiter of it. */
  readonly joined: boolean;
}

/** How long a request waits before it looks again at an attempt that is being stopped. */
const STOPPING_PAUSE_MS = 25;

/**
 * Resolves when it is worth looking at the run again. Rejects when the sender is gone, or with the reason of a draining process.
 * @param job the attempt's job, when this process queued it
 */
export async function untilOver(
  deps: EngineDeps,
  store: RunStore,
  sender: Sender,
  waiterId: string,
  attempt: Awaited,
  timeoutMs: number,
  job?: QueuedJob,
): Promise<void> {
  const { runId, epoch, joined } = attempt;
  const over = new AbortController();
  let drain: RepriseError | undefined;
  const waiting = {
    slot: 0,
    stop: (reason?: RepriseError) => {
      drain = reason;
      over.abort();
    },
  };
  if (sender.isGone) over.abort();
  const stopListening = sender.onGone(() => over.abort());
  if (job !== undefined) deps.attempts.add(waiting);
  try {
    // An attempt that is being stopped takes no waiter and ends no watch: looking again at once would spin.
    if (!joined) await pause(deps.clock, STOPPING_PAUSE_MS, over.signal);
    const watch = store.watch(runId, epoch, timeoutMs, over.signal);
    await (job === undefined ? watch : Promise.race([watch, job.ended]));
  } finally {
    stopListening();
    if (job !== undefined) deps.attempts.delete(waiting);
    job?.release();
    // Ends the watch that the job's end was quicker than.
    over.abort();
  }
  // Still a waiter: the run goes on, and the repeated request joins it elsewhere.
  if (drain !== undefined) throw drain;
  if (!sender.isGone) return;
  if (joined) await store.leave(runId, epoch, waiterId);
  throw new RepriseError("INTERRUPTED", "the request is gone");
}
