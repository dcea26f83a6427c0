/**
 * What a transition decided, written by the script that fits it. The scripts check everything that the decision rests on
 * once more; CONFLICT means that it no longer holds, and the store reads and decides again.
 *
 * Called by the store. It decides nothing.
 *
 * R1 Everything is encoded before anything is sent, and everything goes in one script.
 * R2 The expiry in Redis runs a minute ahead of the head's, so that most writes of an attempt need not move it.
 * R3 A run's first revision is drawn, so that no write decided on a run that was removed or lost fits one that has its name now.
 */
import { randomInt } from "node:crypto";
import {
  hasUndoable,
  MISMATCH_GRACE_MS,
  type RunHead,
  type RunOrigin,
  type RunWrite,
} from "@reprise/runtime";
import type { RedisClient } from "./connection.ts";
import type { DecisionFacts } from "./decisions.ts";
import { encodeHead, encodeOrigin, type HeadNotes, KEPT_AHEAD_MS } from "./headText.ts";
import { newsOf } from "./instanceChannel.ts";
import type { Keys } from "./keys.ts";
import type { RecordText } from "./recordText.ts";
import type { WriteReply } from "./runScripts.ts";
import * as scripts from "./runScripts.ts";
import { runScript } from "./script.ts";
import type { ServerTime } from "./storeClock.ts";

/** What a write is made on. */
export interface WrittenOn {
  readonly runId: string;
  readonly head: RunHead;
  readonly revision: number;
  readonly notes: HeadNotes;
}

/** A write on its way. */
export interface Sent {
  readonly reply: Promise<WriteReply>;
  /** The adapter's notes, once Redis has taken it. */
  readonly notes: HeadNotes;
}

/** A new run on its way. */
export interface SentRun extends Sent {
  /** Length of the origin as text. */
  readonly originBytes: number;
  /** That the run begins with. */
  readonly revision: number;
}

/** First revisions are drawn below this; a life of 2^52 writes stays exact. */
const FIRST_REVISIONS = 2 ** 32;

/** Writes runs of one instance. */
export class RunWriter {
  readonly #client: RedisClient;
  readonly #keys: Keys;
  readonly #time: ServerTime;
  readonly #text: RecordText;
  readonly #instance: string;
  readonly #leaseMs: number;

  constructor(facts: DecisionFacts) {
    this.#client = facts.client;
    this.#keys = facts.keys;
    this.#time = facts.time;
    this.#text = facts.text;
    this.#instance = facts.instance;
    this.#leaseMs = facts.leaseMs;
  }

  /** A new run without a key. */
  create(origin: RunOrigin, write: RunWrite): SentRun {
    const { head } = write;
    const { runId } = origin;
    const entries = this.#entries(write);
    const notes = notesAfter(head, undefined, entries);
    const goesOn = head.status === "running";
    const originText = this.#text.seal(encodeOrigin(origin));
    const revision = randomInt(FIRST_REVISIONS);
    const sent = this.#sent(
      notes,
      runScript(
        this.#client,
        scripts.createRun,
        this.#keys.ofRun(runId),
        {
          clock: this.#time.argument,
          runId,
          revision,
          origin: originText,
          head: this.#head(head, notes),
          keptUntil: notes.keptUntil,
          due: dueOf(head, this.#leaseMs),
          epoch: goesOn ? head.epoch : "",
          leaseMs: head.lease === undefined ? "" : this.#leaseMs,
          holder: this.#instance,
          stoppable: head.stoppable ? "1" : "",
          waiterId: head.waiters[0]?.id ?? "",
        },
        entries,
      ),
    );
    return { ...sent, originBytes: originText.length, revision };
  }

  /** A new run with a key. @param previous what the key led to, and the head it gets if it gives way */
  createKeyed(
    origin: RunOrigin,
    head: RunHead,
    scope: string,
    previous: { readonly run: WrittenOn; readonly head: RunHead | undefined } | undefined,
  ): SentRun {
    const { runId } = origin;
    const notes = notesAfter(head, undefined, []);
    const keys = this.#keys.ofRun(runId);
    const before = this.#keys.ofRun(previous?.run.runId ?? runId);
    const gone = previous?.head;
    const originText = this.#text.seal(encodeOrigin(origin));
    const revision = randomInt(FIRST_REVISIONS);
    const sent = this.#sent(
      notes,
      runScript(
        this.#client,
        scripts.createKeyedRun,
        {
          ...keys,
          idempotency: this.#keys.idempotency(scope),
          previous: before.run,
          previousJournal: before.journal,
        },
        {
          clock: this.#time.argument,
          runId,
          revision,
          origin: originText,
          head: this.#head(head, notes),
          keptUntil: notes.keptUntil,
          due: dueOf(head, this.#leaseMs),
          leaseMs: head.lease === undefined ? "" : this.#leaseMs,
          holder: this.#instance,
          waiterId: head.waiters[0]?.id ?? "",
          previousId: previous?.run.runId ?? "",
          previousRevision: previous?.run.revision ?? "",
          previousHead:
            gone === undefined || previous === undefined
              ? ""
              : this.#head(gone, notesAfter(gone, previous.run.notes, [])),
        },
      ),
    );
    return { ...sent, originBytes: originText.length, revision };
  }

  /** Progress of a live attempt, or its renewal. */
  append(on: WrittenOn, write: RunWrite, renewal: boolean): Sent {
    const entries = this.#entries(write);
    const notes = notesAfter(write.head, on.notes, entries);
    // A journal that begins now has no expiry yet.
    const begins = entries.length > 0 && on.head.entryCount === 0;
    const isKept = notes.keptUntil === on.notes.keptUntil && !begins;
    return this.#sent(
      notes,
      runScript(
        this.#client,
        scripts.appendEntries,
        this.#keys.ofRun(on.runId),
        {
          clock: this.#time.argument,
          runId: on.runId,
          revision: on.revision,
          head: this.#head(write.head, notes),
          leaseMs: this.#leaseMs,
          keptUntil: isKept ? "" : notes.keptUntil,
          renewal: renewal ? "1" : "",
        },
        entries,
      ),
    );
  }

  /**
   * A run that no attempt has after this.
   *
   * @param guard `dead`: only if no lease is live; `leads`: only if the run's key leads to it; a waiter's id: only if nobody else waits
   */
  settle(
    on: WrittenOn,
    write: RunWrite,
    guard: "none" | "dead" | "leads" | { readonly sole: string },
  ): Sent {
    const { head, cutEntriesAt } = write;
    const entries = this.#entries(write);
    const notes = notesAfter(head, on.notes, entries);
    return this.#sent(
      notes,
      runScript(
        this.#client,
        scripts.settleRun,
        this.#keys.ofRun(on.runId),
        {
          clock: this.#time.argument,
          runId: on.runId,
          revision: on.revision,
          head: this.#head(head, notes),
          keptUntil: notes.keptUntil,
          due: dueOf(head, this.#leaseMs),
          // Only an attempt that its requests can stop is left by them.
          epoch: head.status === "running" && head.stoppable ? head.epoch : "",
          guard: typeof guard === "object" ? "sole" : guard === "none" ? "" : guard,
          waiterId: typeof guard === "object" ? guard.sole : "",
          cutAt: cutEntriesAt ?? "",
          channels: this.#keys.channels,
          news: newsOf("ended", on.runId, on.head.epoch),
        },
        entries,
      ),
    );
  }

  /** The end of a run that is no longer wanted, whoever has it. */
  cancel(on: WrittenOn, write: RunWrite): Sent {
    const { head } = write;
    const notes = notesAfter(head, on.notes, []);
    return this.#sent(
      notes,
      runScript(this.#client, scripts.cancelRun, this.#keys.ofRun(on.runId), {
        clock: this.#time.argument,
        runId: on.runId,
        revision: on.revision,
        head: this.#head(head, notes),
        keptUntil: notes.keptUntil,
        due: dueOf(head, this.#leaseMs),
        epoch: head.status === "running" ? head.epoch : "",
        keepsLease: head.lease === undefined ? "" : "1",
        channels: this.#keys.channels,
        news: newsOf("ended", on.runId, on.head.epoch),
        stop: newsOf("cancel", on.runId, on.head.epoch),
      }),
    );
  }

  /** An attempt given out, to this instance or to the queue, anew or again. */
  give(on: WrittenOn, write: RunWrite, leadsHere: boolean): Sent {
    const { head, cutEntriesAt } = write;
    const again = head.epoch === on.head.epoch;
    const notes = notesAfter(head, on.notes, []);
    const waiter = head.waiters[0];
    return this.#sent(
      notes,
      runScript(this.#client, scripts.giveAttempt, this.#keys.ofRun(on.runId), {
        clock: this.#time.argument,
        runId: on.runId,
        revision: on.revision,
        head: this.#head(head, notes),
        keptUntil: notes.keptUntil,
        due: head.lease === undefined ? dueOf(head, this.#leaseMs) : "",
        epoch: head.epoch,
        leaseMs: head.lease === undefined ? "" : this.#leaseMs,
        holder: this.#instance,
        stoppable: head.stoppable ? "1" : "",
        waiters: again ? "keep" : waiter === undefined ? "none" : "one",
        waiterId: waiter?.id ?? "",
        again: again ? "1" : "",
        cutAt: cutEntriesAt ?? "",
        leadsHere: leadsHere ? "1" : "",
        channels: this.#keys.channels,
        news: newsOf("ended", on.runId, on.head.epoch),
      }),
    );
  }

  /** A request waits for the attempt that stands. */
  join(on: WrittenOn, waiterId: string): Sent {
    return this.#sent(
      on.notes,
      runScript(this.#client, scripts.joinAttempt, this.#keys.ofRun(on.runId), {
        clock: this.#time.argument,
        epoch: on.head.epoch,
        waiterId,
        holder: this.#instance,
      }),
    );
  }

  #head(head: RunHead, notes: HeadNotes): string {
    return this.#text.seal(encodeHead(head, notes));
  }

  #entries(write: RunWrite): readonly string[] {
    return (write.append ?? []).map((entry) => this.#text.seal(JSON.stringify(entry)));
  }

  #sent(notes: HeadNotes, sending: Promise<WriteReply>): Sent {
    return { notes, reply: this.#noted(sending) };
  }

  async #noted(sending: Promise<WriteReply>): Promise<WriteReply> {
    const reply = await sending;
    this.#time.note(reply.now);
    return reply;
  }
}

/** The adapter's notes once `entries` are written with `head`. */
function notesAfter(
  head: RunHead,
  before: HeadNotes | undefined,
  entries: readonly string[],
): HeadNotes {
  const kept = before?.keptUntil ?? 0;
  const added = entries.reduce((sum, entry) => sum + entry.length, 0);
  return {
    keptUntil: kept >= head.expiresAt ? kept : head.expiresAt + KEPT_AHEAD_MS,
    entryBytes: (before?.entryBytes ?? 0) + added,
  };
}

/** When somebody should look at a run that no attempt renews: a sweep, or who removes what has expired. */
function dueOf(head: RunHead, leaseMs: number): number {
  switch (head.status) {
    case "running":
      if (head.queued === true) return head.claimedAt + leaseMs;
      return head.lease?.until ?? head.updatedAt;
    case "waiting":
      return hasUndoable(head) ? head.stateExpiresAt : head.expiresAt;
    case "mismatched":
      return (head.mismatchedAt ?? head.updatedAt) + MISMATCH_GRACE_MS;
    default:
      return head.expiresAt;
  }
}
