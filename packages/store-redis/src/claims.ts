/**
 * Claims: who gets the attempt of a run, and how runs begin.
 *
 * Called by the store. Decisions are the runtime's (`transitions/`), what they rest on is checked by the scripts.
 *
 * C1 A new run is written on the guess that nothing stands in its place, which its script checks: one round trip.
 * C2 A limit refuses only calls that would make a run: a repeated first call finds its run whatever the limit says.
 */
import {
  type ClaimFirst,
  type ClaimReply,
  type CreateReply,
  type CreateRun,
  claimFirst,
  createRun,
  type OperateReply,
  type RetryRun,
  retry,
  type Transition,
  type TransitionEnv,
} from "@reprise/runtime";
import type { Attempts, OwnedRun } from "./attempts.ts";
import type { Capacity } from "./capacity.ts";
import type { RedisClient } from "./connection.ts";
import { type Decisions, MAX_TRIES, overload, withEntriesIfWanted } from "./decisions.ts";
import { isWord, type Keys } from "./keys.ts";
import { keyRecordOf, type ReadRun } from "./readRun.ts";
import type { RunWriter } from "./runWriter.ts";
import type { ServerTime } from "./storeClock.ts";
import { countWaiting } from "./waitingCounts.ts";
import type { WaitingUse } from "./waitingUse.ts";
import type { Watches } from "./watches.ts";

/** What claims are made of. */
export interface ClaimParts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly decisions: Decisions;
  readonly writer: RunWriter;
  readonly attempts: Attempts;
  readonly waiting: WaitingUse;
  readonly capacity: Capacity;
  readonly watches: Watches;
}

/** Claims of one store. */
export class Claims {
  readonly #parts: ClaimParts;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  async createRun(input: CreateRun): Promise<CreateReply> {
    const { origin } = input;
    const { runId } = origin;
    const { principal } = origin.caller;
    const { capacity, waiting, decisions, time, writer } = this.#parts;
    checkWord("origin.runId", runId);
    await capacity.check();
    const limit = await waiting.limitOf(principal);
    const { reply, write } = createRun(undefined, input, decisions.env(time.now(), limit));
    if (write !== undefined) {
      const sent = writer.create(origin, write);
      const written = await sent.reply;
      if (written.tag === "OK") {
        countWaiting(waiting, undefined, write.head, {
          runId,
          principal,
          bytes: () => JSON.stringify([origin, write.head, write.append]).length,
        });
        this.#own({ runId, principal, ...sent }, write.head);
        return reply;
      }
    }
    // It exists, by a re-send or by a stranger; or a limit stands, which refuses no re-send (C2).
    const existing = await decisions.read(runId, false);
    return createRun(existing.run, input, decisions.env(existing.now, limit)).reply;
  }

  async claimFirst(input: ClaimFirst): Promise<ClaimReply> {
    const { decisions, time, waiting } = this.#parts;
    checkWord("scope", input.scope);
    const limit = await waiting.limitOf(input.principal);
    let leadsTo = limit === undefined ? "" : await this.#leadsTo(input.scope);
    let withEntries = false;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { run, now } =
        leadsTo === ""
          ? { run: undefined, now: time.now() }
          : await decisions.read(leadsTo, withEntries);
      const key = leadsTo === "" ? undefined : keyRecordOf(leadsTo, run);
      const decided = withEntriesIfWanted(() =>
        claimFirst(key, run, input, decisions.env(now, limit)),
      );
      if (decided === undefined) {
        withEntries = true;
        continue;
      }
      if (decided.write === undefined) return decided.reply;
      if (decided.write.origin !== undefined) {
        const standing = await this.#createKeyed(input.scope, run, decided);
        if (standing === undefined) return decided.reply;
        leadsTo = standing;
      } else {
        if (run !== undefined && (await this.write(run, decided, true))) return decided.reply;
        leadsTo = await this.#leadsTo(input.scope);
      }
    }
    throw overload(leadsTo);
  }

  /** A claim of a run that is known by its id. @param withEntries whether it is likely to want the journal */
  claim<Reply extends { readonly tag: string }>(
    runId: string,
    withEntries: boolean,
    decide: (run: ReadRun | undefined, env: TransitionEnv) => Transition<Reply>,
  ): Promise<Reply> {
    return this.#parts.decisions.decide(runId, withEntries, decide, (run, decided) =>
      this.write(run, decided, false),
    );
  }

  /** An operator's retry. Where the run's key leads is read first, and checked again by the script. */
  async retry(input: RetryRun): Promise<OperateReply> {
    const { decisions, writer, waiting, watches } = this.#parts;
    const { runId } = input;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { run, now } = await decisions.read(runId, true);
      const scope = run?.origin.key?.scope;
      const leadsTo = scope === undefined ? "" : await this.#leadsTo(scope);
      const key =
        leadsTo === "" ? undefined : keyRecordOf(leadsTo, leadsTo === runId ? run : undefined);
      const { reply, write } = retry(run, key, input, decisions.env(now));
      if (write === undefined || run === undefined) return reply;
      const guard = scope === undefined ? "none" : "leads";
      if ((await writer.settle(run, write, guard).reply).tag !== "OK") continue;
      const { principal } = run.origin.caller;
      countWaiting(waiting, run.head, write.head, { runId, principal, bytes: () => 0 });
      watches.ended(runId, run.head.epoch);
      return reply;
    }
    throw overload(runId);
  }

  /** Writes what a claim of an existing run decided; false when it no longer held. @param byKey whether a key led to the run */
  async write(
    run: ReadRun,
    { reply, write }: Transition<{ readonly tag: string }>,
    byKey: boolean,
  ): Promise<boolean> {
    const { writer, waiting, watches } = this.#parts;
    if (write === undefined) return true;
    const { head } = write;
    if (reply.tag === "RUNNING") {
      const waiter = head.waiters.at(-1);
      return waiter !== undefined && (await writer.join(run, waiter.id).reply).tag === "OK";
    }
    const { runId } = run;
    const { principal } = run.origin.caller;
    const gives = reply.tag === "CLAIMED" || reply.tag === "QUEUED";
    const guard = run.head.status === "running" ? "dead" : "none";
    const sent = gives ? writer.give(run, write, byKey) : writer.settle(run, write, guard);
    if ((await sent.reply).tag !== "OK") return false;
    countWaiting(waiting, run.head, head, {
      runId,
      principal,
      bytes: () => run.originBytes + run.notes.entryBytes + JSON.stringify(head).length,
    });
    if (!gives || head.epoch !== run.head.epoch) watches.ended(runId, run.head.epoch);
    const { originBytes, revision } = run;
    this.#own({ runId, principal, originBytes, revision: revision + 1, notes: sent.notes }, head);
    return true;
  }

  /** Undefined once the run is made; else where the key leads. */
  async #createKeyed(
    scope: string,
    previous: ReadRun | undefined,
    { write, displaced }: Transition<ClaimReply>,
  ): Promise<string | undefined> {
    const { capacity, waiting, watches, writer } = this.#parts;
    if (write?.origin === undefined) return undefined;
    const { origin, head } = write;
    const { runId } = origin;
    const { principal } = origin.caller;
    await capacity.check();
    const given = previous && { run: previous, head: displaced?.head };
    const sent = writer.createKeyed(origin, head, scope, given);
    const written = await sent.reply;
    if (written.tag !== "OK") return written.leadsTo;
    if (displaced !== undefined && previous !== undefined) {
      void waiting.ends(previous.origin.caller.principal, displaced.runId);
      watches.ended(displaced.runId, previous.head.epoch);
    }
    this.#own({ runId, principal, ...sent }, head);
    return undefined;
  }

  async #leadsTo(scope: string): Promise<string> {
    const { client, keys } = this.#parts;
    return (await client.get(keys.idempotency(scope))) ?? "";
  }

  /** Remembers what was written of an attempt that this process owns. */
  #own(run: Omit<OwnedRun, "head">, head: ReadRun["head"]): void {
    if (head.lease === undefined) return;
    const { runId, principal, originBytes, revision, notes } = run;
    this.#parts.attempts.keep({ runId, principal, originBytes, head, revision, notes });
  }
}

function checkWord(name: string, id: string): void {
  if (isWord(id)) return;
  throw new RangeError(`${name} must be a word of A-Z a-z 0-9 _ -, got ${JSON.stringify(id)}`);
}
