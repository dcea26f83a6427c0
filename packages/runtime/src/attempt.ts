/**
 * One attempt: the handler's function, executed once from its first line, and how that ends.
 *
 * Made by the engine for a claimed round (or a run that has no record yet); drives the replay cursor and the recorder; gives
 * one outcome. It never claims, never seals, and writes to the store only through its fact sink.
 *
 * A1 The outcome is decided once. Afterwards every ctx call rejects with the suspension signal and no step starts.
 * A2 A suspension is decided only when the handler has not settled, an ask is open, no ctx operation is in progress and
 *    every entry is delivered (docs/design.md 3.3).
 * A3 A handler's return waits for the steps it has started; what it throws does not undo them.
 * A4 A stop is final: running steps end and are recorded, a returned value counts, anything thrown is interruption, and
 *    so is a handler that came to less than its journal holds. What a read gives afterwards is forgotten. A value that is
 *    returned by a handler which had been given the suspension signal is interruption too: it may have taken the signal
 *    for a failure, and "it failed" would stay recorded for what nobody had tried.
 * A5 A lost lease or a failed write ends the attempt at once, and nothing it does afterwards is recorded.
 * A6 A question that the client can't be asked stops the attempt, and what the handler makes of that does not count.
 * A7 A live step waits for the steps in doubt that the handler has not asked for (N2); a handler that never does is a mismatch.
 * A8 With `rests`, an attempt that would be suspended gives the same outcome and leaves its handler where it is. Until it goes on
 *    under a new claim, nothing of it starts, is asked or is recorded: its run is nobody's, or another's.
 * A9 With `undoes`, the handler is only replayed: nothing of it goes live or is asked, and it ends once every entry is delivered and
 *    every step in doubt was asked for, so that all undo functions are known.
 */
import { RepriseError } from "@reprise/errors";
import type { Entry, Operation, ReplayCursor } from "@reprise/journal";
import type { AskDesk } from "./askDesk.ts";
import { AttemptLimits } from "./attemptLimits.ts";
import {
  type AttemptOutcome,
  execute,
  Fenced,
  type Settled,
  warnOfUnusedValue,
} from "./attemptOutcome.ts";
import { AttemptParts } from "./attemptParts.ts";
import { AttemptSignals } from "./attemptSignals.ts";
import type { AttemptPorts, AttemptStart } from "./attemptStart.ts";
import { type Misfit, misfitOf, owedMisfit } from "./mismatch.ts";
import { AskOperation, type OperationHost, type Pending } from "./operations.ts";
import type { Recorder } from "./recorder.ts";
import type { PendingAsk } from "./runRecord.ts";
import { settledWithin } from "./settling.ts";
import type { StateValues } from "./stateValues.ts";
import { Suspension } from "./suspension.ts";
import type { UndoFunctions } from "./undoFunctions.ts";

/** One attempt. */
export class Attempt implements OperationHost {
  readonly #parts: AttemptParts;
  readonly #limits: AttemptLimits;
  readonly #signals = new AttemptSignals();
  #outcome: AttemptOutcome | undefined;
  #decide: (outcome: AttemptOutcome) => void = () => undefined;
  #settled: Settled | undefined;
  #onSettled: () => void = () => undefined;
  #stopped: RepriseError | "gone" | undefined;
  #isRefused = false;
  /** The handler was given the suspension signal before it settled. */
  #isSignalled = false;
  /** Set while the handler rests. */
  #stateAtRest: Readonly<Record<string, string>> | undefined;
  #lastEntryAt: number;
  /** `ctx.nothingDone` was called. */
  saidNothingDone = false;

  constructor(start: AttemptStart, ports: AttemptPorts) {
    this.#parts = new AttemptParts(start, ports, {
      lacks: (error) => {
        this.#isRefused = true;
        this.stop(error);
      },
      delivered: (entry) => {
        this.#lastEntryAt = Math.max(this.#lastEntryAt, entry.at);
      },
      idle: (waiting) => this.#idle(waiting),
      mismatch: (found) => this.#mismatched(misfitOf(found)),
      writeFailed: (error) => this.#writeFailed(error),
    });
    this.#limits = new AttemptLimits(ports.clock);
    this.#lastEntryAt = start.startedAt;
  }

  get start(): AttemptStart {
    return this.#parts.start;
  }

  get ports(): AttemptPorts {
    return this.#parts.ports;
  }

  get recorder(): Recorder {
    return this.#parts.recorder;
  }

  get desk(): AskDesk {
    return this.#parts.desk;
  }

  get state(): StateValues {
    return this.#parts.state;
  }

  /** How the handler's steps are undone. */
  get undos(): UndoFunctions {
    return this.#parts.undos;
  }

  /** `ctx.state` as the round that has ended leaves it. */
  get stateAtEnd(): Readonly<Record<string, string>> {
    return this.#stateAtRest ?? this.state.snapshot();
  }

  /** Whether the handler waits in the middle, to be gone on with or abandoned. */
  get isResting(): boolean {
    return this.#stateAtRest !== undefined;
  }

  /** Whether the handler has asked nothing of ctx that is recorded, and nothing is to be delivered. */
  get isUntouched(): boolean {
    return this.#cursor === undefined && this.#parts.areUnused && !this.saidNothingDone;
  }

  /** With a journal to be delivered there is one from the start: a handler that asks for nothing of it does not fit it. */
  get #cursor(): ReplayCursor | undefined {
    return this.start.entries.length > 0 ? this.#parts.cursor : this.#parts.madeCursor;
  }

  /** Time of the newest entry that the handler received. */
  get deliveredAt(): number {
    return this.#lastEntryAt;
  }

  /** All entries of the run so far, those of earlier attempts first. */
  get entries(): readonly Entry[] {
    return this.#cursor?.entries ?? this.start.entries;
  }

  /** Abort when the attempt is stopped. */
  get signals(): Pick<AttemptSignals, "handler" | "tries" | "running"> {
    return this.#signals;
  }

  /** Executes the handler. Called once; never rejects. */
  run(handler: () => unknown): Promise<AttemptOutcome> {
    return new Promise((resolve) => {
      this.#decide = resolve;
      this.#limitWhole();
      this.#limitSilence();
      execute(handler, (settled) => this.#handlerSettled(settled));
    });
  }

  /**
   * Goes on where the handler rests, as the attempt of a new claim (A8). Never rejects.
   * @param start what is recorded now, and what the request brought
   */
  resume(start: AttemptStart, ports: AttemptPorts): Promise<AttemptOutcome> {
    this.#stateAtRest = undefined;
    this.#parts.goOn(start, ports);
    return new Promise((resolve) => {
      this.#decide = resolve;
      this.#limitWhole();
      for (const operation of this.#cursor?.waiting ?? []) {
        if (operation instanceof AskOperation) operation.askAnew();
      }
      this.wake();
    });
  }

  /** Gives a resting handler up. */
  abandon(): void {
    this.#end({ kind: "interrupted", error: undefined });
  }

  #limitWhole(): void {
    const { timeoutMs } = this.ports;
    const message = `the handler ran longer than ${timeoutMs} ms`;
    this.#limits.whole(timeoutMs, () => this.stop(new RepriseError("RUN_TIMEOUT", message)));
  }

  /** Resolves when the handler has settled, or after the grace; undefined when it has. Called after the outcome. */
  cleanedUp(): Promise<void> | undefined {
    if (this.#settled !== undefined || this.isResting) return undefined;
    const { settleGraceMs, clock } = this.ports;
    const hasSettled = (): boolean => this.#settled !== undefined;
    return settledWithin(settleGraceMs, clock, hasSettled, (told) => {
      this.#onSettled = told;
    });
  }

  /**
   * Stops the attempt for good (A4).
   * @param reason undefined: the last request that waited is gone
   * @param cut also abort running steps, of an attempt that was stopped before as well
   */
  stop(reason?: RepriseError, cut = false): void {
    if (this.#outcome !== undefined) return;
    if (cut) this.#signals.cutRunning();
    if (this.#stopped !== undefined) return;
    this.#stopped = reason ?? "gone";
    this.#signals.stopHandler();
    this.#signals.forbidTries();
    for (const operation of this.#cursor?.waiting ?? []) {
      const pending = operation as Pending;
      if (pending.isRunning) continue;
      this.#cursor?.withdraw(pending);
      pending.reject(this.suspension());
    }
    this.#cursor?.wake();
    this.#watchStopped();
  }

  /** Ends the attempt because another has the run. */
  fence(): void {
    this.#end({ kind: "fenced" });
  }

  /** Whether the attempt has ended or was stopped. */
  get isOver(): boolean {
    return this.#outcome !== undefined || this.#stopped !== undefined;
  }

  /** Throws the suspension signal once the attempt has ended or was stopped. */
  check(): void {
    if (this.isOver) throw this.suspension();
  }

  /** Claims a name for its one use in the run. */
  claimName(kind: "step" | "read" | "ask", name: string, hint: string): void {
    this.#parts.names.claim(kind, name, hint);
  }

  /** Registers an operation; its promise never causes an unhandled rejection. */
  request(
    make: (settle: {
      resolve: (value: unknown) => void;
      reject: (reason: unknown) => void;
    }) => Pending,
  ): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      this.#parts.cursor.request(make({ resolve, reject }));
    });
    promise.catch(() => undefined);
    this.#limitSilence();
    return promise;
  }

  stepFailed(step: string, outcome: string, cause: unknown): void {
    this.ports.log.warn({ err: cause, step, outcome }, "a step failed");
  }

  now(): number {
    return this.ports.clock.now();
  }

  wake(): void {
    this.#cursor?.wake();
  }

  mayStart(): boolean {
    if (this.isResting || this.start.undoes === true) return false;
    return this.#stopped === undefined && (this.#settled === undefined || "value" in this.#settled);
  }

  isHeld(): boolean {
    const isHeld = this.#parts.owed !== undefined;
    // A handler that has ended asks for nothing more.
    if (isHeld && this.#settled !== undefined) this.#owes("settled");
    else if (isHeld && !this.#limits.isSilenceLimited) this.#limitSilence();
    return isHeld;
  }

  mayAsk(): boolean {
    if (this.isResting || this.start.undoes === true) return false;
    return this.#stopped === undefined && this.#settled === undefined;
  }

  #idle(waiting: readonly Operation[]): void {
    if (this.isResting) return;
    if (this.#isRefused) return this.#endStopped();
    if (this.start.undoes === true && this.#stopped === undefined) return this.#replayed();
    if (this.#settled !== undefined) return this.#endSettled(this.#settled);
    if (this.#stopped !== undefined) return;
    const pending = waiting.flatMap((operation) =>
      operation instanceof AskOperation && operation.isOpen
        ? [this.desk.pendingAsk(operation.ask)]
        : [],
    );
    if (pending.length === 0) return;
    if (this.ports.rests) this.#rest(pending);
    else this.#end({ kind: "suspended", pending });
  }

  /** A9. */
  #replayed(): void {
    if (this.#parts.names.owed === undefined) this.#end({ kind: "replayed" });
    else if (this.#settled !== undefined) this.#owes("settled");
  }

  #rest(pending: readonly PendingAsk[]): void {
    this.#stateAtRest = this.state.snapshot();
    this.state.endRound();
    this.#limits.end();
    this.#decide({ kind: "suspended", pending });
  }

  /** A handler that ignores its signal has the grace after its last running step; what it does then is not part of the run. */
  #watchStopped(): void {
    this.#limits.cleanUp(this.ports.settleGraceMs, () => {
      const waiting = this.#cursor?.waiting ?? [];
      const isRunning = waiting.some((operation) => (operation as Pending).isRunning);
      if (isRunning) this.#watchStopped();
      else this.#endStopped();
    });
  }

  #mismatched(misfit: Misfit): void {
    if (this.#stopped !== undefined) this.#endStopped();
    else this.#end({ kind: "mismatched", misfit });
  }

  #owes(reason: "settled" | "stalled"): void {
    const owed = this.#parts.owed;
    if (owed === undefined) return;
    const waiting = this.#cursor?.waiting ?? [];
    this.#mismatched(owedMisfit(owed, this.entries.length, waiting, reason));
  }

  #handlerSettled(settled: Settled): void {
    this.#settled = settled;
    this.#onSettled();
    if (this.#outcome !== undefined) {
      if ("value" in settled) warnOfUnusedValue(this.ports.log, this.#outcome.kind);
      return;
    }
    // Nothing was ever asked of ctx: there is nothing to wait for.
    const cursor = this.#cursor;
    const isIdle = cursor === undefined || (cursor.length === 0 && cursor.waiting.length === 0);
    if (isIdle) this.#endSettled(settled);
    else cursor.settle();
  }

  #endSettled(settled: Settled): void {
    if (this.start.undoes === true && this.#stopped === undefined) return this.#replayed();
    const counts =
      this.#stopped === undefined || ("value" in settled && !this.#isRefused && !this.#isSignalled);
    if (!counts && "value" in settled) warnOfUnusedValue(this.ports.log, undefined);
    if (!counts) this.#endStopped();
    else if ("value" in settled) this.#end({ kind: "returned", value: settled.value });
    else this.#end({ kind: "threw", error: settled.error });
  }

  suspension(): Suspension {
    // What a handler leaves behind when it has returned does not speak for it.
    if (this.#settled === undefined) this.#isSignalled = true;
    return new Suspension();
  }

  #endStopped(): void {
    const error = this.#stopped instanceof RepriseError ? this.#stopped : undefined;
    this.#end({ kind: "interrupted", error });
  }

  #writeFailed(error: unknown): void {
    if (error instanceof Fenced) return this.#end({ kind: "fenced" });
    const coded =
      error instanceof RepriseError
        ? error
        : new RepriseError("STORE_UNAVAILABLE", "the store refused a write", { cause: error });
    this.#end({ kind: "unrecorded", error: coded });
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#stateAtRest = undefined;
    this.#limits.end();
    const left = (this.#cursor?.waiting ?? []) as readonly Pending[];
    this.#cursor?.end();
    this.#signals.forbidTries();
    if (outcome.kind === "returned" || outcome.kind === "threw") this.#signals.endHandler();
    else this.#signals.stopHandler();
    for (const operation of left) operation.reject(new Suspension());
    this.#decide(outcome);
  }

  #limitSilence(): void {
    this.#limits.liftSilence();
    const cursor = this.#cursor;
    if (cursor === undefined || this.#outcome !== undefined) return;
    if (!cursor.isReplaying && this.#parts.owed === undefined) return;
    this.#limits.silence(this.ports.replayStallMs, () => {
      if (cursor.isReplaying) cursor.stall();
      else if (this.start.undoes === true || cursor.waiting.some(({ kind }) => kind === "step"))
        this.#owes("stalled");
      this.#limitSilence();
    });
  }
}
