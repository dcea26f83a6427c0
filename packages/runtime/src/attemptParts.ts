/**
 * What an attempt works with: recorder, questions, state, replay cursor, names.
 *
 * Called by the attempt alone, which is told what happens in them. Each is made when it is first needed: most calls ask nothing
 * of ctx, and making them costs more than such a call.
 */
import type { RepriseError } from "@reprise/errors";
import { type Entry, type Mismatch, type Operation, ReplayCursor } from "@reprise/journal";
import { AskDesk } from "./askDesk.ts";
import { type AttemptPorts, type AttemptStart, owedSteps } from "./attemptStart.ts";
import { OperationNames } from "./operationNames.ts";
import { Recorder } from "./recorder.ts";
import { StateValues } from "./stateValues.ts";
import { UndoFunctions } from "./undoFunctions.ts";

/** What the attempt is told. */
export interface PartEvents {
  /** The client can't be asked this. */
  lacks(error: RepriseError): void;
  /** An entry was handed to the handler. */
  delivered(entry: Entry): void;
  idle(waiting: readonly Operation[]): void;
  mismatch(found: Mismatch): void;
  writeFailed(error: unknown): void;
}

/** The parts of one attempt. */
export class AttemptParts {
  readonly #events: PartEvents;
  #start: AttemptStart;
  #ports: AttemptPorts;
  #recorder: Recorder | undefined;
  #state: StateValues | undefined;
  #desk: AskDesk | undefined;
  #cursor: ReplayCursor | undefined;
  #names: OperationNames | undefined;
  #undos: UndoFunctions | undefined;

  constructor(start: AttemptStart, ports: AttemptPorts, events: PartEvents) {
    this.#start = start;
    this.#ports = ports;
    this.#events = events;
  }

  /** What is recorded now, and what the request brought. */
  get start(): AttemptStart {
    return this.#start;
  }

  get ports(): AttemptPorts {
    return this.#ports;
  }

  /** Orders what becomes durable and visible. */
  get recorder(): Recorder {
    this.#recorder ??= new Recorder(
      this.#ports.sink,
      this.#start.stepStarted,
      Object.keys(this.#start.marks),
      (entry) => {
        this.#ports.report?.recorded(entry);
        this.cursor.publish(entry);
      },
      (error) => this.#events.writeFailed(error),
      this.#start.stepsMarked,
    );
    return this.#recorder;
  }

  /** The questions. */
  get desk(): AskDesk {
    this.#desk ??= new AskDesk(this.#start, {
      lacks: (error) => this.#events.lacks(error),
      checked: () => this.#ports.asksChecked?.(),
      completed: (id, waitMs, signal) => this.#ports.elicitations.completed(id, waitMs, signal),
      took: (ask, entry, askedAt) => this.#ports.report?.answered(ask.kind, entry, askedAt),
      now: () => this.#ports.clock.now(),
    });
    return this.#desk;
  }

  /** `ctx.state`. */
  get state(): StateValues {
    this.#state ??= new StateValues(this.#start.state, this.#start.drafts, (drafts) =>
      this.recorder.noteDrafts(drafts),
    );
    return this.#state;
  }

  /** The position in the journal. */
  get cursor(): ReplayCursor {
    const events = this.#events;
    this.#cursor ??= new ReplayCursor(
      this.#start.entries,
      {
        delivered: (entry) => events.delivered(entry),
        idle: (waiting) => events.idle(waiting),
        // The next try of a step in doubt must have the inputs that its first one may have had.
        mayPassOver: () =>
          this.#start.openStepSince === undefined && Object.keys(this.#start.marks).length === 0,
        mismatch: (found) => events.mismatch(found),
      },
      this.#ports.turn,
    );
    return this.#cursor;
  }

  /** The cursor, if it was needed. */
  get madeCursor(): ReplayCursor | undefined {
    return this.#cursor;
  }

  /** Names that the handler has used, and steps that it must still ask for. */
  get names(): OperationNames {
    this.#names ??= new OperationNames(owedSteps(this.#start));
    return this.#names;
  }

  /** How the steps that the handler has asked for are undone. */
  get undos(): UndoFunctions {
    this.#undos ??= new UndoFunctions();
    return this.#undos;
  }

  /** A step that may have happened and that the handler has not asked for. */
  get owed(): string | undefined {
    return this.#names?.owed;
  }

  /** Whether nothing was asked of ctx that is recorded. */
  get areUnused(): boolean {
    return this.#cursor === undefined && this.#recorder === undefined;
  }

  /** The next round of a handler that rested: what it wrote to its state meanwhile belongs to it. */
  goOn(start: AttemptStart, ports: AttemptPorts): void {
    this.#start = start;
    this.#ports = ports;
    this.#recorder = undefined;
    this.#desk?.goOn(start);
    const drafts = this.#state?.drafts;
    if (drafts !== undefined) this.recorder.noteDrafts(drafts);
  }
}
