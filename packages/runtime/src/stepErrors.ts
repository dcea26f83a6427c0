/**
 * What a handler catches when a step or an ask does not give a value.
 */
import { type ErrorCode, isRepriseError, RepriseError } from "@reprise/errors";
import type { RecordedError } from "@reprise/journal";

const notDoneBrand = Symbol.for("reprise.notDone");

/** Wraps an error of which a step's function knows that nothing happened: `throw notDone(error)`. */
export function notDone(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = new Error(message, { cause });
  Object.defineProperty(error, notDoneBrand, { value: true });
  return error;
}

/** Whether an error was made by `notDone`. */
export function isNotDone(error: unknown): boolean {
  return typeof error === "object" && error !== null && notDoneBrand in error;
}

/** A step failed for good. Thrown again on every later attempt. */
export class StepError extends RepriseError {
  readonly step: string;
  /** What the step's function threw, as recorded: name and message. */
  readonly recorded: RecordedError;

  constructor(step: string, recorded: RecordedError, code: ErrorCode = "STEP_FAILED") {
    const what = code === "STEP_FAILED" ? "failed" : "may or may not have happened";
    super(code, `step "${step}" ${what}: ${recorded.message}`, { data: { step } });
    this.step = step;
    this.recorded = recorded;
  }

  override get name(): string {
    return "StepError";
  }
}

/** Nobody knows whether the step happened: ask the remote system, or the person. */
export class UncertainStepError extends StepError {
  constructor(step: string, recorded: RecordedError) {
    super(step, recorded, "STEP_UNCERTAIN");
  }

  override get name(): string {
    return "UncertainStepError";
  }
}

/** A read threw, on this attempt or an earlier one. */
export class ReadError extends Error {
  readonly read: string;

  constructor(read: string, recorded: RecordedError) {
    super(recorded.message);
    this.read = read;
  }

  override get name(): string {
    return "ReadError";
  }
}

/** A person cancelled a `confirm` with `onCancel: "throw"`. */
export class AskCancelledError extends Error {
  readonly key: string;

  constructor(key: string) {
    super(`the question "${key}" was cancelled`);
    this.key = key;
  }

  override get name(): string {
    return "AskCancelledError";
  }
}

/** A person refused to let the client's model answer a `sample`. */
export class AskDeclinedError extends Error {
  readonly key: string;

  constructor(key: string) {
    super(`the question "${key}" was declined`);
    this.key = key;
  }

  override get name(): string {
    return "AskDeclinedError";
  }
}

/** What a handler gets for a recorded step failure. */
export function stepFailure(
  step: string,
  recorded: RecordedError,
  outcome: "not_done" | "uncertain",
): Error {
  const unkept = unkeptValue(recorded);
  if (unkept !== undefined) return unkept;
  return outcome === "uncertain"
    ? new UncertainStepError(step, recorded)
    : new StepError(step, recorded);
}

/** What a handler gets for a recorded read failure. */
export function readFailure(read: string, recorded: RecordedError): Error {
  return unkeptValue(recorded) ?? new ReadError(read, recorded);
}

/** It did happen, but what it gave can't be journaled: the author's mistake, under its own code. */
function unkeptValue({ code, message }: RecordedError): RepriseError | undefined {
  return code === "VALUE_UNSUPPORTED" ? new RepriseError(code, message) : undefined;
}

/** What is recorded of an error: name, message and our own code, nothing that could hold a secret by reference. */
export function recordedError(error: unknown): RecordedError {
  if (isRepriseError(error)) return { name: error.name, message: error.message, code: error.code };
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: "Error", message: String(error) };
}
