/**
 * Goes on with runs whose attempt died when nobody comes again: at start and once a lease time (docs/design.md 4.2).
 *
 * Where workers execute, it only queues them again. A sweep's attempts have no waiter, so no disconnect stops them. What expired is deleted on the
 * same beat, and history is gone through for questions whose time is over.
 */
import { isRepriseError } from "@reprise/errors";
import type { RunnableHandler } from "./compile.ts";
import { type EngineDeps, stateExpiry } from "./engineDeps.ts";
import type { HistoryTidy } from "./historyTidy.ts";
import { startOnce } from "./onceAttempt.ts";
import { OnceSink } from "./onceSink.ts";
import { sweptJobOf } from "./pooled.ts";
import { argsOf, handlerNamed } from "./recordedHandler.ts";
import type { RunRecord } from "./runRecord.ts";
import type { ClaimReply, RunStore } from "./storePort.ts";

const BATCH = 32;
/** Leases after which a process that executes by itself takes a run that waits for a worker. */
const QUEUE_PATIENCE_LEASES = 30;

/** One process's sweep. */
export class Sweeper {
  readonly #deps: EngineDeps;
  readonly #store: RunStore;
  readonly #tidy: HistoryTidy | undefined;
  #cancel: (() => void) | undefined;
  #closed = false;
  /** Attempts of this sweep that have not ended. */
  #running = 0;
  /** Runs that could not be gone on with: passed over until nothing else is left, so that they keep no other waiting. */
  readonly #passedOver = new Set<string>();

  /** @param tidy of the history, where there is one */
  constructor(deps: EngineDeps, store: RunStore, tidy: HistoryTidy | undefined) {
    this.#deps = deps;
    this.#store = store;
    this.#tidy = tidy;
  }

  /** Sweeps now, and then once every lease time. */
  start(): void {
    void this.#beat();
  }

  /** No further sweeps; attempts that it started go on. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async #beat(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      // A store that was closed under the last one fails nobody.
      if (!this.#closed)
        this.#deps.log.warn({ err: error }, "a sweep failed; the next one tries again");
    }
    if (this.#closed) return;
    // Not waited for: a history that hangs must not keep the next sweep from abandoned runs.
    void this.#tidy?.look();
    this.#cancel = this.#deps.clock.after(this.#store.leaseMs, () => {
      void this.#beat();
    });
  }

  /**
   * One sweep. Resolves when every abandoned run that was found is claimed or left alone; attempts go on by themselves, so
   * that one slow handler does not keep the others waiting.
   */
  async sweep(): Promise<void> {
    const room = BATCH - this.#running;
    const found = room > 0 ? await this.#store.findAbandoned(room + this.#passedOver.size) : [];
    const abandoned = found.filter((runId) => !this.#passedOver.has(runId)).slice(0, room);
    if (abandoned.length === 0 && room > 0) this.#passedOver.clear();
    await Promise.all(abandoned.map((runId) => this.look(runId)));
    if (!this.#closed) await this.#store.removeExpired(BATCH * 8);
  }

  /** Goes on with a run if nobody else has it: one that was found, or is known to wait for that. Never rejects. */
  async look(runId: string): Promise<void> {
    try {
      await this.#goOn(runId);
    } catch (error) {
      this.#passedOver.add(runId);
      this.#deps.log.warn({ err: error, run: runId }, "a run could not be swept");
    }
  }

  async #goOn(runId: string): Promise<void> {
    const { clock, random } = this.#deps;
    if (this.#closed) return;
    const known = await this.#store.load(runId);
    if (known === undefined) return;
    const { catalog, dispatcher } = this.#deps;
    const { origin } = known;
    const handler = handlerNamed(catalog, origin.handler, origin.target);
    // Another server's run, or a handler that this release no longer has: an instance that has it goes on.
    if (handler === undefined) {
      this.#passedOver.add(runId);
      return;
    }
    const claim = {
      runId,
      version: handler.version,
      token: random(),
      stateExpiresAt: stateExpiry(this.#deps, handler),
      waiterId: undefined,
    };
    if (dispatcher !== undefined) {
      const queued = await this.#store.claimKnown({ ...claim, queue: true });
      this.#tellFound(known, queued);
      if (queued.tag === "QUEUED") {
        dispatcher.enqueue(sweptJobOf(origin, handler.queue, queued), undefined);
      }
      return;
    }
    // Whoever has a dispatcher queues it again; only where nobody has one any more would it wait for ever.
    const queuedMs = clock.now() - known.head.claimedAt;
    if (known.head.queued === true && queuedMs < QUEUE_PATIENCE_LEASES * this.#store.leaseMs) {
      this.#passedOver.add(runId);
      return;
    }
    // Before the claim: what an author's schema does wrong must not cost the run an attempt.
    const args = await argsOf(catalog, handler, origin.target, origin.params);
    const claimedAt = clock.monotonic();
    const claimed = await this.#store.claimKnown(claim);
    this.#tellFound(known, claimed);
    if (claimed.tag === "CLAIMED") void this.#attempt(handler, args, claimed, claimedAt);
  }

  /** Observers hear of what the sweep's claim made of a run: no process of its own could tell. */
  #tellFound({ origin, head: before }: RunRecord, reply: ClaimReply): void {
    const { reporter } = this.#deps;
    if (reporter === undefined) return;
    if (reply.tag === "PARKED" || reply.tag === "RECORDED") {
      const { status } = reply.head;
      const isNew = status !== before.status;
      if (isNew && (status === "parked" || status === "interrupted")) reporter.acted(reply, status);
    } else if (before.status === "waiting" && (reply.tag === "CLAIMED" || reply.tag === "QUEUED")) {
      reporter.acted({ origin, head: { ...before, status: "running" } }, "expired");
    }
  }

  /** Never rejects: `startOnce` gives every failure as an outcome. */
  async #attempt(
    handler: RunnableHandler,
    args: unknown,
    claimed: Extract<ClaimReply, { tag: "CLAIMED" }>,
    claimedAt: number,
  ): Promise<void> {
    const { clock, log } = this.#deps;
    const { origin, head, entries } = claimed.record;
    const sink = new OnceSink(this.#store, clock, log, claimed.ref, undefined, claimedAt);
    const running = startOnce(this.#deps, sink, {
      handler,
      args,
      target: origin.target,
      origin: () => origin,
      startedAt: origin.startedAt,
      head,
      entries,
      caller: origin.caller,
      client: origin.client,
      notifications: undefined,
      logLevel: undefined,
      begun: () => ({ cause: "sweep" }),
    });
    this.#running += 1;
    const outcome = await running.outcome;
    this.#running -= 1;
    const { runId } = origin;
    // Nobody waits who would go on with it.
    if (outcome.kind === "undoing") void this.look(runId);
    const about = { run: runId, round: head.round, handler: handler.name };
    log.info(
      { ...about, outcome: outcome.kind },
      "a sweep went on with a run whose attempt had died",
    );
    if (outcome.kind === "failed" && isRepriseError(outcome.error, "INTERNAL"))
      log.error({ ...about, err: outcome.error }, "a swept run failed");
  }
}
