/**
 * A handler over a cursor: promises for operations, what went live and what was delivered, in order.
 *
 * Turns are Node's own unless a test takes them by hand. Nothing here is the runtime: an operation that goes live does
 * nothing until the test completes it.
 */
import {
  type Entry,
  immediateTurns,
  type Mismatch,
  type Operation,
  type OperationKind,
  ReplayCursor,
  type ScheduleTurn,
} from "@reprise/journal";

export const stepEntry = (name: string, value = name): Entry => ({
  kind: "step_completed",
  name,
  value: JSON.stringify(value),
  at: 1,
});
export const readEntry = (name: string, value = name): Entry => ({
  kind: "read_completed",
  name,
  value: JSON.stringify(value),
  at: 1,
});
export const answerEntry = (key: string, question = key): Entry => ({
  kind: "answer_taken",
  key,
  question,
  answer: key,
  at: 1,
});

const entryOf = (kind: OperationKind, name: string): Entry =>
  kind === "step" ? stepEntry(name) : kind === "read" ? readEntry(name) : answerEntry(name);

const entryValue = (entry: Entry): unknown =>
  entry.kind === "answer_taken"
    ? entry.answer
    : "value" in entry
      ? JSON.parse(entry.value)
      : undefined;

export interface CursorRun {
  readonly cursor: ReplayCursor;
  /** What happened to the handler's promises and operations, in order. */
  readonly log: string[];
  readonly mismatches: Mismatch[];
  /** Names of what is live and not completed. */
  readonly live: Set<string>;
  request(kind: OperationKind, name: string, question?: string): Promise<unknown>;
  /** The live operation gets its entry. */
  complete(kind: OperationKind, name: string): void;
}

/** Starts a run over the entries. `isBusy`: whether a live operation counts as something in progress. */
export function cursorRun(
  entries: readonly Entry[],
  schedule: ScheduleTurn = immediateTurns,
  isBusy: (kind: OperationKind) => boolean = (kind) => kind !== "ask",
): CursorRun {
  const log: string[] = [];
  const mismatches: Mismatch[] = [];
  const live = new Set<string>();
  const cursor = new ReplayCursor(
    entries,
    {
      delivered: (entry) => log.push(`entry ${"key" in entry ? entry.key : entry.name}`),
      idle: (waiting) => log.push(`idle [${waiting.map((one) => one.name).join(" ")}]`),
      mismatch: (found) => mismatches.push(found),
    },
    schedule,
  );
  return {
    cursor,
    log,
    mismatches,
    live,
    request: (kind, name, question = name) =>
      new Promise((resolve) => {
        const operation: Operation = {
          kind,
          name,
          misfit: (entry) =>
            entry.kind === "answer_taken" && entry.question !== question ? "question" : undefined,
          deliver: (entry) => resolve(entryValue(entry)),
          goLive: () => {
            if (!live.has(name)) log.push(`live ${name}`);
            live.add(name);
            return isBusy(kind);
          },
        };
        cursor.request(operation);
      }),
    complete: (kind, name) => {
      live.delete(name);
      cursor.publish(entryOf(kind, name));
    },
  };
}

/** Turns that a test takes one by one. */
export function manualTurns(): {
  readonly schedule: ScheduleTurn;
  take(): void;
  readonly pending: () => boolean;
} {
  let work: (() => void) | undefined;
  return {
    schedule: (next) => {
      work = next;
      return () => {
        work = undefined;
      };
    },
    take: () => {
      const next = work;
      work = undefined;
      next?.();
    },
    pending: () => work !== undefined,
  };
}

/** Lets `count` turns of the event loop pass. */
export async function turns(count = 1): Promise<void> {
  for (let taken = 0; taken < count; taken += 1)
    await new Promise((resolve) => setImmediate(resolve));
}
