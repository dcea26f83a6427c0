/**
 * A logger that keeps what it is given: as pino would be called, without its output.
 */
import type { ServeOptions } from "reprise";

/** One log line. */
interface LogEntry {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger and what was logged with it. */
export interface CapturedLog {
  readonly logger: NonNullable<ServeOptions["logger"]>;
  readonly entries: readonly LogEntry[];
}

/** Makes one. Its children log into it too. */
export function capturedLog(): CapturedLog {
  const entries: LogEntry[] = [];
  const line =
    (level: string) =>
    (...given: readonly unknown[]): void => {
      // pino's two forms: fields and a message, or a message alone.
      const [fields, message = fields] = given;
      const isObject = typeof fields === "object" && fields !== null;
      entries.push({
        level,
        fields: isObject ? { ...fields } : {},
        message: typeof message === "string" ? message : "",
      });
    };
  const logger: NonNullable<ServeOptions["logger"]> = {
    level: "trace",
    fatal: line("fatal"),
    error: line("error"),
    warn: line("warn"),
    info: line("info"),
    debug: line("debug"),
    trace: line("trace"),
    silent: () => undefined,
    child: () => logger,
  };
  return { logger, entries };
}
