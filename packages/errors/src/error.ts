/**
 * The one base class of all errors that Reprise raises on purpose.
 *
 * Who catches decides by `code`, never by message or class identity: two copies of this package in one
 * process (a bundled tool beside the server) must still recognise each other's errors, so the guard tests a
 * registered symbol and not `instanceof`.
 */
import { type ErrorCode, type ErrorSpec, errorSpecs } from "./codes.ts";

const brand = Symbol.for("reprise.error");

/** What an error carries besides code and message. */
export interface RepriseErrorOptions {
  /** JSON members for the one who receives the error; goes on the wire as `error.data`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** What led to it; stays in this process (log), never goes on the wire. */
  readonly cause?: unknown;
}

/** An error with a stable code. Its message is meant for the one who receives it. */
export class RepriseError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: RepriseErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
    Object.defineProperty(this, brand, { value: true });
  }

  override get name(): string {
    return "RepriseError";
  }

  /** The registry's row of this error's code. */
  get spec(): ErrorSpec {
    return errorSpecs[this.code];
  }
}

/**
 * Whether `value` is a RepriseError, of whichever copy of this package; with `code`, of that code.
 */
export function isRepriseError(value: unknown, code?: ErrorCode): value is RepriseError {
  return (
    typeof value === "object" &&
    value !== null &&
    brand in value &&
    (code === undefined || ("code" in value && value.code === code))
  );
}
