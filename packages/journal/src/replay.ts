/**
 * The replay cursor: one sequence of entries, delivered in order to the operations that a handler asks for.
 *
 * The runtime's attempt calls `request` for every ctx operation, `publish` for every new entry, and is called back
 * when an operation may go live, when nothing is left to do, and on a mismatch. The cursor never runs author code,
 * never touches a store and never reads a clock.
 *
 * J1 Entries are delivered in their order, each to the operation of its kind and name, each once.
 * J2 Between two deliveries lies one turn, in which every continuation that needs no I/O has run. So combinators over
 *    ctx calls settle in the order in which they settled first (docs/design.md 3.2).
 * J3 An operation goes live only at a turn that finds every entry delivered.
 * J4 The end of the attempt is decided only at such a turn as well.
 * J5 An entry that nobody asks for is never passed over, except a read, and not that while a step in doubt may have been
 *    started with its value; it is kept and given to a later request of its name, as soon as the entry at the cursor
 *    can't be delivered.
 * J6 After `end` or a mismatch, nothing is delivered or started.
 */
import { type Entry, nameOf, type OperationKind, operationOf } from "./entry.ts";

/** One ctx operation that waits for its entry. */
export interface Operation {
  readonly kind: OperationKind;
  /** Step or read name, or ask key. */
  readonly name: string;
  /** Why the entry can't be this operation's, though kind and name fit; undefined if it can. */
  misfit(entry: Entry): string | undefined;
  /** Hands the entry to the handler. Must not throw. */
  deliver(entry: Entry): void;
  /**
   * Every entry is delivered: do what there is to do. Called at every such turn until the operation's entry is
   * delivered, so it must remember what it has begun. Returns whether something of it is in progress.
   */
  goLive(): boolean;
}

/** What the cursor tells the attempt. */
export interface CursorEvents {
  /** An entry was handed to the handler. */
  delivered(entry: Entry): void;
  /**
   * A turn with every entry delivered and nothing in progress: the attempt can't move by itself.
   * `waiting` are the operations without an entry, in the order of their requests.
   */
  idle(waiting: readonly Operation[]): void;
  /** Whether a read that nobody asks for may be passed over now (J5). Default: yes. */
  mayPassOver?(): boolean;
  /** The handler does not fit the journal. */
  mismatch(found: Mismatch): void;
}

/** An entry that the handler can't be reconciled with. */
export interface Mismatch {
  readonly entry: Entry;
  readonly index: number;
  /** What the handler asked for instead. */
  readonly asked: readonly { readonly kind: OperationKind; readonly name: string }[];
  /** `settled`: the handler ended; `stalled`: it asked for nothing that fits; else what differs. */
  readonly reason: string;
}

/** Runs `work` one turn later: after all continuations that need no I/O. Returns how to call it off. */
export type ScheduleTurn = (work: () => void) => () => void;

/** `setImmediate` as turns. */
export const immediateTurns: ScheduleTurn = (work) => {
  const handle = setImmediate(work);
  return () => clearImmediate(handle);
};

const keyOf = (kind: OperationKind, name: string): string => `${kind} ${name}`;

/** One attempt's position in its journal. */
export class ReplayCursor {
  readonly #entries: Entry[];
  readonly #events: CursorEvents;
  readonly #schedule: ScheduleTurn;
  readonly #waiting = new Map<string, Operation>();
  /** Made for the first: few runs have one. */
  #passedOver: Map<string, Entry> | undefined;
  #position = 0;
  #settled = false;
  #ended = false;
  #cancelTurn: (() => void) | undefined;

  constructor(
    entries: readonly Entry[],
    events: CursorEvents,
    schedule: ScheduleTurn = immediateTurns,
  ) {
    this.#entries = [...entries];
    this.#events = events;
    this.#schedule = schedule;
  }

  /** Whether entries are left that the handler has not received. */
  get isReplaying(): boolean {
    return this.#position < this.#entries.length;
  }

  /** All entries, delivered or not. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** How many entries there are, delivered or not. */
  get length(): number {
    return this.#entries.length;
  }

  /** Registers an operation. It is answered at a later turn, never at once. */
  request(operation: Operation): void {
    this.#waiting.set(keyOf(operation.kind, operation.name), operation);
    this.wake();
  }

  /** Takes an operation back: its promise was rejected. */
  withdraw(operation: Operation): void {
    this.#waiting.delete(keyOf(operation.kind, operation.name));
  }

  /** The operations that have no entry yet, in the order of their requests. */
  get waiting(): readonly Operation[] {
    return [...this.#waiting.values()];
  }

  /** Adds a new entry; it is delivered when its turn comes. */
  publish(entry: Entry): void {
    this.#entries.push(entry);
    this.wake();
  }

  /** The handler has returned or thrown: what it has asked for is still delivered, the rest can't be any more. */
  settle(): void {
    this.#settled = true;
    this.wake();
  }

  /** Looks again at the next turn: something that `goLive` or `idle` depends on has changed. */
  wake(): void {
    if (this.#ended || this.#cancelTurn !== undefined) return;
    this.#cancelTurn = this.#schedule(() => {
      this.#cancelTurn = undefined;
      this.#turn();
    });
  }

  /** The handler has been silent for long: passes over reads, or reports the mismatch. */
  stall(): void {
    const entry = this.#entries[this.#position];
    if (this.#ended || entry === undefined) return;
    // What is asked for is delivered at the next turn: the process was busy or paused, the handler is not silent.
    if (!this.#waiting.has(keyOf(operationOf(entry), nameOf(entry)))) this.#unasked("stalled");
  }

  /** Nothing is delivered or started afterwards. */
  end(): void {
    this.#halt();
    this.#waiting.clear();
  }

  #halt(): void {
    this.#ended = true;
    this.#cancelTurn?.();
    this.#cancelTurn = undefined;
  }

  #turn(): void {
    if (this.#ended) return;
    const entry = this.#entries[this.#position];
    const operation = entry && this.#waiting.get(keyOf(operationOf(entry), nameOf(entry)));
    if (entry !== undefined && operation !== undefined) {
      this.#deliver(operation, entry, true);
      return;
    }
    // The handler may need such a read before it asks for the entry at the cursor.
    if (this.#deliverPassedOver()) return;
    if (entry === undefined) this.#goLive();
    else if (this.#settled) this.#unasked("settled");
  }

  #deliver(operation: Operation, entry: Entry, advances: boolean): void {
    const reason = operation.misfit(entry);
    if (reason !== undefined) return this.#report(entry, reason);
    if (advances) this.#position += 1;
    this.withdraw(operation);
    this.#events.delivered(entry);
    operation.deliver(entry);
    this.wake();
  }

  #deliverPassedOver(): boolean {
    if (this.#passedOver === undefined) return false;
    for (const [key, entry] of this.#passedOver) {
      const operation = this.#waiting.get(key);
      if (operation === undefined) continue;
      this.#passedOver.delete(key);
      this.#deliver(operation, entry, false);
      return true;
    }
    return false;
  }

  #goLive(): void {
    let busy = false;
    for (const operation of this.waiting) {
      busy = operation.goLive() || busy;
      // Going live may end the attempt, or publish an entry, which forbids to start anything behind it (J3).
      if (this.#ended || this.isReplaying) return;
    }
    if (!busy) this.#events.idle(this.waiting);
  }

  #unasked(reason: "settled" | "stalled"): void {
    const entry = this.#entries[this.#position];
    if (entry === undefined) return;
    const isPassable = operationOf(entry) === "read" && this.#events.mayPassOver?.() !== false;
    if (!isPassable) return this.#report(entry, reason);
    this.#passedOver ??= new Map();
    this.#passedOver.set(keyOf("read", nameOf(entry)), entry);
    this.#position += 1;
    this.wake();
  }

  #report(entry: Entry, reason: string): void {
    const asked = this.waiting.map(({ kind, name }) => ({ kind, name }));
    const index = this.#position;
    // What waits is kept until `end`: the attempt has to reject it.
    this.#halt();
    this.#events.mismatch({ entry, index, asked, reason });
  }
}
