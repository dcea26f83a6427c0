/**
 * What attempts record: progress, renewals, the end of a round; and that a request leaves one.
 *
 * Called by the store. An attempt's own process knows what it wrote last, so each of its writes is one script without a read.
 */
import {
  type AttemptRef,
  type CancelReply,
  type CancelRun,
  cancel,
  type LeaveReply,
  leave,
  type RunWrite,
  type StoredRun,
  type Transition,
  type TransitionEnv,
  type TransitionReply,
} from "@reprise/runtime";
import type { Attempts, OwnedRun } from "./attempts.ts";
import type { RedisClient } from "./connection.ts";
import type { Decisions } from "./decisions.ts";
import { newsOf } from "./instanceChannel.ts";
import { isWord, type Keys } from "./keys.ts";
import { EntriesWanted } from "./readRun.ts";
import { leaveAttempt } from "./runScripts.ts";
import type { RunWriter, Sent, WrittenOn } from "./runWriter.ts";
import { runScript } from "./script.ts";
import type { ServerTime } from "./storeClock.ts";
import { countWaiting } from "./waitingCounts.ts";
import type { WaitingUse } from "./waitingUse.ts";
import type { Watches } from "./watches.ts";

/** What the writes of attempts are made of. */
export interface AttemptParts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly decisions: Decisions;
  readonly writer: RunWriter;
  readonly attempts: Attempts;
  readonly waiting: WaitingUse;
  readonly watches: Watches;
}

/** Decides a transition of an attempt. */
type Decide = (run: StoredRun | undefined, env: TransitionEnv) => Transition<TransitionReply>;
/** Sends what was decided. */
type Send = (on: WrittenOn, write: RunWrite) => Sent;

/** The writes of one store's attempts. */
export class AttemptWrites {
  readonly #parts: AttemptParts;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  /** A transition of an attempt: on what this process wrote last, else on what stands in Redis. */
  async progress(ref: AttemptRef, decide: Decide, send: Send): Promise<TransitionReply> {
    const { attempts, decisions, time } = this.#parts;
    const owned = attempts.find(ref);
    if (owned !== undefined) {
      const decided = decide(asStored(owned), decisions.env(time.now()));
      // A re-send is answered from Redis: only there stands whether the attempt was stopped.
      const reply = decided.write && (await this.#write(owned, decided.write, send));
      if (reply !== undefined) return reply;
    }
    let taken: TransitionReply | undefined;
    const reply = await decisions.decide(ref.runId, false, decide, async (run, { write }) => {
      const { principal } = run.origin.caller;
      taken = write && (await this.#write({ ...run, principal }, write, send));
      return taken !== undefined;
    });
    return taken ?? reply;
  }

  /** Ends a run whoever has it. */
  cancel(input: CancelRun): Promise<CancelReply> {
    const { attempts, decisions, writer, waiting, watches } = this.#parts;
    const { runId } = input;
    return decisions.decide(
      runId,
      false,
      (run, env) => cancel(run, input, env),
      async (run, { write }) => {
        if (write === undefined) return true;
        const written = await writer.cancel(run, write).reply;
        if (written.tag !== "OK") return false;
        attempts.drop(runId);
        const { principal } = run.origin.caller;
        countWaiting(waiting, run.head, write.head, { runId, principal, bytes: () => 0 });
        watches.ended(runId, run.head.epoch);
        return true;
      },
    );
  }

  /** A request no longer waits for the attempt. */
  async leave(runId: string, epoch: number, waiterId: string): Promise<LeaveReply> {
    const { client, keys, decisions, writer, watches } = this.#parts;
    if (!isWord(runId)) return { stopping: false };
    const ask = () =>
      runScript(client, leaveAttempt, keys.ofRun(runId), {
        epoch,
        waiterId,
        channels: keys.channels,
        news: newsOf("ended", runId, epoch),
        stop: newsOf("stop", runId, epoch),
      });
    for (;;) {
      const left = await ask();
      const stopping = left.tag === "OK" && left.stopping;
      if (stopping) watches.ended(runId, epoch);
      if (left.tag !== "LAST") return { stopping };
      // The last waiter of a queued attempt: the run ends waiting for a worker, which is a decision on its head.
      const isEnded = await decisions.decide(
        runId,
        false,
        (run, env) => endOfQueued(leave(run, epoch, waiterId, env)),
        async (run, { write }) => {
          if (write === undefined) return true;
          return (await writer.settle(run, write, { sole: waiterId }).reply).tag === "OK";
        },
      );
      if (!isEnded) continue;
      watches.ended(runId, epoch);
      return { stopping: true };
    }
  }

  /** Undefined when what the write was made on no longer stands. */
  async #write(on: OwnedRun, write: RunWrite, send: Send): Promise<TransitionReply | undefined> {
    const { attempts, waiting, watches } = this.#parts;
    const { runId, principal, originBytes } = on;
    const { head } = write;
    const goesOn = head.lease !== undefined;
    const sent = send(on, write);
    // At once: what is sent next, a renewal beside an append, is decided on this write and comes after it.
    if (goesOn) {
      const revision = on.revision + 1;
      attempts.keep({ runId, principal, originBytes, head, revision, notes: sent.notes });
    } else attempts.drop(runId);
    try {
      const written = await sent.reply;
      if (written.tag !== "OK") {
        attempts.drop(runId);
        return undefined;
      }
      countWaiting(waiting, on.head, head, {
        runId,
        principal,
        bytes: () => originBytes + sent.notes.entryBytes + JSON.stringify(head).length,
      });
      if (!goesOn) watches.ended(runId, head.epoch);
      return { tag: "OK", stopping: goesOn && written.stopping };
    } catch (failure) {
      attempts.drop(runId);
      throw failure;
    }
  }
}

/** Progress and ends look at nothing but the head. */
function asStored(owned: OwnedRun): StoredRun {
  return {
    get origin(): StoredRun["origin"] {
      throw new EntriesWanted();
    },
    head: owned.head,
    entries: () => {
      throw new EntriesWanted();
    },
  };
}

/**
 * A leave that ends a queued attempt. Of any other the reply is the script's: a worker has taken the attempt or another request waits
 * by now, and who still waits is not known from the head.
 */
function endOfQueued({ write }: Transition<LeaveReply>): Transition<boolean> {
  if (write === undefined || write.head.status === "running") return { reply: false };
  return { reply: true, write };
}
