/**
 * The facts of a run, in the order in which the handler received them.
 *
 * An entry is written once and never changed. Replay delivers entries in this order (`replay.ts`); nothing here
 * knows of stores. Values are journal text (`codec.ts`), not live values: what a handler receives is decoded from
 * that text on the first attempt too, so an attempt can't see more than a later one will.
 *
 * Format 1. A member may be added if older releases can ignore it; any other change takes a new format number.
 */
import type { JsonValue } from "./json.ts";

/** Number of the entry format that this release writes. */
export const ENTRY_FORMAT: number = 1;

/** A failure as it is recorded: enough to throw it again, nothing internal. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  /** Of errors that Reprise raised. */
  readonly code?: string;
}

/** A step ended and its result is known. */
export interface StepCompleted {
  readonly kind: "step_completed";
  readonly name: string;
  /** Journal text of the result. */
  readonly value: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A step failed for good. */
export interface StepFailed {
  readonly kind: "step_failed";
  readonly name: string;
  readonly error: RecordedError;
  /** `not_done`: nothing happened. `uncertain`: it may have happened. */
  readonly outcome: "not_done" | "uncertain";
  readonly at: number;
}

/** A read gave a value. */
export interface ReadCompleted {
  readonly kind: "read_completed";
  readonly name: string;
  readonly value: string;
  readonly at: number;
}

/** A read threw. Recorded because the handler may have acted on it. */
export interface ReadFailed {
  readonly kind: "read_failed";
  readonly name: string;
  readonly error: RecordedError;
  readonly at: number;
}

/** An error that a client answered a question with. */
export interface ClientError {
  /** JSON-RPC error code. */
  readonly code: number;
  readonly message: string;
}

/** An ask took its answer. */
export interface AnswerTaken {
  readonly kind: "answer_taken";
  /** The ask's key. */
  readonly key: string;
  /** Digest of the exact question: kind, message, schema, URL. */
  readonly question: string;
  /** The client's result, as it came; null with `error`. */
  readonly answer: JsonValue;
  /** The client answered with an error. A release that does not know it finds the null unusable and goes no further. */
  readonly error?: ClientError;
  /** Of a URL ask that the person accepted: whether its page was completed, and with what. */
  readonly page?: { readonly completed: boolean; readonly data?: JsonValue };
  readonly at: number;
}

/**
 * What a step did, or may have done, was undone. Such entries stand behind all others: once one is there, the handler goes on
 * no more, and no cursor delivers them.
 */
export interface StepUndone {
  readonly kind: "step_undone";
  /** The step. */
  readonly name: string;
  readonly at: number;
}

/** One fact of a run. */
export type Entry =
  | StepCompleted
  | StepFailed
  | ReadCompleted
  | ReadFailed
  | AnswerTaken
  | StepUndone;

/** What an entry belongs to: matching goes by this and never by position alone. */
export type OperationKind = "step" | "read" | "ask" | "undo";

/** The kind of operation that an entry answers. */
export function operationOf(entry: Entry): OperationKind {
  switch (entry.kind) {
    case "step_completed":
    case "step_failed":
      return "step";
    case "read_completed":
    case "read_failed":
      return "read";
    case "answer_taken":
      return "ask";
    case "step_undone":
      return "undo";
  }
}

/** The name that an entry is matched by: step or read name, or ask key. */
export function nameOf(entry: Entry): string {
  return entry.kind === "answer_taken" ? entry.key : entry.name;
}

/** Whether the entry is a failure, which a later attempt may try again once the run has ended with it. */
export function isFailure(entry: Entry): boolean {
  return entry.kind === "step_failed" || entry.kind === "read_failed";
}

/** The steps of a run that are undone. */
export function undoneSteps(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => (entry.kind === "step_undone" ? [entry.name] : [])));
}

/** The entries that a handler is replayed over. */
export function withoutUndone(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) => entry.kind !== "step_undone");
}

/**
 * Where an ended run goes on from: the entries before its first failure that no completed step follows.
 *
 * The journal is cut there, not thinned: an answer left behind a removed failure could never be delivered, because
 * the handler asks for it only after the step that now runs again. The answers of the rest are returned apart; they
 * stay settled and are taken again where the same question comes.
 */
export function cutAtFailure(entries: readonly Entry[]): {
  readonly kept: readonly Entry[];
  readonly standing: readonly AnswerTaken[];
} {
  const lastCompleted = entries.findLastIndex((entry) => entry.kind === "step_completed");
  const cut = entries.findIndex((entry, index) => index > lastCompleted && isFailure(entry));
  if (cut === -1) return { kept: entries, standing: [] };
  return {
    kept: entries.slice(0, cut),
    standing: entries.slice(cut).filter((entry) => entry.kind === "answer_taken"),
  };
}
